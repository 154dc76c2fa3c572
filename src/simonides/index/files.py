"""Index files: written whole and fsynced, with their folder, and never written again; read by mapping.

Tests inject faults in ``FileLayer``. A file holds named arrays, raw bytes that are never unpickled: 8 magic
bytes, the header's length and CRC-32 (8 bytes each, little endian), the header (JSON), then each array's
bytes at a multiple of 64. The header states every array's dtype, shape, offset and CRC-32, and whatever the
caller adds. A file that differs from its header is refused.
"""

from __future__ import annotations

import json
import mmap
import sys
import threading
import weakref
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides import files
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


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
        with files.naming(path):
            return path.read_bytes()

    def map(self, path: Path) -> memoryview:
        """The whole file, read-only."""
        with files.naming(path), path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with self._lock:
            self._maps.append((weakref.ref(mapped), len(mapped)))
        return memoryview(mapped)

    def cut_short(self) -> bool:
        """Whether a mapped file was cut since it was mapped; each is reported once.

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
        """Delete a file that nobody needs, if that is possible now."""
        files.remove(path)

    def remove_folder(self, folder: Path) -> None:
        """Delete a folder that nobody needs, or a link in its place, as far as that is possible now."""
        files.remove(folder)


def _size(mapped: mmap.mmap | None) -> int:
    """Bytes of the file now; of one that nobody has mapped any more, more than it ever had."""
    return sys.maxsize if mapped is None else mapped.size()


_MAGIC = b"SIMARR01"
_HEADER_AT = len(_MAGIC) + 16
_ALIGNMENT = 64
_DTYPES = frozenset({"|u1", "|i1", "<i4", "<i8", "<u8", "<f4", "<f8", "<u2", "<u4"})


def write_arrays(
    files: FileLayer, path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]
) -> None:
    """Write *arrays* and the JSON-ready *about* to a new file at *path*, fsynced."""
    table: dict[str, dict[str, Any]] = {}
    bodies: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        body = little.tobytes()
        table[name] = {
            "dtype": little.dtype.str,
            "shape": list(little.shape),
            "offset": offset,
            "bytes": len(body),
            "crc32": zlib.crc32(body),
        }
        padding = -len(body) % _ALIGNMENT
        bodies += [body, b"\0" * padding]
        offset += len(body) + padding
    header = json.dumps({"about": dict(about), "arrays": table}, sort_keys=True).encode()
    header += b" " * (-(_HEADER_AT + len(header)) % _ALIGNMENT)
    numbers = [number.to_bytes(8, "little") for number in (len(header), zlib.crc32(header))]
    files.write(path, [_MAGIC, *numbers, header, *bodies])


def read_arrays(
    files: FileLayer, path: Path, *, check: bool = False
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map the arrays of a file that ``write_arrays`` wrote; *check*: also compare every array's CRC-32.

    Returns:
        read-only arrays by name, and the *about* mapping.

    Raises:
        DamagedError: the file is not what its header says.
        FileNotFoundError: it is gone.
    """
    try:
        body = files.map(path)
    except ValueError as error:  # mmap refuses an empty file
        raise DamagedError(f"{path}: is empty; delete the index folder, it will be rebuilt") from error
    try:
        return _parse(body, check=check)
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise DamagedError(f"{path}: {error}; delete the index folder, it will be rebuilt") from error


def _parse(body: memoryview, *, check: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    if bytes(body[: len(_MAGIC)]) != _MAGIC:
        raise ValueError("does not begin as an array file")
    length, checksum = (int.from_bytes(body[at : at + 8], "little") for at in (len(_MAGIC), len(_MAGIC) + 8))
    text = bytes(body[_HEADER_AT : _HEADER_AT + length])
    if zlib.crc32(text) != checksum:
        raise ValueError("its header does not have its checksum")
    header = json.loads(text)
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in header["arrays"].items():
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"array {name!r} has the unknown dtype {entry['dtype']!r}")
        begin = _HEADER_AT + length + entry["offset"]
        piece = body[begin : begin + entry["bytes"]]
        if len(piece) != entry["bytes"]:
            raise ValueError(f"array {name!r} is cut short")
        if check and zlib.crc32(piece) != entry["crc32"]:
            raise ValueError(f"array {name!r} does not have its checksum")
        arrays[name] = np.frombuffer(piece, dtype=entry["dtype"]).reshape(entry["shape"])
    return arrays, header["about"]
