"""Where the body of an import lies while it is read: a file of mode 0600 in a folder of its own.

An export is plain text of everything in a bank, so none may outlive the request. A server that is killed
cannot clear up after itself; the next one that starts on the store does. It knows the folders of processes
that still live by a lock of SQLite's that each holds on a file in its folder, and that ends with the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.encryption import open_file
from simonides.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".import-"
FILE = "import.jsonl"
_LOCK = "held"
_TRIES = 5


@contextmanager
def upload_in(store: Path) -> Iterator[Path]:
    """The path of an empty file for a body; gone afterwards, with its folder.

    Args:
        store: folder of the store.

    Raises:
        OSError: the folder cannot be written.
        UnavailableError: no folder could be kept from other servers.
    """
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=store))
        lock = None
        try:
            lock = _held(folder)
            path = folder / FILE
            if lock is None or not _made(path):
                # Another server was starting, and took the folder for one that was left.
                continue
            yield path
            return
        finally:
            if lock is not None:
                lock.close()
            shutil.rmtree(folder, ignore_errors=True)
    raise UnavailableError(f"{store}: other servers keep starting on it; try again")


def sweep(store: Path) -> int:
    """Delete what servers that were killed left of imports.

    Args:
        store: folder of the store.

    Returns:
        how many folders were deleted; one of a living process stays.
    """
    swept = 0
    for folder in sorted(store.glob(f"{PREFIX}*")):
        lock = _held(folder)
        if lock is None:
            continue
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)
        swept += not folder.exists()
    return swept


def _held(folder: Path) -> apsw.Connection | None:
    """A lock on a folder, held until it is closed; ``None`` where another has it, or the folder is gone."""
    lock = None
    try:
        lock = open_file(folder / _LOCK, None)
        lock.execute("BEGIN EXCLUSIVE")
    except apsw.Error:
        if lock is not None:
            lock.close()
        return None
    return lock


def _made(path: Path) -> bool:
    """Whether the file could be made; not where its folder is gone."""
    with suppress(FileNotFoundError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return True
    return False
