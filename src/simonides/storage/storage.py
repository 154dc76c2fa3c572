"""The storage of a store: its banks and its tokens. The backend is named here and loaded at first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from simonides.protocols import Analyser
    from simonides.storage.bank import BankStorage

_BACKEND = "simonides.backends.embedded.storage"

TokenRow: TypeAlias = tuple[str, bytes, str | None, str, str, int, int | None]
"""Name, hash, principal, banks and verbs (JSON), created at, expires at; times in microseconds UTC."""


class Storage(Protocol):
    """The banks of one store."""

    @property
    def encrypted(self) -> bool:
        """Whether the banks are encrypted."""

    def open(self, name: str, analyser: Analyser, *, create: bool) -> BankStorage:
        """Open a bank.

        Args:
            analyser: makes terms; a bank whose terms another version made is analysed anew once.
            create: whether a missing bank is made.

        Raises:
            InputError: the name cannot be a bank's.
            UnavailableError: the bank is missing and not to be made, or its folder cannot be used.
            EncryptionError: the key is not this bank's.
        """

    def has(self, name: str) -> bool:
        """Whether there is a bank of this name."""

    def names(self) -> list[str]:
        """Names of the banks there are, sorted."""

    def check_removable(self, name: str) -> None:
        """Raise ``UnavailableError`` where bytes of a bank would stay: under links, or under other names."""

    def delete(self, name: str) -> None:
        """Delete a bank, which this process has closed, with everything in its folder.

        ``UnavailableError``: its folder cannot be taken away, or files of it stay.
        """


class TokenTable(Protocol):
    """The tokens of one store, as rows; for one thread at a time.

    Every method raises ``UnavailableError`` where the rows cannot be read or written.
    """

    def add(self, row: TokenRow) -> None:
        """Store a token."""

    def add_first(self, make: Callable[[], TokenRow]) -> bool:
        """Store what *make* gives, which is asked only where there is no token yet; whether it was.

        Of many processes that call at once, one stores a token.
        """

    def rows(self) -> list[TokenRow]:
        """All tokens, oldest first."""

    def row(self, name: str) -> TokenRow | None:
        """One token by name."""

    def remove(self, name: str) -> None:
        """Delete a token."""

    def close(self) -> None:
        """May be called again."""


def open_storage(folder: Path, *, audit_key: bytes | None, key: Any) -> Storage:
    """The storage of the store in a folder.

    Args:
        audit_key: seals the audit logs of its banks; ``None`` = the key in each bank's folder, if any.
        key: of ``read_key``.
    """
    return import_module(_BACKEND).EmbeddedStorage(folder, audit_key=audit_key, key=key)  # type: ignore[no-any-return]


def open_tokens(folder: Path) -> TokenTable:
    """The tokens of the store in a folder; ``UnavailableError``: the file cannot be opened or made."""
    return import_module(_BACKEND).TokenFile(folder)  # type: ignore[no-any-return]


def read_key(given: object, environ: Mapping[str, str]) -> Any:
    """The key that was handed in, else that of the environment; ``None`` = the store is not encrypted.

    Args:
        given: 32 bytes, the path of a file that holds 64 hexadecimal digits, or ``None``.
        environ: ``SIMONIDES_KEY`` (64 hexadecimal digits) or ``SIMONIDES_KEY_FILE`` (a path).

    Raises:
        InputError: it is no key, or the environment names two.
        UnavailableError: the file cannot be read, or others can read it.
        MissingExtraError: the loaded SQLite cannot encrypt.
    """
    return import_module(_BACKEND).read_key(given, environ)


def check_audit_key(key: bytes) -> None:
    """Refuse a key that seals no audit log; ``InputError``: it is too short."""
    import_module(_BACKEND).Auditor(key)
