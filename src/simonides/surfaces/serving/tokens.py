"""Tokens of a store, kept as hashes in a small SQLite file of their own.

A token is ``smn_`` + 16 hex digits of its name + ``_`` + 43 characters of 256 random bits. Only SHA-256 of
the whole is kept: with that much chance in it there is nothing to guess, so no slow hash is needed.
Hashes are compared in constant time, and an unknown name costs the same comparison.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError, NotFoundError
from simonides.files import write_file
from simonides.forking import Origin, refused_after_fork
from simonides.records.hygiene import clean_choice, clean_label
from simonides.records.interval import from_micros
from simonides.storage.folder import folder_name
from simonides.storage.storage import TokenRow, open_tokens
from simonides.surfaces.operations.table import Verb
from simonides.surfaces.serving.grants import EVERY_BANK, Grant

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any, Self

FILE = "tokens.db"
_FORM = re.compile(r"smn_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[0-9a-f]{1,16}")
_NO_HASH = bytes(32)
_VERBS = tuple(verb.value for verb in Verb)


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is known of a token; not the token. Times in microseconds UTC."""

    grant: Grant
    created_at: int
    expires_at: int | None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; times in ISO 8601 UTC."""
        created = from_micros(self.created_at)
        expires = None if self.expires_at is None else from_micros(self.expires_at)
        return {
            "name": self.grant.name,
            "principal": self.grant.principal,
            "banks": list(self.grant.banks),
            "verbs": sorted(self.grant.verbs),
            "created_at": created.isoformat() if created else None,
            "expires_at": expires.isoformat() if expires else None,
        }


@refused_after_fork(lambda tokens: tokens._origin, quiet=("close",))  # noqa: SLF001 the decorator is of this class
class TokenStore:
    """The tokens of one store; a context manager. For one thread at a time. May be ``UnavailableError``."""

    def __init__(self, folder: Path) -> None:
        self._origin = Origin(str(folder / FILE))
        self._table = open_tokens(folder)

    def create(
        self,
        *,
        banks: Iterable[str],
        now: int,
        verbs: Iterable[str] = _VERBS,
        principal: str | None = None,
        expires_at: int | None = None,
    ) -> str:
        """Make a token; what is returned is shown nowhere again.

        *banks* are names, or ``*`` for every bank, at least one; *principal* ``None`` = the owner;
        *expires_at* ``None`` = never.
        """
        token, row = _make(banks, now, verbs, principal, expires_at)
        self._table.add(row)
        return token

    def create_first(self, banks: Iterable[str], now: int, path: Path) -> str | None:
        """Where there is no token yet, make one of the owner's, and write it to a file of mode 0600.

        The file is durable before the token counts: a process that is ended in between leaves no token, and a
        file that the next call replaces. Of many processes that call at once, one makes a token. ``None``
        where there are tokens already; ``UnavailableError`` where one cannot be written.
        """
        made = ""

        def make() -> TokenRow:
            nonlocal made
            made, row = _make(banks, now)
            write_file(path, f"{made}\n")
            return row

        return made if self._table.add_first(make) else None

    def find(self, token: str, now: int) -> Grant | None:
        """What a token allows, or ``None`` where it is unknown, revoked or expired."""
        form = _FORM.fullmatch(token)
        row = None if form is None else self._table.row(form[1])
        kept = _NO_HASH if row is None else bytes(row[1])
        if not hmac.compare_digest(_hash(token), kept) or row is None:
            return None
        record = _record(row)
        return None if record.expires_at is not None and record.expires_at <= now else record.grant

    def list(self) -> tuple[TokenRecord, ...]:
        """All that were made and not revoked, oldest first."""
        return tuple(_record(row) for row in self._table.rows())

    def revoke(self, name: str) -> None:
        """End a token: the next request with it is refused.

        ``NotFoundError`` where there is none of this name.
        """
        if self._table.row(name) is None:
            # What is no name may be a token, which goes into no log of a terminal.
            shown = repr(name) if _NAME.fullmatch(name) else "of this name, which is 16 hex digits"
            raise NotFoundError(f"no token {shown}; `simonides token list` shows the names")
        self._table.remove(name)

    def close(self) -> None:
        """May be called again."""
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make(
    banks: Iterable[str],
    now: int,
    verbs: Iterable[str] = _VERBS,
    principal: str | None = None,
    expires_at: int | None = None,
) -> tuple[str, TokenRow]:
    """A new token and its row."""
    names = sorted(dict.fromkeys(banks))
    if not names:
        raise InputError("banks", f"are missing; name at least one, or {EVERY_BANK} for every bank")
    for name in names:
        if name != EVERY_BANK:
            folder_name(name)
    allowed = sorted({clean_choice(verb, "verbs", _VERBS) for verb in verbs})
    if not allowed:
        raise InputError("verbs", f"are missing; name at least one of {', '.join(Verb)}")
    if principal is not None:
        clean_label(principal, "principal")
    if expires_at is not None and expires_at <= now:
        raise InputError("expires_at", "has passed already; give a later time, or none")
    name = secrets.token_hex(8)
    token = f"smn_{name}_{secrets.token_urlsafe(32)}"
    return token, (
        name, _hash(token), principal, json.dumps(names), json.dumps(allowed), now, expires_at,
    )  # fmt: skip


def _record(row: TokenRow) -> TokenRecord:
    name, _, principal, banks, verbs, created_at, expires_at = row
    allowed = frozenset(Verb(verb) for verb in json.loads(verbs))
    return TokenRecord(Grant(name, principal, tuple(json.loads(banks)), allowed), created_at, expires_at)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def first_token(folder: Path, bank: str, now: int) -> tuple[str, Path] | None:
    """The token and its file, as ``TokenStore.create_first`` makes them in *folder*.

    ``None`` where some exist.
    """
    path = folder / "token"
    with TokenStore(folder) as tokens:
        token = tokens.create_first([bank], now, path)
    return None if token is None else (token, path)
