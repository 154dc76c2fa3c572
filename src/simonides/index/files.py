"""The one door through which index files reach the disk, so that faults can be injected there.

Every file is written whole, fsynced, and never written again; its folder is fsynced too. Reading maps the
file into memory.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
from typing import TYPE_CHECKING

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
        with path.open("xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())

    def sync_folder(self, folder: Path) -> None:
        """Make the names in *folder* durable, where the platform can."""
        if os.name == "nt":
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def read(self, path: Path) -> bytes:
        """The whole file."""
        return path.read_bytes()

    def map(self, path: Path) -> memoryview:
        """The whole file, read-only, mapped into memory."""
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def names(self, folder: Path) -> list[str]:
        """Names in *folder*, sorted; empty when it is not there."""
        try:
            return sorted(entry.name for entry in folder.iterdir())
        except FileNotFoundError:
            return []

    def remove_file(self, path: Path) -> None:
        """Delete a file that nobody needs; what cannot be deleted now is left for later."""
        with contextlib.suppress(OSError):
            path.unlink()

    def remove_folder(self, folder: Path) -> None:
        """Delete a folder of files that nobody needs, or what lies there in its place.

        A link goes, and what it leads to stays. What cannot be deleted now is left for later.
        """
        with contextlib.suppress(OSError):
            if folder.is_symlink() or not folder.is_dir():
                folder.unlink()
            else:
                shutil.rmtree(folder)
