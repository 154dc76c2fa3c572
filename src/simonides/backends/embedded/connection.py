"""SQLite connections through apsw: one per thread, the same settings everywhere, errors translated."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.checksums import add_functions
from simonides.backends.embedded.encryption import explained, open_file
from simonides.backends.embedded.inherited import check_whole
from simonides.errors import (
    DamagedError,
    EncryptionError,
    ForkedError,
    ReplacedError,
    SqliteVersionError,
    StoreError,
    UnavailableError,
)
from simonides.forking import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.backends.embedded.encryption import Key

MINIMUM_SQLITE = (3, 51, 3)
"""Older ones can corrupt a WAL file that several connections write (fixed in 3.51.3)."""

SYNCHRONOUS = "FULL"
"""What is acknowledged survives a loss of power; only tests that are not about durability set it to OFF."""

_PRAGMAS = ("trusted_schema", "OFF"), ("foreign_keys", "ON"), ("secure_delete", "ON")
_BUSY_MILLISECONDS = 60_000
_CLOSING_MILLISECONDS = 500
_WAL_TRIES = 20
_CACHE_BYTES = (8 << 20, 32 << 20)
"""Pages that a connection keeps, at least and at most."""
_CACHED_SHARE = 64

_READ_ONLY = "the folder is read-only; nothing was stored, make it writable and retry"
_CLOSED = "the bank is closed; open the store again"
_DELETED = "the bank was deleted meanwhile; open the store again to make a new one"
_REPLACED = (
    "was moved away or replaced while the bank was open; nothing was read or stored: put the file back, "
    "or get the bank from the store again to use the one that is there"
)
_FULL = "the disk is full; nothing was stored, free some space and retry"


def check_sqlite_version(version: str) -> None:
    """Raise ``SqliteVersionError`` for a SQLite with the WAL-reset fault, older than ``MINIMUM_SQLITE``."""
    if tuple(int(part) for part in version.split(".")[:3]) < MINIMUM_SQLITE:
        wanted = ".".join(map(str, MINIMUM_SQLITE))
        raise SqliteVersionError(
            f"SQLite {version} can corrupt a bank that several connections write; "
            f"{wanted} or newer is needed: pip install --upgrade apsw"
        )


class Connections:
    """One connection per thread to one database file.

    Attributes:
        obstacle: why it could only be read when it was opened, and the remedy; empty when it can be written.
        origin: the process that opened it.
    """

    def __init__(self, path: Path, key: Key | None = None) -> None:
        check_sqlite_version(apsw.sqlite_lib_version())
        check_whole(path)
        _abandon_inherited(path)
        self.path = path
        self.key = key
        self.obstacle = ""
        self._opening = 0
        self._stamp: tuple[int, ...] = ()
        self.origin = Origin(str(path))
        # The file that was opened first, its log, and a handle of its folder, which tells moved from deleted.
        self._file: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        self._folder: int | None = None
        self._close_folder: Callable[[], object] = lambda: None
        self._local = threading.local()
        self._all: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False
        _known.add(self)

    @property
    def read_only(self) -> bool:
        return bool(self.obstacle)

    @property
    def replaced(self) -> bool:
        """Whether the file is no longer the one that was opened."""
        return self._file is not None and self._file != _identity(self.path)

    @property
    def log_in_the_way(self) -> bool:
        """Whether the log of the file that was opened lies beside another that took its place."""
        log = _log_of(self.path)
        mine = self.replaced and self._log is not None and self._log == _identity(log)
        return mine and log.stat().st_size > 0

    def check_file(self) -> None:
        """Raise where the file is no longer the one that was opened: what is written to another is lost.

        Raises:
            ReplacedError: it was moved away, or another lies in its place.
            StoreError: it was deleted with its folder.
        """
        if not self.replaced:
            if self._log is None:
                self._log = _identity(_log_of(self.path))
            return
        with self._lock:
            # ``close`` may close the handle at any time.
            deleted = self._folder is not None and not os.fstat(self._folder).st_nlink
        if deleted:
            raise StoreError(f"{self.path}: {_DELETED}")
        raise ReplacedError(f"{self.path}: {_REPLACED}")

    def look_again(self) -> None:
        """Make every thread open its connection anew: the obstacle may be gone."""
        self._opening += 1
        self.obstacle = ""

    def get(self) -> apsw.Connection:
        """This thread's connection, opened at first use.

        Raises:
            ForkedError: called in a child process.
            StoreError: the bank was closed, or deleted.
            ReplacedError: its file was moved away, or another lies in its place.
        """
        self.origin.check()
        if self._closed:
            raise StoreError(f"{self.path}: {_CLOSED}")
        self.check_file()
        if self.read_only and self._stamp != _stamp(self.path):
            # Someone could write after all, and what was opened as it was then would show old pages.
            self.look_again()
        opened: tuple[apsw.Connection, int] | None = getattr(self._local, "opened", None)
        if opened is None or opened[1] != self._opening:
            opening = self._opening
            with translated(self.path):
                connection = self._open()
            # First, so that ``close`` finds every connection that a thread keeps.
            with self._lock:
                self._all.add(connection)
                self._remember_file()
            opened = self._local.opened = connection, opening
        return opened[0]

    def _remember_file(self) -> None:
        if self._file is not None:
            return
        self._file = _identity(self.path)
        if os.name != "nt":
            with contextlib.suppress(OSError):
                self._folder = os.open(self.path.parent, os.O_RDONLY)
                self._close_folder = weakref.finalize(self, os.close, self._folder)

    def idle(self) -> apsw.Connection:
        """This thread's connection, outside any transaction.

        An interrupt may strike after a transaction has begun and before the ``with`` block that ends it is
        entered. Then it stays open as long as something keeps the interrupt's traceback. Such a connection
        is closed, which rolls back, and another takes its place; what the traceback keeps can do no harm.
        """
        connection = self.get()
        if connection.in_transaction:
            self.drop(connection)
            connection = self.get()
        return connection

    def drop(self, connection: apsw.Connection) -> None:
        """Close *connection*, which rolls back and ends its statements; ``get`` opens another."""
        opened: tuple[apsw.Connection, int] | None = getattr(self._local, "opened", None)
        if opened is not None and opened[0] is connection:
            self._local.opened = None
        connection.close()

    def _open(self) -> apsw.Connection:
        try:
            return self._open_writable()
        except apsw.NotADBError as error:
            kind = DamagedError if self.key is None else EncryptionError
            raise kind(f"{self.path}: {explained(self.path, self.key)}") from error
        except apsw.Error as error:
            obstacle = _obstacle(error)
            stamp = _stamp(self.path)
            if not obstacle or not stamp or stamp[-1]:
                raise
        # There is no log to read, and what cannot be written here no one else is writing: read it as it is.
        connection = open_file(self.path, self.key, immutable=True)
        _keep_pages(connection, self.path)
        add_functions(connection)
        self.obstacle, self._stamp = obstacle, stamp
        return connection

    def _open_writable(self) -> apsw.Connection:
        connection = open_file(self.path, self.key)
        try:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            # Else SQLite prepares a statement again for each new value that it compares with a column of a
            # table with a partial index. No partial index here depends on a value that is bound.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            _keep_pages(connection, self.path)
            add_functions(connection)
            for name, value in (*_PRAGMAS, ("synchronous", SYNCHRONOUS)):
                connection.pragma(name, value)
            # A look at the file, so that one that cannot be opened or is no database fails here.
            connection.pragma("user_version")
            read_only = connection.readonly("main")
        except BaseException:
            # Close now: it may hold a lock, and the traceback keeps it until garbage collection.
            connection.close()
            raise
        if read_only:
            self.obstacle, self._stamp = _READ_ONLY, _stamp(self.path)
        return connection

    def close(self) -> None:
        """Close every thread's connection; using the bank afterwards is an error."""
        if not self.origin.here:
            return
        with self._lock:
            self._closed = True
            for connection in list(self._all):
                with contextlib.suppress(apsw.Error):
                    if self.log_in_the_way:
                        # SQLite leaves the log of a file that is not in its place; what it holds is taken
                        # home, for the next to open the file that is there would read it as that one's.
                        connection.set_busy_timeout(_CLOSING_MILLISECONDS)
                        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                    connection.close()
            self._folder = None
            self._close_folder()

    def abandon(self) -> None:
        """In a child process: close inherited connections without a checkpoint.

        ``ForkedError``: the parent was in the middle of a transaction when it forked.
        """
        for connection in list(self._all):
            with contextlib.suppress(apsw.ConnectionClosedError):
                if not connection.get_autocommit():
                    raise ForkedError(
                        f"{self.path}: was being used when this process was forked, so it cannot be opened "
                        "here; start the process by 'spawn', or fork before the store is opened"
                    )
                connection.close()


_known: weakref.WeakSet[Connections] = weakref.WeakSet()


def _abandon_inherited(path: Path) -> None:
    """Close what a fork left here.

    SQLite counts file locks per process and would think that this process holds the parent's. Without a
    lock of its own, the file's log is deleted under it when the parent closes the bank.
    """
    for other in list(_known):
        if not other.origin.here and other.path.resolve() == path.resolve():
            other.abandon()


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at *path*; ``None`` = none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - at every transaction, and Path.stat takes longer
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when someone writes the bank, its log's size last; empty when there is no file."""
    wal = _log_of(path)
    try:
        found = path.stat()
        return found.st_mtime_ns, found.st_size, wal.stat().st_size if wal.is_file() else 0
    except FileNotFoundError:
        return ()


def _obstacle(error: apsw.Error) -> str:
    """Why a file that cannot be opened for writing may still be read; empty when it may not."""
    if isinstance(error, (apsw.CantOpenError, apsw.ReadOnlyError)):
        return _READ_ONLY
    # The log's shared memory is the first thing that SQLite finds no room for.
    no_room = getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
    return _FULL if no_room or isinstance(error, apsw.FullError) else ""


def _keep_pages(connection: apsw.Connection, path: Path) -> None:
    """Keep the upper levels of the tables in memory, a sixty-fourth of the file.

    With SQLite's usual 2 MB a recall of a million memories reads these pages again for almost every row.
    """
    least, most = _CACHE_BYTES
    size = path.stat().st_size if path.exists() else 0
    connection.pragma("cache_size", -(min(max(size // _CACHED_SHARE, least), most) // 1024))


def use_wal(connection: apsw.Connection) -> None:
    """Give a database a write-ahead log; waits for others as long as a transaction does.

    SQLite itself does not wait for a lock here, so this waits in a transaction that does nothing.
    ``UnavailableError``: others came in between each time.
    """
    for _ in range(_WAL_TRIES):
        with contextlib.suppress(apsw.BusyError):
            connection.pragma("journal_mode", "WAL")
            return
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    raise UnavailableError(f"{connection.filename}: other processes keep it locked; try again")


@contextlib.contextmanager
def patient_for(connection: apsw.Connection, milliseconds: int) -> Iterator[None]:
    """Wait for locks only so long inside the block."""
    connection.set_busy_timeout(milliseconds)
    try:
        yield
    finally:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as those of ``errors``, each with its remedy."""
    try:
        yield
    except apsw.FullError as error:
        raise UnavailableError(f"{path}: {_FULL}") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise UnavailableError(
            f"{path}: another process held the bank for more than {_BUSY_MILLISECONDS // 1000} s; retry"
        ) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        if not path.parent.exists():
            raise StoreError(f"{path}: {_DELETED}") from error
        raise UnavailableError(
            f"{path}: cannot be opened or written ({error}); check the folder's permissions"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise DamagedError(
            f"{path}: is damaged or no database ({error}); restore it from a backup"
        ) from error
    except (apsw.SQLError, apsw.MismatchError, apsw.InternalError, apsw.SchemaChangeError) as error:
        # Every statement fits the schema that the migrations made.
        raise DamagedError(
            f"{path}: does not have the tables that it should ({error}); restore it from a backup"
        ) from error
    except UnicodeDecodeError as error:
        raise DamagedError(
            f"{path}: a row holds bytes that are no text ({error.reason}); verify names it"
        ) from error
    except apsw.ConnectionClosedError as error:
        raise StoreError(f"{path}: {_CLOSED}") from error
    except apsw.IOError as error:
        raise UnavailableError(
            f"{path}: the disk failed ({error}); nothing was stored; check its health, its free space and "
            "the limit on file size (ulimit -f)"
        ) from error


@contextlib.contextmanager
def read_transaction(connections: Connections) -> Iterator[apsw.Connection]:
    """The rows of one moment, that of the first read; others may write meanwhile."""
    with _transaction(connections, "BEGIN", commit=False) as connection:
        yield connection


@contextlib.contextmanager
def write_transaction(connections: Connections) -> Iterator[apsw.Connection]:
    """All or nothing; other writers wait.

    ``UnavailableError``: the bank is read-only, the disk is full, or the lock was not obtained.
    """
    if connections.read_only:
        connections.look_again()
    connections.get()
    if connections.read_only:
        raise UnavailableError(f"{connections.path}: {connections.obstacle}")
    with _transaction(connections, "BEGIN IMMEDIATE", commit=True) as connection:
        yield connection


@contextlib.contextmanager
def _transaction(connections: Connections, begin: str, *, commit: bool) -> Iterator[apsw.Connection]:
    """Roll back what is not committed when the block ends, by an interrupt, too.

    An interrupt may leave this generator suspended until its traceback is gone, so it commits itself: while
    it is suspended its transaction is open, and ``Connections.idle`` gives all others another connection.
    """
    with translated(connections.path):
        connection = connections.idle()
        try:
            connection.execute(begin)
            if commit:
                # Others may have been writing for long, and the file gone meanwhile.
                connections.check_file()
            yield connection
            if commit:
                connection.execute("COMMIT")
        except BaseException as error:
            # A traceback that is kept keeps cursors, and SQLite commits nothing on a connection that
            # has an unfinished write. After SQLite's own errors, callers may still look at this one.
            if isinstance(error, MemoryError) or not isinstance(error, Exception):
                connections.drop(connection)
            raise
        finally:
            try:
                # SQLite ends a transaction itself after some disk errors. Python handles no signal between
                # this look and the call that rolls back; in a function of its own it would.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            except apsw.ConnectionClosedError:
                # Which rolled back.
                pass
