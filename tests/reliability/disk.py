"""A disk that can lose power or fail at any call, below SQLite and below the index files.

``Disk`` counts every call that both layers make and keeps, per file, what was synced and which writes came
since. At a power cut each file becomes its synced bytes plus some of the later writes: none, a prefix (a lost
suffix), or a random subset, whole or torn at sectors of 512 bytes. Model and limits: a synced file keeps its
name (as journalling file systems do); bytes beside a write are never touched (SQLite's "powersafe
overwrite"); a folder of index files whose parent was not synced since may be gone, or back when it was
removed.

SQLite runs in exclusive locking mode here, because a VFS written in Python has no shared memory; so one
connection at a time.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from simonides.index.files import FileLayer

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

SECTOR = 512
_BASE = apsw.vfs_names()[0]
_NAME = "simonides-faults"

Write = tuple[int, bytes]
"""Offset and bytes; an offset of −1 − size cuts the file to *size*."""


@dataclass
class Disk:
    """What may go wrong, and what did.

    Attributes:
        calls: calls so far, of both layers.
        fail_at: the call that fails; 0 = none.
        cut: whether that call is a power cut, after which nothing can be written; else an error.
        for_good: whether every later call fails, too.
        code: of the error, ``errno.EIO`` or ``errno.ENOSPC``.
        failed: whether the call was reached.
        reads: whether reads count as calls.
    """

    calls: int = 0
    fail_at: int = 0
    cut: bool = False
    for_good: bool = False
    code: int = errno.EIO
    failed: bool = False
    reads: bool = False
    synced: dict[str, bytes | None] = field(default_factory=dict)
    later: dict[str, list[Write | None]] = field(default_factory=dict)
    fresh: set[Path] = field(default_factory=set)
    removed: dict[Path, Path] = field(default_factory=dict)

    def step(self) -> bool:
        """Count a call; whether it fails."""
        self.calls += 1
        stays = self.for_good or self.cut
        fails = 0 < self.fail_at <= self.calls and (stays or self.calls == self.fail_at)
        self.failed |= fails
        return fails

    @property
    def dead(self) -> bool:
        return self.failed and self.cut

    def know(self, name: str) -> None:
        if name not in self.synced:
            path = Path(name)
            self.synced[name] = path.read_bytes() if path.exists() else None
            self.later[name] = []

    def sync(self, name: str) -> None:
        self.synced[name] = _after(self.synced[name], self.later[name]) or b""
        self.later[name] = []

    def lose_power(self, chance: random.Random) -> None:
        """Make the files what they are found as when the power is back; nothing is un-synced then."""
        for name, writes in self.later.items():
            if writes:
                body = _after(self.synced[name], _survivors(writes, chance))
                path = Path(name)
                if body is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(body)
        for folder in sorted(self.fresh):
            if chance.random() < 0.5:
                shutil.rmtree(folder, ignore_errors=True)
        for folder, aside in sorted(self.removed.items()):
            if chance.random() < 0.5 and folder.parent.is_dir() and not folder.exists():
                aside.rename(folder)
            else:
                shutil.rmtree(aside, ignore_errors=True)
        self.forget_all()

    def forget_all(self) -> None:
        for aside in self.removed.values():
            shutil.rmtree(aside, ignore_errors=True)
        self.synced, self.later, self.fresh, self.removed = {}, {}, set(), {}


def _after(body: bytes | None, writes: Iterable[Write | None]) -> bytes | None:
    image = None if body is None else bytearray(body)
    for write in writes:
        if write is None:
            image = None
            continue
        offset, piece = write
        image = bytearray() if image is None else image
        if offset < 0:
            size = -1 - offset
            del image[size:]
            image.extend(bytes(size - len(image)))
        else:
            image.extend(bytes(max(0, offset - len(image))))
            image[offset : offset + len(piece)] = piece
    return None if image is None else bytes(image)


def _survivors(writes: list[Write | None], chance: random.Random) -> list[Write | None]:
    how = chance.choice(("none", "prefix", "subset", "torn"))
    if how == "none":
        return []
    if how == "prefix":
        return writes[: chance.randint(0, len(writes))]
    kept = [write for write in writes if chance.random() < 0.5]
    return kept if how == "subset" else [part for write in kept for part in _torn(write, chance)]


def _torn(write: Write | None, chance: random.Random) -> Iterator[Write | None]:
    if write is None or write[0] < 0:
        yield write
        return
    offset, piece = write
    begin = 0
    while begin < len(piece):
        end = min(len(piece), (offset + begin) // SECTOR * SECTOR + SECTOR - offset)
        if chance.random() < 0.5:
            yield offset + begin, piece[begin:end]
        begin = end


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__(_BASE, name, flags)
        self.disk = disk
        self.name = str(name.filename() if isinstance(name, apsw.URIFilename) else name or "")

    def _step(self) -> None:
        if self.disk.step():
            if self.disk.code == errno.ENOSPC:
                raise apsw.FullError("database or disk is full")
            raise apsw.IOError("disk I/O error")

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - apsw's name
        if self.disk.reads and self.disk.step():
            raise apsw.IOError("disk I/O error")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._step()
        super().xWrite(data, offset)
        if self.name:
            self.disk.later[self.name].append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._step()
        super().xTruncate(size)
        if self.name:
            self.disk.later[self.name].append((-1 - size, b""))

    def xSync(self, flags: int) -> None:  # noqa: N802
        # What is synced is remembered; a real sync would only cost time.
        self._step()
        if self.name:
            self.disk.sync(self.name)


class FaultySystem(apsw.VFS):
    """The file system that SQLite sees.

    Attributes:
        disk: what is below it now.
        checkpoint_pages: pages in the log at which SQLite copies them into the database.
    """

    def __init__(self) -> None:
        super().__init__(_NAME, _BASE, makedefault=True)
        self.disk = Disk()
        self.checkpoint_pages = 1000

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> _File:  # noqa: N802
        if self.disk.step():
            raise apsw.CantOpenError("unable to open database file")
        file_name = str(name.filename() if isinstance(name, apsw.URIFilename) else name or "")
        if file_name:
            self.disk.know(file_name)
        return _File(self.disk, name, flags)

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802
        if self.disk.step():
            raise apsw.IOError("disk I/O error")
        self.disk.know(name)
        super().xDelete(name, sync_folder)
        self.disk.later[name].append(None)
        if sync_folder:
            self.disk.synced[name], self.disk.later[name] = None, []


class FaultyFiles(FileLayer):
    """The file layer of the index on the same disk."""

    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self.disk = disk

    def _step(self, path: Path) -> None:
        if self.disk.step():
            raise OSError(self.disk.code, os.strerror(self.disk.code), str(path))

    def make_folder(self, folder: Path) -> None:
        self._step(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        self.disk.fresh.add(folder)
        self.sync_folder(folder.parent)

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        self._step(path)
        self.disk.know(str(path))
        with path.open("xb") as file:
            for piece in pieces:
                # Half of a piece may be there when its write fails.
                half = bytes(piece)[: len(piece) // 2]
                file.write(half)
                self.disk.later[str(path)].append((file.tell() - len(half), half))
                self._step(path)
                rest = bytes(piece)[len(half) :]
                file.write(rest)
                self.disk.later[str(path)].append((file.tell() - len(rest), rest))
        self._step(path)
        self.disk.sync(str(path))

    def sync_folder(self, folder: Path) -> None:
        self._step(folder)
        self.disk.fresh -= {place for place in self.disk.fresh if place.parent == folder}
        for place in [place for place in self.disk.removed if place.parent == folder]:
            shutil.rmtree(self.disk.removed.pop(place), ignore_errors=True)

    def read(self, path: Path) -> bytes:
        if self.disk.reads:
            self._step(path)
        return super().read(path)

    def map(self, path: Path) -> memoryview:
        if self.disk.reads:
            self._step(path)
        return super().map(path)

    def remove_file(self, path: Path) -> None:
        if self.disk.step():
            return
        super().remove_file(path)
        self.disk.synced.pop(str(path), None)
        self.disk.later.pop(str(path), None)

    def remove_folder(self, folder: Path) -> None:
        """A removal that was not synced can come back."""
        if self.disk.step() or not folder.exists():
            return
        aside = folder.parent.parent / f"aside-{folder.name}-{self.disk.calls}"
        folder.rename(aside)
        self.disk.removed[folder] = aside
        for name in [name for name in self.disk.synced if Path(name).parent == folder]:
            del self.disk.synced[name], self.disk.later[name]


@contextlib.contextmanager
def faulty_system() -> Iterator[FaultySystem]:
    """Put the disk below every connection that is opened inside; set ``.disk`` before opening one."""

    def settle(connection: apsw.Connection) -> None:
        connection.pragma("locking_mode", "exclusive")
        connection.wal_autocheckpoint(system.checkpoint_pages)

    hooks, unraisable = list(apsw.connection_hooks), sys.unraisablehook

    def hush(error: Any) -> None:
        # What fails while a connection is let go reaches no one, on purpose.
        if not isinstance(error.exc_value, apsw.Error):
            unraisable(error)

    sys.unraisablehook = hush
    system = FaultySystem()
    apsw.connection_hooks.append(settle)
    try:
        yield system
    finally:
        gc.collect()
        sys.unraisablehook = unraisable
        apsw.connection_hooks[:] = hooks
        system.unregister()
