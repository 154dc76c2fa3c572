"""The banks and the tokens of one store, each bank in a folder of its own."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.auditing import Auditor
from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.encryption import open_file, read_key
from simonides.backends.embedded.removal import check_removable, remove_bank
from simonides.errors import DamagedError, UnavailableError
from simonides.files import disk_errors, make_empty
from simonides.storage.folder import bank_names, folder_name, sweep_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.backends.embedded.encryption import Key
    from simonides.protocols import Analyser
    from simonides.storage.storage import TokenRow

__all__ = ["Auditor", "EmbeddedStorage", "TokenFile", "read_key"]

TOKENS = "tokens.db"
_BUSY_MILLISECONDS = 5_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tokens(
  name TEXT PRIMARY KEY,
  hash BLOB NOT NULL,
  principal TEXT,
  banks TEXT NOT NULL,
  verbs TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT
"""


class EmbeddedStorage:
    """See ``storage.storage.Storage``."""

    def __init__(self, folder: Path, *, audit_key: bytes | None, key: Key | None) -> None:
        self._folder = folder
        self._audit_key = audit_key
        self._key = key

    @property
    def encrypted(self) -> bool:
        return self._key is not None

    def open(self, name: str, analyser: Analyser, *, create: bool) -> EmbeddedBank:
        return EmbeddedBank(
            self._place(name), analyser, create=create, audit_key=self._audit_key, key=self._key
        )

    def has(self, name: str) -> bool:
        return (self._place(name) / "memory.db").is_file()

    def names(self) -> list[str]:
        return bank_names(self._folder)

    def check_removable(self, name: str) -> None:
        check_removable(self._place(name))

    def delete(self, name: str) -> None:
        sweep_store(self._folder)
        remove_bank(self._place(name), self._key)

    def _place(self, name: str) -> Path:
        return self._folder / folder_name(name)


class TokenFile:
    """See ``storage.storage.TokenTable``; a small file of its own beside the banks."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TOKENS
        self._connection: apsw.Connection | None = None
        # Which file was opened; another in its place is opened anew.
        self._opened_file: tuple[int, int] | None = None
        with self._opened():
            pass

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection]:
        """The connection; after a failure the next use opens the file anew, for it may be mended by then."""
        try:
            with disk_errors(self._path, "used"), translated(self._path):
                if self._connection is None or self._opened_file != _file(self._path):
                    self.close()
                    self._open()
                assert self._connection is not None
                yield self._connection
        except DamagedError as error:
            self.close()
            raise UnavailableError(
                f"{self._path}: is damaged ({error.__cause__}); put a copy of it back, or delete it and make "
                "tokens anew by `simonides token create`"
            ) from error
        except UnavailableError:
            self.close()
            raise

    def _open(self) -> None:
        make_empty(self._path)
        self._opened_file = _file(self._path)
        self._connection = open_file(self._path, None)
        self._connection.set_busy_timeout(_BUSY_MILLISECONDS)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA secure_delete=ON")
        self._connection.execute(_SCHEMA)

    def add(self, row: TokenRow) -> None:
        with self._opened() as connection:
            connection.execute("INSERT INTO tokens VALUES (?,?,?,?,?,?,?)", row)

    def add_first(self, make: Callable[[], TokenRow]) -> bool:
        with self._opened() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                first = not connection.execute("SELECT EXISTS (SELECT 1 FROM tokens)").get
                if first:
                    self.add(make())
                connection.execute("COMMIT")
            finally:
                with suppress(apsw.ConnectionClosedError):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        return first

    def rows(self) -> list[TokenRow]:
        with self._opened() as connection:
            return connection.execute("SELECT * FROM tokens ORDER BY created_at, name").fetchall()  # type: ignore[return-value]

    def row(self, name: str) -> TokenRow | None:
        with self._opened() as connection:
            return connection.execute("SELECT * FROM tokens WHERE name=?", (name,)).fetchone()

    def remove(self, name: str) -> None:
        with self._opened() as connection:
            connection.execute("DELETE FROM tokens WHERE name=?", (name,))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _file(path: Path) -> tuple[int, int] | None:
    """Which file is at *path*; ``None`` = none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
