"""Copy a bank's rows to one file while it is in use, and restore such a copy.

SQLite's backup interface copies whole pages inside one transaction, so a copy is the bank at one moment: a
prefix of what was acknowledged. A restore checks the copy in a folder of its own, where an older schema is
migrated, and gives it a new epoch, so that every process that has the bank open notices that its rows were
replaced. The index is not copied: it is rebuilt from the rows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.connection import translated, write_transaction
from simonides.backends.embedded.encryption import explained, open_file
from simonides.backends.embedded.migrations import APPLICATION_ID
from simonides.backends.embedded.rows import keys
from simonides.errors import DamagedError, EncryptionError, InputError, NewerSchemaError, UnavailableError
from simonides.files import check_absent, disk_errors, make_empty, publish, working_folder, working_folder_of
from simonides.records.receipt import Saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.encryption import Key
    from simonides.records.audit import VerifyReport

_TRIES = 5
_COPY = "backup.db"
_PIECE_BYTES = 1 << 20
_UNTOUCHED = "nothing was restored; name another file that `simonides backup` wrote"


def write_backup(source: apsw.Connection, path: Path, key: Key | None = None) -> Saved:
    """Copy the database behind *source* to a new file, whole or not at all, readable by its owner only.

    *key* encrypts the bank and the copy.

    Raises:
        InputError: there is a file already, or no folder for it.
        UnavailableError: it cannot be written.
    """
    with disk_errors(path):
        if not path.parent.is_dir():
            raise InputError("path", f"{path.parent} is no folder; make it first")
        with working_folder_of(path) as work:
            check_absent(path)
            saved = _write(source, work / _COPY, path, key)
            publish(work / _COPY, path, replace=False)
    return saved


def send_backup(source: apsw.Connection, folder: Path, target: IO[bytes], key: Key | None = None) -> Saved:
    """The same copy into an open file, by way of *folder*, where nothing of it is left.

    The answer has no path.

    ``UnavailableError``: *folder* cannot be written.
    """
    with working_folder(folder, ".backup-") as work:
        with disk_errors(work):
            saved = _write(source, work / _COPY, work, key)
        # What *target* raises is its owner's to know.
        for piece in _pieces(work / _COPY):
            target.write(piece)
    return replace(saved, path="")


def _pieces(path: Path) -> Iterator[bytes]:
    with disk_errors(path, "read"), path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _write(source: apsw.Connection, copied: Path, path: Path, key: Key | None) -> Saved:
    """Copy the database to the new file *copied*, synced; described as the backup at *path*."""
    make_empty(copied)
    target = open_file(copied, key)
    try:
        _copy(source, target)
        # One file, without a log beside it.
        target.pragma("journal_mode", "DELETE")
        saved = _described(target, path)
    except apsw.FullError as error:
        # Not the bank's disk.
        raise UnavailableError(f"{path}: the disk is full; free some space and try again") from error
    finally:
        target.close()
    with copied.open("rb+") as file:
        os.fsync(file.fileno())
    return saved


def restore_backup(connections: Connections, path: Path, prepare: Callable[[Path], VerifyReport]) -> Saved:
    """Replace all rows of a bank by those of a backup.

    *prepare* opens a bank's folder, brings it up to date, gives it a new epoch, closes it and reports.

    Raises:
        InputError: there is no such file.
        DamagedError: it is damaged or no backup of a bank; the bank was left untouched.
        EncryptionError: the bank's key does not open it; likewise.
        NewerSchemaError: a newer version of simonides made it; likewise.
        UnavailableError: the bank is in use by other writers, or cannot be written.
    """
    with disk_errors(path, "read"):
        if not path.is_file():
            raise InputError("path", f"there is no file {path}")
    with working_folder(connections.path.parent, ".restoring-") as work:
        copied = work / "memory.db"
        make_empty(copied)
        with disk_errors(path, "copied"):
            shutil.copyfile(path, copied)
        with _errors_about(path, copied):
            with translated(copied):
                _check_holds_bank(path, copied, connections.key)
            report = prepare(work)
        if not report.ok:
            raise DamagedError(f"{path}: is damaged ({report.problems[0]}); {_UNTOUCHED}")
        with translated(connections.path):
            source = open_file(copied, connections.key)
            try:
                saved = _described(source, path)
                _replace(source, connections)
            finally:
                source.close()
    return saved


def _check_holds_bank(path: Path, copied: Path, key: Key | None) -> None:
    """Refuse what an opened bank would take for a new one: an empty file, or a database without a bank."""
    try:
        connection = open_file(copied, key)
        try:
            owner, tables = connection.execute(
                "SELECT application_id, (SELECT count(*) FROM sqlite_schema WHERE name = 'meta')"
                " FROM pragma_application_id"
            ).get
            count = f"SELECT count(*) FROM {keys('meta')}"
            holds = owner == APPLICATION_ID and tables and connection.execute(count).get
        finally:
            connection.close()
    except apsw.NotADBError as error:
        if key is None:
            raise DamagedError(
                f"{path}: is no backup of a bank, or damaged, or encrypted; {_UNTOUCHED}"
            ) from error
        raise EncryptionError(f"{path}: {explained(copied, key)}; {_UNTOUCHED}") from error
    except (apsw.CorruptError, apsw.SQLError) as error:
        raise DamagedError(f"{path}: is damaged ({error}); {_UNTOUCHED}") from error
    if not holds:
        raise DamagedError(f"{path}: holds no bank; {_UNTOUCHED}")


@contextlib.contextmanager
def _errors_about(path: Path, copied: Path) -> Iterator[None]:
    """Name the user's file, not the copy, in errors."""
    try:
        yield
    except (DamagedError, EncryptionError, NewerSchemaError, UnavailableError) as error:
        reason = str(error)
        if reason.startswith(f"{path}: "):
            raise
        reason = reason.removeprefix(f"{copied}: ")
        if isinstance(error, DamagedError):
            raise DamagedError(f"{path}: is damaged ({reason}); {_UNTOUCHED}") from error
        raise type(error)(f"{path}: {reason}; nothing was restored") from error


def _replace(source: apsw.Connection, connections: Connections) -> None:
    if connections.read_only:
        connections.look_again()
    target = connections.get()
    if connections.read_only:
        raise UnavailableError(f"{connections.path}: {connections.obstacle}")
    for attempt in range(_TRIES):
        try:
            _copy(source, target)
        except apsw.BusyError:
            if attempt == _TRIES - 1:
                raise
            # SQLite does not wait here; a transaction waits for other writers.
            with write_transaction(connections):
                pass
        else:
            return


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as copying:
        while not copying.done:
            copying.step(-1)


def _described(connection: apsw.Connection, path: Path) -> Saved:
    memories, sequence = connection.execute(
        f"SELECT (SELECT count(DISTINCT id) FROM {keys('memories')}),"
        " (SELECT coalesce(max(sequence), 0) FROM changes)"
    ).fetchone() or (0, 0)
    return Saved(str(path), int(memories), int(sequence))
