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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.encryption import open_file
from simonides.backends.embedded.folder import folder_name
from simonides.errors import DamagedError, InputError, NotFoundError, UnavailableError
from simonides.files import disk_errors, make_empty, write_file
from simonides.forking import Origin, refused_after_fork
from simonides.records.hygiene import clean_choice, clean_label
from simonides.records.interval import from_micros
from simonides.surfaces.operations.table import Verb
from simonides.surfaces.serving.grants import EVERY_BANK, Grant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Any, Self

FILE = "tokens.db"
_BUSY_MILLISECONDS = 5_000
_FORM = re.compile(r"smn_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[0-9a-f]{1,16}")
_NO_HASH = bytes(32)
_VERBS = tuple(verb.value for verb in Verb)
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
    """The tokens of one store; a context manager. For one thread at a time.

    Args:
        folder: of the store.

    Raises:
        UnavailableError: the file cannot be opened or made.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._origin = Origin(str(self._path))
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

        Args:
            banks: names of banks, or ``*`` for every bank, at least one.
            now: the clock, microseconds UTC.
            verbs: what it allows.
            principal: who acts with it; ``None`` = the owner.
            expires_at: from when it is worth nothing, microseconds UTC; ``None`` = never.

        Raises:
            InputError: an argument is wrong.
        """
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
        with self._opened() as connection:
            connection.execute(
                "INSERT INTO tokens VALUES (?,?,?,?,?,?,?)",
                (name, _hash(token), principal, json.dumps(names), json.dumps(allowed), now, expires_at),
            )
        return token

    def create_first(self, banks: Iterable[str], now: int, path: Path) -> str | None:
        """Where there is no token yet, make one of the owner's, and write it to a file of mode 0600.

        The file is durable before the token counts: a process that is ended in between leaves no token, and a
        file that the next call replaces. Of many processes that call at once, one makes a token.

        Returns:
            the token; ``None`` where there are tokens already.

        Raises:
            UnavailableError: the file or the tokens cannot be written; no token was made.
        """
        with self._opened() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                token = None
                if not connection.execute("SELECT EXISTS (SELECT 1 FROM tokens)").get:
                    token = self.create(banks=banks, now=now)
                    write_file(path, f"{token}\n")
                connection.execute("COMMIT")
            finally:
                with suppress(apsw.ConnectionClosedError):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        return token

    def find(self, token: str, now: int) -> Grant | None:
        """What a token allows, or ``None`` where it is unknown, revoked or expired."""
        form = _FORM.fullmatch(token)
        row = None if form is None else self._row(form[1])
        kept = _NO_HASH if row is None else bytes(row[1])
        if not hmac.compare_digest(_hash(token), kept) or row is None:
            return None
        record = _record(row)
        return None if record.expires_at is not None and record.expires_at <= now else record.grant

    def list(self) -> tuple[TokenRecord, ...]:
        """All that were made and not revoked, oldest first."""
        with self._opened() as connection:
            rows = connection.execute("SELECT * FROM tokens ORDER BY created_at, name").fetchall()
        return tuple(_record(row) for row in rows)

    def revoke(self, name: str) -> None:
        """End a token; the next request with it is refused.

        Raises:
            NotFoundError: there is none of this name.
        """
        if self._row(name) is None:
            # What is no name may be a token, which goes into no log of a terminal.
            shown = repr(name) if _NAME.fullmatch(name) else "of this name, which is 16 hex digits"
            raise NotFoundError(f"no token {shown}; `simonides token list` shows the names")
        with self._opened() as connection:
            connection.execute("DELETE FROM tokens WHERE name=?", (name,))

    def _row(self, name: str) -> tuple[Any, ...] | None:
        with self._opened() as connection:
            return connection.execute("SELECT * FROM tokens WHERE name=?", (name,)).fetchone()

    def close(self) -> None:
        """May be called again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _record(row: tuple[Any, ...]) -> TokenRecord:
    name, _, principal, banks, verbs, created_at, expires_at = row
    allowed = frozenset(Verb(verb) for verb in json.loads(verbs))
    return TokenRecord(Grant(name, principal, tuple(json.loads(banks)), allowed), created_at, expires_at)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def first_token(folder: Path, bank: str, now: int) -> tuple[str, Path] | None:
    """Where a store has no token yet, one of the owner's for *bank*, also written to a file of mode 0600.

    Of several processes that ask at once, one makes it.

    Returns:
        the token and its file; ``None`` where there are tokens already.

    Raises:
        UnavailableError: it cannot be kept; there is no token then.
    """
    path = folder / "token"
    with TokenStore(folder) as tokens:
        token = tokens.create_first([bank], now, path)
    return None if token is None else (token, path)


def _file(path: Path) -> tuple[int, int] | None:
    """Which file is at *path*; ``None`` = none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
