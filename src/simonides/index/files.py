"""Index files on the disk; the one place where tests inject faults for them.

Every file is written whole, fsynced, and never written again; its folder is fsynced too. Reading maps the
file into memory.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from simonides import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class FileLayer:
    """Plain files on a local file system. Subclass it to inject faults."""

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
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

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
