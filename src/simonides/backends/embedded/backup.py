"""Copy a bank's rows to one file while it is in use, and put such a copy back.

Both ways SQLite's backup interface copies whole pages inside one transaction, so a copy is the bank at one
moment: a prefix of what was acknowledged. A copy is checked before it goes back, in a folder of its own (an
older schema is brought up to date there), and gets a new epoch, so that every process that has the bank open
notices that its rows were replaced and starts anew. The index is not copied: it is made from the rows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.encryption import make_private, open_file
from simonides.errors import DamagedError, InputError, UnavailableError
from simonides.index.files import FileLayer
from simonides.records.receipt import Saved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import IO

    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.encryption import Key
    from simonides.backends.embedded.verification import VerifyReport

_TRIES = 5


def write_backup(source: apsw.Connection, path: Path, key: Key | None = None) -> Saved:
    """Copy the database behind *source* to a new file, whole or not at all, readable by its owner only.

    Args:
        source: a connection of the bank.
        path: of the new file.
        key: that encrypts the bank and the copy; ``None`` = they are plain.

    Raises:
        InputError: there is a file already, or no folder for it.
        OSError: it cannot be written.
    """
    if path.exists():
        raise InputError("path", f"{path} is there already; name a new file")
    if not path.parent.is_dir():
        raise InputError("path", f"{path.parent} is no folder; make it first")
    partial = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}.partial")
    try:
        make_private(partial)
        target = open_file(partial, key)
        try:
            _copy(source, target)
            # One file, without a log beside it.
            target.pragma("journal_mode", "DELETE")
            saved = _described(target, path)
        finally:
            target.close()
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        os.link(partial, path)
    except FileExistsError as error:
        raise InputError("path", f"{path} is there already; name a new file") from error
    finally:
        for name in (partial, *path.parent.glob(f"{partial.name}-*")):
            with contextlib.suppress(FileNotFoundError):
                name.unlink()
    FileLayer().sync_folder(path.parent)
    return saved


def send_backup(source: apsw.Connection, folder: Path, target: IO[bytes], key: Key | None = None) -> Saved:
    """The same copy into an open file, by way of *folder*, where nothing of it is left.

    Returns:
        what was copied, without a path.

    Raises:
        OSError: *folder* or *target* cannot be written.
    """
    work = folder / f".backup-{uuid.uuid4().hex}"
    work.mkdir(mode=0o700)
    try:
        saved = write_backup(source, work / "backup.db", key)
        with (work / "backup.db").open("rb") as copied:
            shutil.copyfileobj(copied, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return replace(saved, path="")


def put_back(connections: Connections, path: Path, prepare: Callable[[Path], VerifyReport]) -> Saved:
    """Replace all rows of a bank by those of a backup.

    Args:
        connections: of the bank.
        path: what ``write_backup`` wrote.
        prepare: opens a bank's folder, brings it up to date, gives it a new epoch, closes it and reports.

    Raises:
        InputError: there is no such file.
        DamagedError: the backup is damaged; the bank was left untouched.
        UnavailableError: the bank is in use by other writers, or cannot be written.
    """
    if not path.is_file():
        raise InputError("path", f"there is no file {path}")
    work = connections.path.parent / f".restoring-{uuid.uuid4().hex}"
    work.mkdir(mode=0o700)
    try:
        copied = work / "memory.db"
        shutil.copyfile(path, copied)
        copied.chmod(0o600)
        report = prepare(work)
        if not report.ok:
            raise DamagedError(f"{path}: is damaged ({report.problems[0]}); nothing was restored")
        with translated(connections.path):
            source = open_file(copied, connections.key)
            try:
                saved = _described(source, path)
                _replace(source, connections)
            finally:
                source.close()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return saved


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
            # SQLite does not wait here; a transaction waits for whoever writes.
            target.execute("BEGIN IMMEDIATE")
            target.execute("ROLLBACK")
        else:
            return


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as copying:
        while not copying.done:
            copying.step(-1)


def _described(connection: apsw.Connection, path: Path) -> Saved:
    memories, sequence = connection.execute(
        "SELECT (SELECT count(DISTINCT id) FROM memories), (SELECT sequence FROM meta)"
    ).fetchone() or (0, 0)
    return Saved(str(path), int(memories), int(sequence))
