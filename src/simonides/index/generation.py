"""Sealed blocks on disk: each merge writes one new folder, and says in it which folders make the index.

    index/<generation>/manifest.json   what the index is made of, and of which bank at which change
    index/<generation>/block-0.arr     blocks this generation wrote, by first row; older ones stay in place
    index/<generation>/graph.arr       mentions and links; an older one may stay in place, too
    index/<generation>/expired.arr     expiry stamps newer than the blocks

Nothing here is ever written twice or renamed. A folder counts only once the bank's ``meta`` names its
generation; a folder that lost that race is deleted by its writer. Everything can be deleted at any time.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import DamagedError
from simonides.index.block import Block, block_arrays, block_of_arrays
from simonides.index.files import read_arrays, write_arrays
from simonides.index.graph import Graph, graph_arrays, graph_of_arrays

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.index.files import FileLayer

FORMAT = 7
"""Of the files; a generation of another format is rebuilt."""

_GRAPH = "graph.arr"
_MANIFEST = "manifest.json"
_EXPIRED = "expired.arr"


@dataclass(frozen=True, slots=True)
class Origin:
    """Which bank, at which change, a generation was made from. Any difference means: rebuild.

    Attributes:
        epoch: renewed by whatever replaces the rows wholesale.
        sequence: last change that is in the generation.
        log_hash: running hash of the change log at that change.
        dimension: of the vectors.
        embedder, analyser: fingerprints of what made vectors and terms.
    """

    bank: str
    epoch: str
    sequence: int
    log_hash: str
    dimension: int
    embedder: str
    analyser: str


@dataclass(frozen=True, slots=True)
class BlockFile:
    """Where a block lies and which rows it holds."""

    generation: int
    name: str
    start: int
    rows: int


@dataclass(frozen=True, slots=True)
class Generation:
    """An opened generation.

    Attributes:
        files, blocks: where the blocks lie, and what is in them.
        expired: stamps newer than the blocks, by ordinal.
        graph: mentions and links; perhaps fewer than the rows have, never others.
        graph_at: number of the generation that wrote the graph.
    """

    number: int
    origin: Origin
    files: tuple[BlockFile, ...]
    blocks: tuple[Block, ...]
    expired: Mapping[int, int]
    graph: Graph
    graph_at: int

    @property
    def rows(self) -> int:
        return self.blocks[-1].stop if self.blocks else 0


def write_generation(
    files: FileLayer,
    folder: Path,
    number: int,
    origin: Origin,
    parts: Sequence[BlockFile | Block],
    expired: Mapping[int, int],
    graph: Graph | int,
) -> None:
    """Write generation *number* whole and make it durable; it counts only once ``meta`` names it.

    Args:
        number: its folder must not exist yet.
        parts: ascending: files of earlier generations, and new sealed blocks.
        expired: stamps newer than those files.
        graph: sealed; or the number of the generation whose graph stays, and newer edges are read from rows.
    """
    place = folder / str(number)
    files.make_folder(place)
    written: list[BlockFile] = []
    for part in parts:
        if isinstance(part, Block):
            name = f"block-{part.start}.arr"
            write_arrays(files, place / name, block_arrays(part), {"start": part.start, **asdict(origin)})
            written.append(BlockFile(number, name, part.start, part.rows))
        else:
            written.append(part)
    ordinals = sorted(expired)
    stamps = {
        "ordinals": np.array(ordinals, np.int64),
        "stamps": np.array([expired[ordinal] for ordinal in ordinals], np.int64),
    }
    write_arrays(files, place / _EXPIRED, stamps, asdict(origin))
    body = {"format": FORMAT, "origin": asdict(origin), "blocks": [asdict(file) for file in written]}
    if isinstance(graph, Graph):
        write_arrays(files, place / _GRAPH, graph_arrays(graph), asdict(origin))
    else:
        body["graph"] = graph
    text = json.dumps(body, sort_keys=True)
    files.write(
        place / _MANIFEST,
        [json.dumps({"crc32": zlib.crc32(text.encode()), "body": text}).encode()],
    )
    files.sync_folder(place)


def read_generation(
    files: FileLayer,
    folder: Path,
    number: int,
    *,
    check: bool = False,
    known: Generation | None = None,
) -> Generation:
    """Open generation *number* of a bank's ``index`` *folder*; its blocks are mapped.

    Args:
        check: also compare every checksum (reads every file whole, about 0.3 s of CPU per GB).
        known: an opened and checked generation of the same bank and epoch: what both have is taken from it.

    Raises:
        DamagedError: a file is not what was written.
        FileNotFoundError: a file is gone.
    """
    place = folder / str(number)
    origin, listed, graph_at = _manifest(files, place / _MANIFEST, number)
    had = dict(zip(known.files, known.blocks, strict=True)) if known else {}
    kept = [folder / str(file.generation) / file.name for file in listed if file in had]
    if known is not None and known.graph_at == graph_at:
        kept.append(folder / str(graph_at) / _GRAPH)
    _find(files, kept)
    blocks = tuple(
        had[file] if file in had else _block(files, folder, file, origin, check=check) for file in listed
    )
    path = place / _EXPIRED
    stamps, about = read_arrays(files, path, check=check)
    if about != asdict(origin) or stamps.keys() != {"ordinals", "stamps"}:
        raise DamagedError(f"{path}: belongs elsewhere; delete the index folder, it will be rebuilt")
    expired = dict(zip(stamps["ordinals"].tolist(), stamps["stamps"].tolist(), strict=True))
    if known is not None and known.graph_at == graph_at:
        graph = known.graph
    else:
        path = folder / str(graph_at) / _GRAPH
        graph = _edges(files, path, origin, own=graph_at == number, check=check)
    return Generation(number, origin, listed, blocks, expired, graph, graph_at)


def _find(files: FileLayer, paths: Sequence[Path]) -> None:
    names = {place: set(files.names(place)) for place in {path.parent for path in paths}}
    for path in paths:
        if path.name not in names[path.parent]:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _edges(files: FileLayer, path: Path, origin: Origin, *, own: bool, check: bool) -> Graph:
    arrays, about = read_arrays(files, path, check=check)
    if about != asdict(origin) if own else not _matches(about, _lasting(origin)):
        raise DamagedError(f"{path}: belongs elsewhere; delete the index folder, it will be rebuilt")
    return _graph(arrays, path)


def _lasting(origin: Origin) -> dict[str, Any]:
    """What all files of a generation have in common: made of the same rows, vectors and terms."""
    return {name: value for name, value in asdict(origin).items() if name not in {"sequence", "log_hash"}}


def _matches(about: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return {name: about.get(name) for name in wanted} == wanted


def _graph(arrays: Mapping[str, NDArray[Any]], path: Path) -> Graph:
    try:
        return graph_of_arrays(arrays)
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{path}: {error}; delete the index folder, it will be rebuilt") from error


def _manifest(files: FileLayer, path: Path, number: int) -> tuple[Origin, tuple[BlockFile, ...], int]:
    """What it was made from, its blocks, and the generation that wrote its graph."""
    try:
        outer = json.loads(files.read(path))
        body: dict[str, Any] = json.loads(outer["body"])
        sound = outer["crc32"] == zlib.crc32(outer["body"].encode()) and body["format"] == FORMAT
        origin = Origin(**body["origin"])
        listed = tuple(BlockFile(**entry) for entry in body["blocks"])
        graph_at = int(body.get("graph", number))
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path}: {error}; delete the index folder, it will be rebuilt") from error
    if not sound:
        raise DamagedError(f"{path}: wrong checksum or format; delete the index folder, it will be rebuilt")
    return origin, listed, graph_at


def _block(files: FileLayer, folder: Path, file: BlockFile, origin: Origin, *, check: bool) -> Block:
    path = folder / str(file.generation) / file.name
    arrays, about = read_arrays(files, path, check=check)
    try:
        block = block_of_arrays(file.start, arrays)
    except KeyError as error:
        raise DamagedError(f"{path}: lacks {error}; delete the index folder, it will be rebuilt") from error
    if not _matches(about, {**_lasting(origin), "start": file.start}) or block.rows != file.rows:
        raise DamagedError(f"{path}: belongs elsewhere; delete the index folder, it will be rebuilt")
    return block


def used_generations(current: Generation) -> set[int]:
    """Numbers of the folders that *current* is made of."""
    return {current.number, current.graph_at} | {file.generation for file in current.files}


def replaced_files(files: FileLayer, folder: Path, current: Generation) -> list[Path]:
    """What lies in the folders of *current* and is not, or no more, used; it may hold what was erased."""
    used = {folder / str(file.generation) / file.name for file in current.files}
    used.add(folder / str(current.graph_at) / _GRAPH)
    used |= {folder / str(current.number) / name for name in (_MANIFEST, _EXPIRED)}
    places = [folder / str(number) for number in sorted(used_generations(current))]
    return [place / name for place in places for name in files.names(place) if place / name not in used]


def remove_unused(files: FileLayer, folder: Path, current: Generation) -> None:
    """Delete what is older than *current* and not used by it; newer folders belong to other writers."""
    used = used_generations(current)
    for name in files.names(folder):
        if name.isdecimal() and int(name) < current.number and int(name) not in used:
            files.remove_folder(folder / name)
    for path in replaced_files(files, folder, current):
        files.remove_file(path)
