from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.unit.backends.embedded.conftest import log_change

from simonides.backends.embedded.catch_up import catch_up, origin_of
from simonides.backends.embedded.change_log import EXPIRE, link_hash, read_meta, write_counters
from simonides.backends.embedded.connection import write_transaction
from simonides.errors import DamagedError, UnavailableError
from simonides.index.block import block_arrays, join_blocks
from simonides.index.files import FileLayer
from simonides.index.generation import read_generation, write_generation
from simonides.index.graph import graph_arrays
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.backends.embedded.conftest import Desk

    from simonides.backends.embedded.bank import EmbeddedBank
    from simonides.index.snapshot import IndexSnapshot

TEXTS = [f"fuse number {n} in cellar {n % 3}" for n in range(10)]


@pytest.fixture
def indexed(desk: Desk, small_merges: int) -> EmbeddedBank:
    """A bank of 12 rows in several blocks and a tail, with one row forgotten."""
    bank = desk.open()
    ids: list[str] = []
    for start in range(0, 10, 2):
        ids += desk.retain(bank, *TEXTS[start : start + 2])
    desk.forget(bank, ids[3:4])
    desk.retain(bank, "a lamp in the cellar", {"text": "fuse", "acl": ["ada"], "tags": ["t"], "path": "p"})
    with bank.reading() as reading:
        assert reading.meta.generation > 0
        assert reading.snapshot.blocks[-1].start > 0, "something is sealed and something is in the tail"
    return bank


def plain(snapshot: IndexSnapshot) -> dict[str, Any]:
    """Everything in a snapshot, whatever its blocks."""
    whole = join_blocks(snapshot.blocks, snapshot.expired, snapshot.dimension)
    graph = snapshot.graph.sealed(np.flatnonzero(snapshot.column("expired_at") == BEGINNING))
    arrays = block_arrays(whole) | {f"graph.{name}": array for name, array in graph_arrays(graph).items()}
    return {name: (array.shape, array.tobytes()) for name, array in arrays.items()} | {
        "labels": list(snapshot.labels),
        "label_sets": list(snapshot.label_sets),
        "rest": (snapshot.rows, snapshot.sequence, snapshot.last_ingested),
    }


def content(bank: EmbeddedBank) -> dict[str, Any]:
    with bank.reading() as reading:
        return plain(reading.snapshot)


def test_an_empty_bank_has_an_empty_snapshot(desk: Desk) -> None:
    with desk.open().reading() as reading:
        assert (reading.snapshot.rows, reading.snapshot.blocks, reading.snapshot.sequence) == (0, (), 0)


def test_each_of_two_processes_sees_what_the_other_wrote(desk: Desk) -> None:
    one, other = desk.open(), desk.open()
    first = desk.retain(one, "fuse")
    assert desk.search(other, "fuse").ids == set(first)
    second = desk.retain(other, {"text": "lamp fuse", "tags": ["new"], "path": "new"})
    assert desk.search(one, "fuse").ids == set(first + second)
    assert [
        memory for memory, _ in desk.search(one, "lamp", tags=("new",), tags_match="exact").lexical
    ] == second
    desk.forget(one, first)
    assert desk.search(other, "fuse").ids == set(second)
    assert content(one) == content(other)


def test_a_generation_that_another_process_published_is_picked_up(desk: Desk) -> None:
    one, other = desk.open(), desk.open()
    desk.retain(one, *TEXTS)
    before = desk.search(other, "fuse number 3")
    assert one.merge_if_due(force=True)
    assert desk.search(other, "fuse number 3") == before
    with other.reading() as reading:
        assert reading.meta.generation == reading.snapshot.generation == 1
    assert other.stats()["tail_rows"] == 0, "its own tail is let go"
    desk.retain(one, "lamp")
    assert content(one) == content(other)
    assert other.problems() == []


def test_a_process_that_merges_after_another_goes_on_from_there(desk: Desk) -> None:
    one, other = desk.open(), desk.open()
    for turn in range(6):
        desk.retain(one if turn % 2 else other, f"fuse {turn}")
        assert (other if turn % 2 else one).merge_if_due(force=True)
    assert content(one) == content(other) == content(desk.open())
    assert one.verify().ok
    assert (one.problems(), other.problems()) == ([], [])


@pytest.mark.spec("DF-06")
def test_a_snapshot_is_the_same_however_it_came_about(desk: Desk, indexed: EmbeddedBank) -> None:
    followed = content(indexed)
    reopened = content(desk.open())
    indexed.merge_if_due(force=True)
    merged = content(indexed)
    shutil.rmtree(desk.place / "bank" / "index")
    rebuilt = content(desk.open())
    assert followed == reopened == merged == rebuilt


@pytest.mark.spec("DF-06")
@pytest.mark.parametrize("moment", ["while open", "before reopening"])
def test_deleting_the_index_changes_no_answer(desk: Desk, indexed: EmbeddedBank, moment: str) -> None:
    queries = ["fuse number 3", "cellar", "lamp", "nothing of the kind"]
    before = [desk.search(indexed, query) for query in queries]
    shutil.rmtree(desk.place / "bank" / "index")
    bank = indexed if moment == "while open" else desk.open()
    assert repr([desk.search(bank, query) for query in queries]) == repr(before)
    assert repr([desk.search(bank, query) for query in queries]) == repr(before), "also once it is back"
    (memory,) = desk.retain(bank, "one more fuse")
    assert memory in desk.search(bank, "fuse").ids
    # A process that has the files mapped goes on with them; the next one to open the bank writes them anew.
    desk.search(desk.open(), "fuse")
    assert bank.verify().ok
    assert desk.open().verify().ok


def test_a_merge_after_the_index_was_deleted_under_an_open_bank_heals_by_itself(
    desk: Desk, indexed: EmbeddedBank
) -> None:
    shutil.rmtree(desk.place / "bank" / "index")
    ids = desk.retain(indexed, *(f"late fuse {n}" for n in range(6)))
    assert set(ids) <= desk.search(indexed, "late").ids
    assert content(indexed) == content(desk.open())
    assert indexed.verify().ok
    assert indexed.problems() == []


def test_what_was_missing_is_published_again_and_then_no_problem(desk: Desk, indexed: EmbeddedBank) -> None:
    with indexed.reading() as reading:
        generation = reading.meta.generation
    shutil.rmtree(desk.place / "bank" / "index")
    bank = desk.open()
    assert len(desk.search(bank, "fuse").lexical) == 10
    assert bank.problems() == [f"generation {generation} of the index is missing"]
    assert desk.index_files() != [], "the first reading published it"
    desk.search(bank, "fuse")
    assert bank.problems() == []
    other = desk.open()
    desk.search(other, "fuse")
    assert other.problems() == []


def flip_header(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[100] ^= 4
    path.write_bytes(body)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-50])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [flip_header, cut, empty])
@pytest.mark.parametrize("name", ["block-0.arr", "manifest.json", "expired.arr", "graph.arr"])
def test_a_damaged_index_file_is_rebuilt_and_reported(
    desk: Desk, indexed: EmbeddedBank, harm: Callable[[Path], None], name: str
) -> None:
    before = desk.search(indexed, "fuse number 3")
    newest = max(int(path.name) for path in (desk.place / "bank" / "index").iterdir())
    indexed.close()
    (path,) = (
        p
        for p in (desk.place / "bank" / "index").rglob(name)
        if name[0] == "b" or p.parent.name == str(newest)
    )
    if name in {"expired.arr", "graph.arr"} and harm is cut:
        path.write_bytes(path.read_bytes()[:40])
    else:
        harm(path)
    bank = desk.open()
    with bank.reading():
        (problem,) = bank.problems()
    assert str(path) in problem
    assert "will be rebuilt" in problem
    assert repr(desk.search(bank, "fuse number 3")) == repr(before)
    desk.search(bank, "fuse")
    assert bank.problems() == []
    assert bank.verify().ok


class Bomb:
    """Writes a marker when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self.marker).touch, (self.marker,))


@pytest.mark.fault("X5")
def test_pickles_in_place_of_the_index_are_damage_and_do_not_run(desk: Desk, indexed: EmbeddedBank) -> None:
    before = desk.search(indexed, "fuse number 3")
    indexed.close()
    marker = desk.place / "marker"
    for number, name in enumerate(desk.index_files()):
        copy = f"copy {number}"
        shutil.copytree(desk.place / "bank", desk.place / copy)
        (desk.place / copy / "index" / name).write_bytes(pickle.dumps(Bomb(marker)))
        bank = desk.open(copy)
        (report, again) = bank.verify(), bank.verify()
        used = any(f"/index/{name}:" in problem for problem in report.problems)
        assert used or report.ok, "the manifest of an earlier generation is read by nobody"
        assert again.ok
        assert repr(desk.search(bank, "fuse number 3")) == repr(before)
    assert not marker.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"bank": "another"},
        {"epoch": "another"},
        {"log_hash": "00" * 16},
        {"embedder": "another"},
        {"analyser": "another"},
        {"dimension": 7},
        {"sequence": 10_000},
    ],
)
def test_an_index_that_was_made_from_other_rows_is_rebuilt(
    desk: Desk, indexed: EmbeddedBank, change: dict[str, Any]
) -> None:
    before = desk.search(indexed, "fuse number 3")
    with indexed.reading() as reading:
        number = reading.meta.generation
        blocks = [join_blocks(reading.snapshot.blocks, reading.snapshot.expired, 32)]
        graph = reading.snapshot.graph.sealed(np.empty(0, np.int64))
        origin = origin_of(reading.connection, reading.meta, sequence=reading.meta.sequence)
    files = FileLayer()
    index = desk.place / "bank" / "index"
    assert read_generation(files, index, number).origin.bank == origin.bank
    indexed.close()
    shutil.rmtree(index)
    write_generation(files, index, number, replace(origin, **change), blocks, {}, graph)
    bank = desk.open()
    with bank.reading():
        assert bank.problems() == [f"generation {number} of the index was made from other rows"]
    assert repr(desk.search(bank, "fuse number 3")) == repr(before)
    desk.search(bank, "fuse")
    assert bank.problems() == []


def test_a_restored_older_database_beside_a_newer_index_is_noticed(desk: Desk, indexed: EmbeddedBank) -> None:
    indexed.close()
    database = desk.place / "bank" / "memory.db"
    older = database.read_bytes()
    bank = desk.open()
    desk.retain(bank, *(f"lamp {n}" for n in range(9)))
    desk.search(bank, "lamp")
    bank.close()
    newest = max(int(path.name) for path in (desk.place / "bank" / "index").iterdir())
    database.write_bytes(older)
    # Its own generation may be gone; even the newer one under its number must not pass for it.
    desk.sql("UPDATE meta SET generation = ?", newest)
    again = desk.open()
    assert [memory for memory, _ in desk.search(again, "lamp").lexical] == [
        memory.id for memory in desk.all(again) if "lamp" in memory.text
    ]
    assert again.verify().ok


def test_a_generation_that_vanishes_while_it_is_opened_is_asked_for_again(
    desk: Desk, indexed: EmbeddedBank
) -> None:
    class Vanishing(FileLayer):
        """Another process publishes a newer generation, and deletes this one, before it is read."""

        times = 1

        def read(self, path: Path) -> bytes:
            if self.times:
                self.times -= 1
                desk.retain(indexed, f"late fuse {self.times}")
                assert indexed.merge_if_due(force=True)
            return super().read(path)

    files = Vanishing()
    bank = desk.open(files=files)
    with bank.reading() as reading:
        assert files.times == 0
        assert reading.snapshot.generation == reading.meta.generation
        assert bank.problems() == []
    assert content(bank) == content(indexed)


def test_a_generation_that_keeps_vanishing_is_not_chased_for_ever(desk: Desk, indexed: EmbeddedBank) -> None:
    class Fleeting(FileLayer):
        def read(self, path: Path) -> bytes:
            desk.sql("UPDATE meta SET generation = generation + 1")
            raise FileNotFoundError(path)

    bank = desk.open(files=Fleeting())
    with pytest.raises(UnavailableError, match="was replaced 5 times while it was opened; try again"):
        desk.search(bank, "fuse")


def test_an_unknown_operation_in_the_log_is_damage(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    desk.search(bank, "fuse")
    ((before,),) = desk.sql("SELECT log_hash FROM changes")
    after = link_hash(before, 2, "edit", 0, 0)
    put = "PRAGMA ignore_check_constraints = ON; INSERT INTO changes VALUES (2, 'edit', 0, 0, ?)"
    desk.sql(put, after)
    desk.sql("UPDATE meta SET sequence = 2, log_hash = ?", after)
    with pytest.raises(DamagedError, match="unknown operation 'edit'"):
        desk.search(bank, "fuse")


def test_catching_up_with_nothing_new_gives_the_same_snapshot(desk: Desk, indexed: EmbeddedBank) -> None:
    with indexed.reading() as first:
        pass
    with indexed.reading() as second:
        assert second.snapshot is first.snapshot
        assert indexed.cache.position is not None
        again = catch_up(
            second.connection,
            second.meta,
            indexed.cache.position,
            FileLayer(),
            desk.place / "bank" / "index",
            None,
        )
        assert again.snapshot is first.snapshot


def test_an_expiry_is_laid_over_without_a_merge(desk: Desk, indexed: EmbeddedBank) -> None:
    before = content(indexed)
    with write_transaction(indexed._connections) as connection:
        for ordinal in (0, 11):
            connection.execute(
                "UPDATE memories SET expired_at = ? WHERE ordinal = ?", (desk.now + 100, ordinal)
            )
            write_counters(
                connection, log_change(connection, read_meta(connection), EXPIRE, ordinal, desk.now + 100)
            )
    with indexed.reading() as reading:
        stamps = reading.snapshot.column("expired_at")
        assert (stamps[0], stamps[11]) == (desk.now + 100,) * 2
    assert content(indexed) != before
    assert content(indexed) == content(desk.open())
    indexed.merge_if_due(force=True)
    assert content(indexed) == content(desk.open())
    shutil.rmtree(desk.place / "bank" / "index")
    assert content(indexed) == content(desk.open())
    assert indexed.verify().ok


def test_a_renewed_epoch_means_that_the_rows_are_others(desk: Desk, indexed: EmbeddedBank) -> None:
    before = content(indexed)
    ((last, stamp),) = desk.sql("SELECT ordinal, ingested_at FROM memories ORDER BY 1 DESC LIMIT 1")
    later = stamp + 5
    desk.sql("UPDATE memories SET expired_at = ? WHERE ordinal = ?", later, last)
    desk.sql("UPDATE meta SET epoch = 'restored'")
    after = content(indexed)
    assert after["column.expired_at"] != before["column.expired_at"]
    assert {**after, "column.expired_at": None} == {**before, "column.expired_at": None}
    assert after == content(desk.open())


def test_the_manifest_says_what_the_index_is_made_of(desk: Desk, indexed: EmbeddedBank) -> None:
    with indexed.reading() as reading:
        number = reading.meta.generation
    manifest = json.loads((desk.place / "bank" / "index" / str(number) / "manifest.json").read_bytes())
    body = json.loads(manifest["body"])
    assert body["origin"]["bank"] == "b1"
    assert body["origin"]["dimension"] == 32
    assert sum(block["rows"] for block in body["blocks"]) <= 12
