"""The banks and the tokens of one store, each bank in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.auditing import Auditor
from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.change_log import DELETED
from simonides.backends.embedded.checksums import add_functions
from simonides.backends.embedded.connection import translated, use_wal
from simonides.backends.embedded.encryption import open_file, read_key
from simonides.errors import DamagedError, UnavailableError
from simonides.files import disk_errors, has_other_names, make_empty, remove, sync_folder
from simonides.storage.folder import ASIDE, bank_names, folder_name, sweep_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        use_wal(self._connection)
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


_BUSY_MILLISECONDS = 5_000


def remove_bank(folder: Path, key: Key | None = None) -> None:
    """Delete a bank, which this process has closed, with everything in its folder.

    The folder is renamed, so that nobody opens the bank any more; the database is marked, which a process
    that has it open finds in its next transaction (see ``read_meta``); then the files are removed. A crash
    before the end leaves a renamed folder, which the next sweep removes.

    ``UnavailableError``: the folder cannot be taken away, and the bank is as it was; or it was taken away,
    and files of it stay. The message says which.
    """
    aside = folder.with_name(ASIDE + uuid.uuid4().hex)
    try:
        folder.rename(aside)
    except OSError as error:
        raise UnavailableError(
            f"{folder}: cannot be deleted ({error.strerror}); nothing was changed; check the permissions of "
            f"the folder above, and that no other process has the bank open"
        ) from error
    # A bank that is damaged or on a full disk is deleted all the same; only its open readers learn it later.
    with contextlib.suppress(apsw.Error):
        _mark(aside / "memory.db", key)
    if not remove(aside):
        raise UnavailableError(
            f"{folder}: the bank is deleted, and some of its files stay in {aside}: they cannot be removed "
            "now; check its permissions and the disk. The next opening of the store tries again"
        )
    with disk_errors(folder, "deleted"):
        sync_folder(folder.parent)


def check_removable(folder: Path) -> None:
    """Raise ``UnavailableError`` where bytes of a bank would stay: under symbolic or other hard links."""
    with disk_errors(folder, "deleted"):
        inside = [Path(at, name) for at, folders, files in os.walk(folder) for name in (*folders, *files)]
        for path in (folder, *inside):
            if path.is_symlink():
                raise UnavailableError(
                    f"{path}: is a link to {path.readlink()}, where the bank's bytes would stay; nothing was "
                    "deleted. Put what it leads to in its place, or delete link and target yourself"
                )
            if has_other_names(path):
                raise UnavailableError(
                    f"{path}: has another name elsewhere (a hard link), where its bytes would stay; nothing "
                    f"was deleted. Find it by `find DISK -samefile {path}`, remove it and try again"
                )


def _mark(database: Path, key: Key | None) -> None:
    connection = open_file(database, key)
    try:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        add_functions(connection)
        connection.execute("UPDATE meta SET bank=?", (DELETED,))
    finally:
        connection.close()
