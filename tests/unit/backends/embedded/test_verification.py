from __future__ import annotations

import contextlib
import random
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.backends.embedded.checksums import CHECKSUMS
from simonides.errors import DamagedError
from simonides.index.block import join_blocks
from simonides.index.columns import COLUMNS
from simonides.index.postings import FIELDS, SealedPostings
from simonides.records.audit import VerifyReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import CopyOf
    from tests.unit.backends.embedded.conftest import Desk

    from simonides.backends.embedded.bank import EmbeddedBank
    from simonides.index.block import Block

ITEM = {"text": "canary sings", "context": "cellar", "relation": "states", "event_time": "2025", "path": "p",
        "project": "house", "tags": ["a"], "acl": ["ada"], "source": "call", "metadata": {"n": 1}}  # fmt: skip


@pytest.fixture
def filled(desk: Desk, small_merges: int, copy_of: CopyOf) -> tuple[EmbeddedBank, list[str]]:
    """A bank of 8 rows, some sealed and one forgotten; the ids of the other 7."""

    def make(folder: Path) -> list[str]:
        making = replace(desk, place=folder, opened=[])
        bank = making.open()
        ids = making.retain(bank, *(f"fuse number {n}" for n in range(5)))
        ids += making.retain(bank, ITEM, "lamp", "wire")
        making.forget(bank, [ids.pop(2)])
        assert bank.verify().ok
        bank.close()
        return ids

    ids = copy_of("8 rows to be verified", make, desk.place)
    bank = desk.open()
    with bank.reading():
        return bank, [*ids]


def fresh(desk: Desk) -> EmbeddedBank:
    """The bank as another process opens it."""
    return desk.open()


def test_a_sound_bank_is_ok_and_the_report_says_what_was_looked_at(
    desk: Desk,
    filled: tuple[EmbeddedBank, list[str]],
) -> None:
    bank, _ = filled
    report = bank.verify()
    assert report.ok
    assert report.problems == report.notes == ()
    with bank.reading() as reading:
        blocks = len(reading.snapshot.blocks)
        files = reading.meta.generation
    assert files > 0
    assert report.checked == {
        "file": 2,
        "rows": 7,
        "reembedding": 0,
        "seals": sum(
            desk.sql(f"SELECT count(*) FROM {table}")[0][0] * len(seals) for table, seals in CHECKSUMS.items()
        ),
        "changes": 9,
        "index_files": blocks,
        "arrays": blocks * (len(COLUMNS) + 3 + len(FIELDS) + 3),
        "graph": 3,
        "accesses": 1,
        "upkeep": 0,
        "forgetting": 3,
    }
    assert report.to_dict() == {"ok": True, "checked": dict(report.checked), "problems": [], "notes": []}


def test_an_empty_bank_is_sound(desk: Desk) -> None:
    report = desk.open().verify()
    assert report.ok
    assert report.checked == {
        "file": 2, "rows": 0, "reembedding": 0, "seals": 3, "changes": 0, "index_files": 0, "arrays": 0,
        "graph": 3, "accesses": 1, "upkeep": 0, "forgetting": 3,
    }  # fmt: skip


def test_verifying_changes_nothing(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    before, files = desk.dump(), desk.index_files()
    filled[0].verify()
    assert (desk.dump(), desk.index_files()) == (before, files)


TAMPERINGS: dict[str, Any] = {
    "text": "canary sinks",
    "context": "",
    "relation": "States",
    "kind": "code",
    "layer": "working",
    "source": "Call",
    "metadata": '{"n":2}',
    "terms": b'{"text":{"canary":1}}',
    "content_key": b"x",
    "digest": b"x" * 16,
    "valid_from": 5,
    "valid_from_precision": "day",
    "valid_to": 5,
    "valid_to_precision": "day",
    "ingested_at": 5,
    "occurred_from": 5,
    "occurred_to": None,
    "occurred_precision": "day",
    "path": 0,
    "project": 0,
    "tags": 0,
    "acl": 0,
    "salience": 0.25,
    "confidence": 0.25,
    "proof_count": 2,
    "version": 2,
    "root": 4,
    "expansion": "Who sings?",
    "superseded_by": "x",
    "signature": b"x",
}


@pytest.mark.parametrize("column", TAMPERINGS)
def test_a_changed_value_of_a_row_names_the_memory(
    desk: Desk, filled: tuple[EmbeddedBank, list[str]], column: str
) -> None:
    bank, ids = filled
    desk.sql(f"UPDATE memories SET {column} = ? WHERE id = ?", TAMPERINGS[column], ids[4])
    for one in (bank, fresh(desk)):
        problems = one.verify().problems
        assert any(ids[4] in problem for problem in problems)
        assert not any(other in problem for other in ids if other != ids[4] for problem in problems)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vectors SET codes = CAST(x'2a' || substr(codes, 2) AS BLOB) WHERE ordinal = ?",
        "UPDATE vectors SET codes = substr(codes, 2) WHERE ordinal = ?",
        "UPDATE vectors SET scale = scale * 2 WHERE ordinal = ?",
        "DELETE FROM vectors WHERE ordinal = ?",
    ],
)
def test_a_changed_vector_is_named(
    desk: Desk, filled: tuple[EmbeddedBank, list[str]], statement: str
) -> None:
    bank, ids = filled
    desk.damage(statement, 5)
    named = f"memory {ids[4]}: its row" if statement.startswith("DELETE") else "vectors: row 5, 1"
    for one in (bank, fresh(desk)):
        assert f"{named} is not what was written" in one.verify().problems


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("text", "CAST(x'63e66e617279' AS TEXT)"),  # a flipped bit that leaves no text
        ("metadata", "CAST(x'ff' AS TEXT)"),
        ("source", "CAST(x'c3' AS TEXT)"),
        ("id", "CAST(x'e63132' AS TEXT)"),
        ("id", "'no number'"),
        ("kind", "'sematic'"),
        ("kind", "CAST(x'e6' AS TEXT)"),
        ("layer", "'wornkig'"),
        ("terms", "x'5b7d'"),
        ("terms", "x'ff'"),
        ("metadata", "'{'"),
        ("occurred_precision", "'dya'"),
    ],
)
@pytest.mark.parametrize("sealed", [True, False])
def test_a_row_that_cannot_even_be_read_is_named_and_can_be_forgotten(
    desk: Desk, filled: tuple[EmbeddedBank, list[str]], column: str, value: str, sealed: bool
) -> None:
    bank, ids = filled
    desk.sql(f"UPDATE memories SET {column} = {value} WHERE ordinal = 5")
    for one in (bank, fresh(desk)):
        report = one.verify()
        names = (ids[4], "row 5", "memory no number:")
        assert any(name in problem for name in names for problem in report.problems), report.problems
        assert report.checked["rows"] == 7, "the rows after it are checked all the same"
    # A recall that meets the row says that it is damaged; no error of SQLite or Python comes through.
    for one in (bank, fresh(desk)):
        for use in (lambda one=one: desk.search(one, "canary"), lambda one=one: desk.all(one)):
            with contextlib.suppress(DamagedError):
                use()
    assert desk.sql("SELECT count(*) FROM memories") == [(7,)]
    if column != "id":
        if not sealed:
            shutil.rmtree(desk.place / "bank" / "index")
        assert desk.forget(fresh(desk), [ids[4]]) == 1
        assert fresh(desk).verify().problems == ()
        assert len(desk.search(fresh(desk), "fuse").lexical) == 4


def test_flipped_bits_in_rows_are_all_found(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    _, ids = filled
    draw = random.Random(1)
    columns = {"memories": ["text", "terms", "metadata", "content_key", "context"], "vectors": ["codes"]}
    for _turn in range(40):
        table = draw.choice(list(columns))
        column = draw.choice(columns[table])
        ((kind, whole),) = desk.sql(
            f"SELECT typeof({column}), CAST({column} AS BLOB) FROM {table} WHERE ordinal = 5"
        )
        flipped = bytearray(whole)
        flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
        put = f"UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE ordinal = 5"
        desk.damage(put, bytes(flipped))
        assert any(ids[4] in problem or "row 5" in problem for problem in fresh(desk).verify().problems), (
            column
        )
        desk.sql(put, whole)
        desk.opened.pop().close()
    assert fresh(desk).verify().ok


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE changes SET stamp = stamp + 1 WHERE sequence = 3", "broken at change 3"),
        ("UPDATE changes SET ordinal = 6 WHERE sequence = 3", "broken at change 3"),
        ("UPDATE changes SET operation = 'erase' WHERE sequence = 3", "broken at change 3"),
        ("UPDATE changes SET log_hash = x'00' WHERE sequence = 3", "broken at change 3"),
        ("UPDATE changes SET sequence = 99 WHERE sequence = 3", "broken at change 4"),
        ("DELETE FROM changes WHERE sequence = 3", "broken at change 4"),
        ("DELETE FROM changes WHERE sequence = 1", "broken at change 2"),
        ("DELETE FROM changes WHERE sequence = 9", "ends at change 8, the bank says 9"),
        ("DELETE FROM changes", "ends at change 0, the bank says 9"),
        ("UPDATE meta SET log_hash = x'00'", "ends at change 9, the bank says 9"),
        ("INSERT INTO changes SELECT 10, operation, ordinal, stamp, log_hash FROM changes WHERE sequence = 9",
         "broken at change 10"),
    ],
)  # fmt: skip
def test_a_changed_log_is_found_where_it_breaks(
    desk: Desk, filled: tuple[EmbeddedBank, list[str]], statement: str, says: str
) -> None:
    desk.sql(statement)
    for one in (filled[0], fresh(desk)):
        assert any(says in problem for problem in one.verify().problems)


def test_counters_that_went_back_are_found(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    desk.sql("UPDATE meta SET sequence = 8")
    assert any("ends at change 9, the bank says 8" in p for p in fresh(desk).verify().problems)


def test_a_row_that_vanished_is_found(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    bank, _ = filled
    for ordinal in (5, 7):
        desk.sql("DELETE FROM memories WHERE ordinal = ?", ordinal)
    for one in (bank, fresh(desk)):
        problems = one.verify().problems
        assert "change log: row 5 was added and never erased, and is missing" in problems
        assert "change log: row 7 was added and never erased, and is missing" in problems


def test_a_row_that_the_log_does_not_know_is_found(
    desk: Desk, filled: tuple[EmbeddedBank, list[str]]
) -> None:
    bank, ids = filled
    desk.sql("UPDATE memories SET ordinal = 2 WHERE id = ?", ids[4])
    for one in (bank, fresh(desk)):
        assert "change log: row 2 is there and not in it" in one.verify().problems


@pytest.mark.parametrize("stamp", [5, -(2**63)])
def test_an_expiry_that_the_log_does_not_know_is_found(
    desk: Desk, filled: tuple[EmbeddedBank, list[str]], stamp: int
) -> None:
    bank, ids = filled
    desk.sql("UPDATE memories SET expired_at = ? WHERE id = ?", stamp, ids[4])
    for one in (bank, fresh(desk)):
        assert f"memory {ids[4]}: expired at another time than the change log says" in one.verify().problems


def test_rows_that_point_nowhere_are_found(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    desk.sql("PRAGMA foreign_keys = OFF; DELETE FROM chunks WHERE number = 6")
    problems = fresh(desk).verify().problems
    assert "memory.db: row 5 of memories points at a missing row of chunks" in problems


def test_what_sqlite_finds_is_passed_on(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    ((sql,),) = desk.sql("SELECT sql FROM sqlite_schema WHERE name = 'memories_by_content'")
    desk.sql("DROP INDEX memories_by_content")
    desk.sql("CREATE INDEX memories_by_content ON memories(content_key) WHERE ordinal < 3")
    desk.sql(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ? WHERE name = 'memories_by_content'",
        sql,
    )
    assert any(
        p.startswith("memory.db: ") and "memories_by_content" in p for p in fresh(desk).verify().problems
    )


def test_a_flipped_bit_in_an_index_file_is_found(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    bank, _ = filled
    index = desk.place / "bank" / "index"
    path = next(index.rglob("block-0.arr"))
    body = bytearray(path.read_bytes())
    body[body.index(b"fuse")] ^= 1
    path.write_bytes(body)
    for one in (bank, fresh(desk)):
        assert any(str(path) in problem and "checksum" in problem for problem in one.verify().problems)


def test_a_missing_index_file_is_found(desk: Desk, filled: tuple[EmbeddedBank, list[str]]) -> None:
    path = next((desk.place / "bank" / "index").rglob("block-*.arr"))
    path.unlink()
    assert f"index: {path} is missing; it will be rebuilt" in filled[0].verify().problems


def harmed_arrays() -> dict[str, Callable[[Block], Block]]:
    """Per name of an array, what changes one value of it."""

    def column(name: str) -> Callable[[Block], Block]:
        def harm(block: Block) -> Block:
            changed = block.columns[name].copy()
            changed[1] = 7
            return replace(block, columns={**block.columns, name: changed})

        return harm

    def vector(name: str) -> Callable[[Block], Block]:
        def harm(block: Block) -> Block:
            changed = np.array(getattr(block.vectors, name))
            changed.reshape(-1)[1:2] = changed.reshape(-1)[1:2] * 2 + 1
            return replace(block, vectors=replace(block.vectors, **{name: changed}))

        return harm

    def postings(name: str) -> Callable[[Block], Block]:
        def harm(block: Block) -> Block:
            text = block.postings["text"]
            assert isinstance(text, SealedPostings)
            changed: Any = np.array(getattr(text, name))
            changed[0] += 1
            changes: dict[str, Any] = {name: changed}
            return replace(block, postings={**block.postings, "text": replace(text, **changes)})

        return harm

    return {
        **{f"column {name}": column(name) for name in COLUMNS},
        **{f"vector {name}": vector(name) for name in ("codes", "scales")},
        **{f"postings of text {name}": postings(name) for name in ("frequencies", "lengths")},
    }


@pytest.mark.parametrize("name", harmed_arrays())
def test_an_array_in_memory_that_differs_from_the_rows_is_found(
    filled: tuple[EmbeddedBank, list[str]], name: str
) -> None:
    bank, _ = filled
    with bank.reading() as reading:
        snapshot = reading.snapshot
    first = harmed_arrays()[name](join_blocks(snapshot.blocks[:1], {}, snapshot.dimension))
    assert bank.cache.position is not None
    altered = replace(snapshot, blocks=(first, *snapshot.blocks[1:]))
    bank.cache.position = replace(bank.cache.position, snapshot=altered)
    what = name.rsplit(" ", 1)[0] if name.startswith("postings") else name
    problems = bank.verify().problems
    assert f"index: {what} of rows 0 to {first.stop} differs from the rows" in problems


def test_an_index_of_fewer_rows_is_found(filled: tuple[EmbeddedBank, list[str]]) -> None:
    bank, _ = filled
    assert bank.cache.position is not None
    snapshot = bank.cache.position.snapshot
    bank.cache.position = replace(bank.cache.position, snapshot=replace(snapshot, blocks=snapshot.blocks[:1]))
    rows = snapshot.blocks[0].stop
    assert f"index: holds {rows} rows, the bank 8" in bank.verify().problems


def test_at_most_20_lines_of_each_sort_are_reported_and_all_are_counted(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, *(f"fuse {n}" for n in range(30)))
    desk.sql("UPDATE memories SET context = 'x'")
    desk.sql("UPDATE changes SET stamp = stamp + 1")
    report = bank.verify()
    assert sum(problem.startswith("memory ") for problem in report.problems) == 20
    assert sum(problem.startswith("change log") for problem in report.problems) == 20
    assert (report.checked["rows"], report.checked["changes"]) == (30, 30)


def test_memories_without_a_vector_are_a_note_and_no_problem(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    desk.embedder = None
    desk.retain(bank, "lamp")
    report = bank.verify()
    assert report.ok
    assert report.notes == ("1 versions have no vector; they are found by words",)
    assert VerifyReport({}, ("x",)).ok is False


def test_a_bank_without_an_embedder_has_no_such_note(desk: Desk) -> None:
    desk.embedder = None
    bank = desk.open()
    desk.retain(bank, "fuse")
    assert bank.verify() == VerifyReport(
        {
            "file": 2,
            "rows": 1,
            "reembedding": 0,
            "seals": 7,
            "changes": 1,
            "index_files": 0,
            "arrays": 36,
            "accesses": 1,
            "upkeep": 0,
            "forgetting": 3,
            "graph": 3,
        },
        (),
    )
