"""SQLite connections through apsw: one per thread, the same settings everywhere, errors translated."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from typing import TYPE_CHECKING

import apsw

from simonides.errors import (
    DamagedError,
    ForkedError,
    SqliteVersionError,
    StoreError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINIMUM_SQLITE = (3, 51, 3)
"""Older ones can corrupt a WAL file that several connections write (fixed in 3.51.3)."""

_BUSY_MILLISECONDS = 60_000


def check_sqlite_version(version: str) -> None:
    """Refuse a SQLite with the WAL-reset fault.

    Raises:
        SqliteVersionError: *version* is older than ``MINIMUM_SQLITE``.
    """
    if tuple(int(part) for part in version.split(".")[:3]) < MINIMUM_SQLITE:
        wanted = ".".join(map(str, MINIMUM_SQLITE))
        raise SqliteVersionError(
            f"SQLite {version} can corrupt a bank that several connections write; "
            f"{wanted} or newer is needed: pip install --upgrade apsw"
        )


class Connections:
    """Hands each thread its own connection to one database file."""

    def __init__(self, path: Path) -> None:
        check_sqlite_version(apsw.sqlite_lib_version())
        self.path = path
        self.read_only = False
        self._process = os.getpid()
        self._local = threading.local()
        self._all: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def get(self) -> apsw.Connection:
        """This thread's connection, opened at first use.

        Raises:
            ForkedError: called in a child process.
            StoreError: the bank was closed.
        """
        if os.getpid() != self._process:
            raise ForkedError(f"{self.path}: opened before a fork; open the store again in the child process")
        if self._closed:
            raise StoreError(f"{self.path}: the bank is closed; open the store again")
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with translated(self.path):
                connection = self._open()
            self._local.connection = connection
            with self._lock:
                self._all.add(connection)
        return connection

    def _open(self) -> apsw.Connection:
        if not self.read_only:
            try:
                return self._open_writable()
            except (apsw.CantOpenError, apsw.ReadOnlyError):
                wal = self.path.with_name(self.path.name + "-wal")
                if not self.path.is_file() or (wal.is_file() and wal.stat().st_size):
                    raise
                # A folder that cannot be written: no one else writes it either, so read the file as it is.
                self.read_only = True
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"{self.path.absolute().as_uri()}?immutable=1", flags=flags)

    def _open_writable(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        for pragma in ("trusted_schema=OFF", "foreign_keys=ON", "secure_delete=ON", "synchronous=FULL"):
            connection.pragma(*_split(pragma))
        # A look at the file, so that one that cannot be opened or is no database fails here.
        connection.pragma("user_version")
        return connection

    def close(self) -> None:
        """Close every thread's connection; using the bank afterwards is an error."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._closed = True
            for connection in list(self._all):
                with contextlib.suppress(apsw.Error):
                    connection.close()


def _split(pragma: str) -> tuple[str, str]:
    name, _, value = pragma.partition("=")
    return name, value


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into the tree's, each with its remedy."""
    try:
        yield
    except apsw.FullError as error:
        raise UnavailableError(
            f"{path}: the disk is full; nothing was stored, free some space and retry"
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise UnavailableError(
            f"{path}: another process held the bank for more than {_BUSY_MILLISECONDS // 1000} s; retry"
        ) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise UnavailableError(
            f"{path}: cannot be opened or written ({error}); check the folder's permissions"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise DamagedError(
            f"{path}: is damaged or no database ({error}); restore it from a backup"
        ) from error
    except apsw.IOError as error:
        raise UnavailableError(f"{path}: the disk failed ({error}); nothing was stored") from error


@contextlib.contextmanager
def write_transaction(connections: Connections) -> Iterator[apsw.Connection]:
    """All or nothing: BEGIN IMMEDIATE … COMMIT, rolled back on any error (also an interrupt).

    Raises:
        UnavailableError: the bank is read-only, the disk is full, or the lock was not obtained.
    """
    with translated(connections.path):
        connection = connections.get()
        if connections.read_only:
            raise UnavailableError(f"{connections.path}: the folder is read-only; nothing was stored")
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if not connection.get_autocommit():
                connection.execute("ROLLBACK")
            raise
