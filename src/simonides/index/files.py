"""Index files on the disk; the one place where tests inject faults for them.

Every file is written whole, fsynced, and never written again; its folder is fsynced too. Reading maps the
file into memory.
"""

from __future__ import annotations

import mmap
import sys
import threading
import weakref
from typing import TYPE_CHECKING

from simonides import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class FileLayer:
    """Plain files on a local file system. Subclass it to inject faults."""

    def __init__(self) -> None:
        self._maps: list[tuple[weakref.ref[mmap.mmap], int]] = []
        self._lock = threading.Lock()

    def make_folder(self, folder: Path) -> None:
        """Create *folder* (it must not exist) and make its name durable."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        self.sync_folder(folder.parent)

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        """Write a new file whole and fsync it; an existing file is an error."""
        files.write_new(path, pieces)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in *folder* durable, where the platform can."""
        files.sync_folder(folder)

    def read(self, path: Path) -> bytes:
        """The whole file."""
        with files.naming(path):
            return path.read_bytes()

    def map(self, path: Path) -> memoryview:
        """The whole file, read-only, mapped into memory."""
        with files.naming(path), path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with self._lock:
            self._maps.append((weakref.ref(mapped), len(mapped)))
        return memoryview(mapped)

    def cut_short(self) -> bool:
        """Whether a mapped file was cut since it was mapped; each is told of once.

        The operating system ends a process that reads a mapped page which its file no longer has.
        """
        with self._lock:
            held = [(each, length) for each, length in self._maps if each() is not None]
            self._maps = [(each, length) for each, length in held if _size(each()) >= length]
            return len(self._maps) < len(held)

    def names(self, folder: Path) -> list[str]:
        """Names in *folder*, sorted; empty when it is not there."""
        try:
            return sorted(entry.name for entry in folder.iterdir())
        except FileNotFoundError:
            return []

    def remove_file(self, path: Path) -> None:
        """Delete a file that nobody needs; what cannot be deleted now is left for later."""
        files.remove(path)

    def remove_folder(self, folder: Path) -> None:
        """Delete a folder of files that nobody needs, or what lies there in its place.

        A link goes, and what it leads to stays. What cannot be deleted now is left for later, and so is a
        file with another name elsewhere (see ``files.remove``).
        """
        files.remove(folder)


def _size(mapped: mmap.mmap | None) -> int:
    """Bytes of the file now; of one that nobody has mapped any more, more than it ever had."""
    return sys.maxsize if mapped is None else mapped.size()
