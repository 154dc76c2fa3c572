"""What keeps a store from being written, as far as its disk says so: reading goes on all the same."""

from __future__ import annotations

import os
import shutil
from typing import IO, TYPE_CHECKING

from simonides.surfaces.rest.problems import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

LEAST_FREE = 64 * 1024 * 1024
"""Bytes below which writes are about to fail: a few bodies of requests, and what SQLite logs of them."""


_LOOKED_AFTER = 8 * 1024 * 1024
"""Bytes of an upload from one look at the free space to the next."""


def check_room(folder: Path, size: int = 0) -> None:
    """Raise ``RefusedError`` where *size* bytes more would leave less than ``LEAST_FREE``."""
    free = shutil.disk_usage(folder).free
    if free - size < LEAST_FREE:
        raise RefusedError(
            503,
            f"the server's disk has {free:,} bytes free; make room for {size + LEAST_FREE:,}",
            {"Retry-After": "60"},
        )


class Spool:
    """A file that is written while the disk has room."""

    def __init__(self, file: IO[bytes], folder: Path) -> None:
        self._file = file
        self._folder = folder
        self._unchecked = 0

    def write(self, part: bytes) -> int:
        """Write *part*; ``RefusedError`` when the disk is about to be full."""
        self._unchecked += len(part)
        if self._unchecked > _LOOKED_AFTER:
            self._file.flush()
            check_room(self._folder, len(part))
            self._unchecked = 0
        return self._file.write(part)


def disk_problems(folder: Path) -> list[str]:
    """One line for each problem; none where the folder of a store can be written."""
    found = []
    closed = [each for each in (folder, *sorted(folder.glob("bank-*"))) if not os.access(each, os.W_OK)]
    if closed:
        found.append(f"disk: {len(closed)} folders of the store cannot be written; make them writable")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        found.append(f"disk: {free:,} bytes are free, writes need {LEAST_FREE:,}; make room")
    return found
