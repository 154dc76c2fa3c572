from __future__ import annotations

import json
import pickle
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import DamagedError
from simonides.index.block import block_arrays, join_blocks
from simonides.index.files import FileLayer, write_arrays
from simonides.index.generation import (
    BlockFile,
    Generation,
    Origin,
    read_generation,
    remove_unused,
    replaced_files,
    write_generation,
)
from simonides.index.graph import LINK_CODES, Graph, edges_of, graph_arrays

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.index.conftest import MakeBlock, MakeRow

    from simonides.index.block import Block

FILES = FileLayer()
ORIGIN = Origin("b1", "e1", 7, "ab" * 16, 3, "stub", "words")
GRAPH = (
    Graph.empty()
    .extended(
        edges_of([(1, 0, LINK_CODES["semantic"], 0.75), (5, 2, LINK_CODES["session"], 1.0)]),
        edges_of([(0, 3, 0, 1.0), (4, 3, 0, 1.0), (5, 1, 0, 1.0)]),
        last_link=7,
        last_mention=9,
    )
    .sealed(np.empty(0, np.int64))
)
NAMES = ("manifest.json", "block-0.arr", "expired.arr", "graph.arr")


@pytest.fixture
def block(make_row: MakeRow, make_block: MakeBlock) -> Block:
    rows = [make_row(n, f"fuse word{n}", [n, 1, 2], kind=n % 3) for n in range(6)]
    return join_blocks([make_block(rows)], {}, 3)


@pytest.fixture
def folder(tmp_path: Path, block: Block) -> Path:
    """An index whose generation 1 holds one block, two stamps, two links and three mentions."""
    write_generation(FILES, tmp_path / "index", 1, ORIGIN, [block], {4: 99, 2: 77}, GRAPH)
    return tmp_path / "index"


def arrays_of(graph: Graph) -> dict[str, tuple[str, list[float]]]:
    return {name: (array.dtype.str, array.tolist()) for name, array in graph_arrays(graph).items()}


def same(one: Block, other: Block) -> bool:
    mine, yours = block_arrays(one), block_arrays(other)
    return mine.keys() == yours.keys() and all(
        mine[name].tolist() == yours[name].tolist() and mine[name].dtype == yours[name].dtype for name in mine
    )


@pytest.mark.parametrize("check", [False, True])
def test_a_generation_comes_back_as_it_was(folder: Path, block: Block, check: bool) -> None:
    opened = read_generation(FILES, folder, 1, check=check)
    assert (opened.number, opened.origin, opened.rows) == (1, ORIGIN, 6)
    assert opened.files == (BlockFile(1, "block-0.arr", 0, 6),)
    assert len(opened.blocks) == 1
    assert same(opened.blocks[0], block)
    assert opened.expired == {2: 77, 4: 99}
    assert arrays_of(opened.graph) == arrays_of(GRAPH)
    assert (opened.graph.last_link, opened.graph.last_mention) == (7, 9)
    assert FILES.names(folder / "1") == sorted(NAMES)


def test_a_later_generation_keeps_earlier_files_where_they_are(
    folder: Path, block: Block, make_row: MakeRow, make_block: MakeBlock
) -> None:
    earlier = read_generation(FILES, folder, 1)
    newer = join_blocks([make_block([make_row(6, "lamp", [1, 1, 1])], start=6)], {}, 3)
    origin = replace(ORIGIN, sequence=9, log_hash="cd" * 16)
    write_generation(FILES, folder, 5, origin, [*earlier.files, newer], {}, Graph.empty())
    opened = read_generation(FILES, folder, 5, check=True)
    assert [(file.generation, file.start, file.rows) for file in opened.files] == [(1, 0, 6), (5, 6, 1)]
    assert same(opened.blocks[0], block)
    assert same(opened.blocks[1], newer)
    assert (opened.rows, opened.expired, opened.origin) == (7, {}, origin)
    assert arrays_of(opened.graph) == arrays_of(Graph.empty()), "the graph is written whole each time"
    assert FILES.names(folder / "5") == ["block-6.arr", "expired.arr", "graph.arr", "manifest.json"]


def test_a_generation_of_nothing_is_a_generation(tmp_path: Path) -> None:
    write_generation(FILES, tmp_path, 1, ORIGIN, [], {}, Graph.empty())
    opened = read_generation(FILES, tmp_path, 1, check=True)
    assert (opened.rows, opened.blocks, opened.expired) == (0, (), {})
    assert arrays_of(opened.graph) == arrays_of(Graph.empty())


def test_a_generation_is_never_written_twice(folder: Path, block: Block) -> None:
    before = {name: (folder / "1" / name).read_bytes() for name in NAMES}
    with pytest.raises(FileExistsError):
        write_generation(FILES, folder, 1, ORIGIN, [block], {}, GRAPH)
    assert {name: (folder / "1" / name).read_bytes() for name in NAMES} == before


def test_the_manifest_is_written_last_and_then_the_folder_is_synced(tmp_path: Path, block: Block) -> None:
    done: list[str] = []

    class Watched(FileLayer):
        def make_folder(self, folder: Path) -> None:
            done.append(f"make {folder.name}")
            super().make_folder(folder)

        def write(self, path: Path, pieces: object) -> None:
            done.append(f"write {path.name}")
            super().write(path, pieces)  # type: ignore[arg-type]

        def sync_folder(self, folder: Path) -> None:
            done.append(f"sync {folder.name}")
            super().sync_folder(folder)

    write_generation(Watched(), tmp_path / "index", 3, ORIGIN, [block], {}, GRAPH)
    assert done == [
        "make 3", "sync index", "write block-0.arr", "write expired.arr", "write graph.arr",
        "write manifest.json", "sync 3",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_of_any_file_is_found_by_a_check(folder: Path, name: str) -> None:
    path = folder / "1" / name
    whole = path.read_bytes()
    opened = read_generation(FILES, folder, 1, check=True)
    survived, said = 0, set[str]()
    for place in range(0, len(whole), 1 + len(whole) // 400):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            again = read_generation(FILES, folder, 1, check=True)
        except DamagedError as error:
            said.add(str(error))
        else:
            # Fill between arrays; nobody reads it, and everything that is read is as it was.
            survived += 1
            assert whole[place] == 0
            assert (again.origin, again.files, again.expired) == (opened.origin, opened.files, opened.expired)
            assert same(again.blocks[0], opened.blocks[0])
            assert arrays_of(again.graph) == arrays_of(opened.graph)
    assert name != "manifest.json" or survived == 0
    assert said
    assert all(str(path) in problem and "delete the index folder" in problem for problem in said)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.9])
def test_a_file_that_is_cut_short_is_refused_even_without_a_check(
    folder: Path, name: str, keep: float
) -> None:
    path = folder / "1" / name
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(DamagedError, match="delete the index folder"):
        read_generation(FILES, folder, 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_gone_is_missing(folder: Path, name: str) -> None:
    (folder / "1" / name).unlink()
    with pytest.raises(FileNotFoundError):
        read_generation(FILES, folder, 1)
    with pytest.raises(FileNotFoundError):
        read_generation(FILES, folder, 2)


class Bomb:
    """Writes a marker when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self.marker).touch, (self.marker,))


@pytest.mark.fault("X5")
@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_in_place_of_a_file_is_damage_and_does_not_run(
    folder: Path, tmp_path: Path, name: str
) -> None:
    marker = tmp_path / "marker"
    (folder / "1" / name).write_bytes(pickle.dumps(Bomb(marker)))
    for check in (False, True):
        with pytest.raises(DamagedError):
            read_generation(FILES, folder, 1, check=check)
    assert not marker.exists()


@pytest.mark.parametrize(
    "change",
    [{"bank": "b2"}, {"epoch": "e2"}, {"dimension": 4}, {"embedder": "other"}, {"analyser": "other"}],
)
def test_a_block_of_another_bank_or_origin_is_refused(
    folder: Path, block: Block, change: dict[str, object]
) -> None:
    path = folder / "1" / "block-0.arr"
    path.unlink()
    about = {**origin_mapping(ORIGIN), "start": 0, **change}
    write_arrays(FILES, path, block_arrays(block), about)
    with pytest.raises(DamagedError, match="belongs elsewhere"):
        read_generation(FILES, folder, 1)


def origin_mapping(origin: Origin) -> dict[str, object]:
    return {name: getattr(origin, name) for name in Origin.__dataclass_fields__}


def test_a_block_that_starts_elsewhere_or_has_other_rows_is_refused(
    folder: Path, make_row: MakeRow, make_block: MakeBlock
) -> None:
    path = folder / "1" / "block-0.arr"
    other = join_blocks([make_block([make_row(0)])], {}, 3)
    for start in (0, 6):
        path.unlink()
        write_arrays(FILES, path, block_arrays(other), {**origin_mapping(ORIGIN), "start": start})
        with pytest.raises(DamagedError, match="belongs elsewhere"):
            read_generation(FILES, folder, 1)


def test_a_block_without_all_its_arrays_is_refused(folder: Path, block: Block) -> None:
    path = folder / "1" / "block-0.arr"
    path.unlink()
    arrays = block_arrays(block)
    del arrays["vector.bits"]
    write_arrays(FILES, path, arrays, {**origin_mapping(ORIGIN), "start": 0})
    with pytest.raises(DamagedError, match=r"vector\.bits"):
        read_generation(FILES, folder, 1)


@pytest.mark.parametrize("name", ["expired.arr", "graph.arr"])
def test_stamps_and_edges_of_another_generation_are_refused(folder: Path, name: str) -> None:
    other = replace(ORIGIN, sequence=8)
    write_generation(FILES, folder, 2, other, [], {1: 5}, GRAPH)
    (folder / "1" / name).write_bytes((folder / "2" / name).read_bytes())
    with pytest.raises(DamagedError, match=rf"{re.escape(name)}: belongs elsewhere"):
        read_generation(FILES, folder, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"origin": {}},
        {"origin": None},
        {"blocks": [{}]},
        {"blocks": None},
    ],
)
def test_a_manifest_of_another_form_is_refused(folder: Path, change: dict[str, object]) -> None:
    path = folder / "1" / "manifest.json"
    body = json.loads(json.loads(path.read_bytes())["body"])
    text = json.dumps({**body, **change})
    path.write_text(json.dumps({"crc32": zlib.crc32(text.encode()), "body": text}), encoding="utf-8")
    with pytest.raises(DamagedError, match=r"manifest\.json"):
        read_generation(FILES, folder, 1)


@pytest.mark.parametrize("body", [b"", b"[]", b"3", b"null", b"{}", b'{"body": 3, "crc32": 0}', b"\xff\xfe"])
def test_a_file_that_is_no_manifest_is_refused(folder: Path, body: bytes) -> None:
    (folder / "1" / "manifest.json").write_bytes(body)
    with pytest.raises(DamagedError):
        read_generation(FILES, folder, 1)


def test_only_older_folders_that_nobody_uses_are_removed(tmp_path: Path) -> None:
    for name in ("1", "2", "3", "4", "5", "6", "10", "notes"):
        (tmp_path / name).mkdir()
    files = (BlockFile(2, "block-0.arr", 0, 1), BlockFile(5, "block-1.arr", 1, 1))
    remove_unused(FILES, tmp_path, Generation(5, ORIGIN, files, (), {}, Graph.empty(), 4))
    assert FILES.names(tmp_path) == ["10", "2", "4", "5", "6", "notes"]


def test_a_graph_may_stay_where_it_is(folder: Path, block: Block) -> None:
    earlier = read_generation(FILES, folder, 1)
    origin = replace(ORIGIN, sequence=9, log_hash="cd" * 16)
    write_generation(FILES, folder, 2, origin, earlier.files, {}, 1)
    assert FILES.names(folder / "2") == ["expired.arr", "manifest.json"]
    opened = read_generation(FILES, folder, 2, check=True)
    assert (opened.number, opened.graph_at, earlier.graph_at) == (2, 1, 1)
    assert arrays_of(opened.graph) == arrays_of(GRAPH)
    again = read_generation(FILES, folder, 2, check=True, known=earlier)
    assert again.graph is earlier.graph
    assert again.blocks[0] is earlier.blocks[0]
    write_generation(FILES, folder, 3, origin, [block], {}, 1)
    remove_unused(FILES, folder, read_generation(FILES, folder, 3))
    assert (FILES.names(folder), FILES.names(folder / "1")) == (["1", "3"], ["graph.arr"])
    assert arrays_of(read_generation(FILES, folder, 3, check=True).graph) == arrays_of(GRAPH)
    write_generation(FILES, folder, 4, replace(origin, embedder="another"), [], {}, 1)
    with pytest.raises(DamagedError, match=r"graph\.arr: belongs elsewhere"):
        read_generation(FILES, folder, 4)


def test_replaced_files_go_from_folders_that_stay(
    folder: Path, make_row: MakeRow, make_block: MakeBlock
) -> None:
    first = read_generation(FILES, folder, 1)
    newer = join_blocks([make_block([make_row(6, "lamp", [1, 1, 1])], start=6)], {}, 3)
    write_generation(FILES, folder, 2, ORIGIN, [*first.blocks, newer], {}, GRAPH)
    second = read_generation(FILES, folder, 2)
    write_generation(FILES, folder, 3, ORIGIN, [second.files[0], newer], {}, GRAPH)
    third = read_generation(FILES, folder, 3, check=True)
    assert {path.name for path in replaced_files(FILES, folder, third)} == {
        "block-6.arr", "expired.arr", "graph.arr", "manifest.json"
    }  # fmt: skip
    remove_unused(FILES, folder, third)
    assert replaced_files(FILES, folder, third) == []
    assert (FILES.names(folder), FILES.names(folder / "2")) == (["2", "3"], ["block-0.arr"])
    assert read_generation(FILES, folder, 3, check=True).rows == 7


@pytest.mark.parametrize("name", ["block-0.arr", "graph.arr"])
def test_what_is_known_has_to_be_there_all_the_same(folder: Path, name: str) -> None:
    earlier = read_generation(FILES, folder, 1)
    write_generation(FILES, folder, 2, ORIGIN, earlier.files, {}, 1)
    (folder / "1" / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        read_generation(FILES, folder, 2, known=earlier)
