"""The lock between a purge and writers of copies of rows.

A merge, a backup, a restore, an export and the training of a reranker read rows and then write files of the
bank's folder. Each shares ``copies.lock`` meanwhile, and a purge holds it alone: when a purge begins to
sweep, every file that lies about was left by a crashed process. Whoever comes after it checks again which
rows were erased (see ``merge``). It is a lock of SQLite, which ends with its process; nothing is ever written
into the file.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.encryption import open_file
from simonides.errors import UnavailableError
from simonides.files import make_empty

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "copies.lock"
PATIENCE_MILLISECONDS = 60_000
"""How long a backup, restore or export waits for a purge that is under way."""


@contextlib.contextmanager
def sharing(folder: Path, patience: int = PATIENCE_MILLISECONDS) -> Iterator[None]:
    """Keep purges out inside the block, others not; ``UnavailableError`` after *patience* milliseconds."""
    with joined(folder, patience) as shared:
        if not shared:
            raise UnavailableError(
                f"{folder}: a purge of this bank is under way; wait until it is done and try again"
            )
        yield


@contextlib.contextmanager
def joined(folder: Path, patience: int = 0) -> Iterator[bool]:
    """The same; false inside the block where a purge kept it out.

    Where the lock cannot be made, nothing else can be written either, and there is nothing to keep out.
    """
    lock = _opened(folder, patience)
    if lock is None:
        yield True
        return
    try:
        yield _locked(lock, "BEGIN", "SELECT count(*) FROM sqlite_schema")
    finally:
        lock.close()


@contextlib.contextmanager
def alone(folder: Path, patience: int) -> Iterator[bool]:
    """Keep everyone out inside the block; false where someone was still in after *patience* milliseconds."""
    lock = _opened(folder, patience)
    if lock is None:
        yield False
        return
    try:
        yield _locked(lock, "BEGIN EXCLUSIVE")
    finally:
        lock.close()


def _locked(lock: apsw.Connection, *statements: str) -> bool:
    with translated(Path(lock.filename)):
        try:
            for statement in ("PRAGMA journal_mode=MEMORY", *statements):
                lock.execute(statement)
        except apsw.BusyError:
            return False
    return True


def _opened(folder: Path, patience: int) -> apsw.Connection | None:
    path = folder / FILE
    if not path.exists():
        with contextlib.suppress(UnavailableError):
            make_empty(path)
    with translated(path):
        try:
            # Not made here: SQLite would make it readable for others.
            lock = open_file(path, None, create=False)
        except apsw.CantOpenError:
            return None
    lock.set_busy_timeout(patience)
    return lock
