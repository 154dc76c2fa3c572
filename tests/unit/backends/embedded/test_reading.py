from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.backends.embedded.reading import read_candidates, read_index_rows, read_memories
from simonides.errors import DamagedError
from simonides.index.columns import COLUMNS
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision
from simonides.records.kind import KIND_CODES, LAYER_CODES, Kind, Layer, Utterance

if TYPE_CHECKING:
    from tests.unit.backends.embedded.conftest import Desk


def test_records_come_in_the_order_asked_for(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, *(f"fuse {n}" for n in range(4)))
    with bank.reading() as reading:
        assert [m.text for m in reading.memories([3, 0, 2])] == ["fuse 3", "fuse 0", "fuse 2"]
        assert [m.ordinal for m in reading.memories(np.array([1, 1]).tolist())] == [1, 1]
        assert reading.memories([]) == []


def test_more_records_than_one_statement_takes_are_read(desk: Desk) -> None:
    bank = desk.open()
    desk.embedder = None
    desk.retain(bank, *(f"fuse {n}" for n in range(1_203)))
    wanted = list(reversed(range(1_203)))
    with bank.reading() as reading:
        assert [m.ordinal for m in read_memories(reading.connection, wanted)] == wanted


def test_every_value_of_a_record_stands_in_its_field(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    texts = ("text", "context", "relation", "expansion", "source", "superseded_by")
    numbers = (
        "version",
        "valid_from",
        "valid_to",
        "ingested_at",
        "expired_at",
        "proof_count",
        "access_count",
    )
    plain = {name: f"the {name}" for name in texts} | {name: n for n, name in enumerate(numbers, 1)}
    others = {"salience": 0.25, "confidence": 0.75, "last_access": 90, "state": 3, "kind": "code"}
    dates = {"occurred_from": 70, "occurred_to": 80, "occurred_precision": "week"}
    changed = {**plain, **others, **dates, "layer": "codebase", "metadata": '{"a": 1}'}
    desk.sql(f"UPDATE memories SET {', '.join(f'{name} = ?' for name in changed)}", *changed.values())
    sources = {name: f"the {name}" for name in ("document", "session", "speaker", "author")}
    desk.sql(f"UPDATE episodes SET trust = 0.5, {', '.join(f'{n} = ?' for n in sources)}", *sources.values())
    desk.sql("INSERT INTO labels(number, text) VALUES(101, 'the path'), (102, 'the project')")
    desk.sql("INSERT INTO label_sets(number, names) VALUES(101, '[\"a tag\"]'), (102, '[\"a reader\"]')")
    desk.sql("UPDATE memories SET path = 101, project = 102, tags = 101, acl = 102")
    with bank.reading() as reading:
        (found,) = read_candidates(reading.connection, [0])
    assert {name: getattr(found, name) for name in (*texts, *sources)} == {
        name: f"the {name}" for name in (*texts, *sources)
    }
    times = [
        found.valid_from_micros,
        found.valid_to_micros,
        found.ingested_at_micros,
        found.expired_at_micros,
    ]
    assert [found.version, *times, found.proof_count, found.access_count] == [1, 2, 3, 4, 5, 6, 7]
    assert (found.ordinal, len(found.id), found.metadata) == (0, 16, {"a": 1})
    assert (found.path, found.project, found.tags, found.acl) == (
        "the path",
        "the project",
        ("a tag",),
        ("a reader",),
    )
    assert (found.salience, found.confidence, found.trust) == (0.25, 0.75, 0.5)
    assert (found.last_access_micros, found.state) == (90, 3)
    assert (found.kind, found.layer) == (Kind.CODE, Layer.CODEBASE)
    assert found.occurred == Interval(70, 80, Precision.WEEK)


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 70])
def test_any_number_of_rows_is_read(desk: Desk, count: int) -> None:
    bank = desk.open()
    desk.embedder = None
    desk.retain(bank, *(f"fuse {n}" for n in range(70)))
    wanted = [(n * 11) % 70 for n in range(count)]
    with bank.reading() as reading:
        assert [m.text for m in reading.memories(wanted)] == [f"fuse {n}" for n in wanted]
        assert [source.text for source in reading.sources(wanted)] == [f"fuse {n}" for n in wanted]
        signatures = reading.signatures(wanted)
        assert signatures.dtype == np.uint32
        assert [row.tolist() for row in signatures] == [reading.signatures([n])[0].tolist() for n in wanted]


def test_what_is_gone_is_an_error_and_not_a_shorter_list(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    with bank.reading() as reading, pytest.raises(DamagedError, match="row 1"):
        reading.memories([0, 1])


def test_versions_come_oldest_first(desk: Desk) -> None:
    bank = desk.open()
    memory, _ = desk.retain(bank, "a", "b")
    with bank.writing(desk.now) as transaction:
        second = transaction.versions.revise(0, text="c")
        transaction.versions.revise(second.ordinal, text="d")
    with bank.reading() as reading:
        found = [(m.version, m.text) for m in reading.versions(memory)]
        assert found == [(1, "a"), (2, "c"), (3, "d")]
        assert reading.versions("missing") == []


def test_an_index_row_holds_a_value_for_every_column(desk: Desk) -> None:
    bank = desk.open()
    (memory, _) = desk.retain(
        bank,
        {
            "text": "fuse lamp fuse",
            "context": "lamp",
            "kind": "code",
            "layer": "working",
            "tags": ["a"],
            "acl": ["ada"],
            "path": "p",
            "project": "house",
            "event_time": "2025",
            "salience": 0.25,
        },
        "plain",
    )
    with bank.reading() as reading:
        first, second = read_index_rows(reading.connection, reading.meta.embedder, 0, 2)
    assert first.values is not None
    assert set(first.values) == set(COLUMNS)
    expected = {
        "kind": KIND_CODES[Kind.CODE],
        "layer": LAYER_CODES[Layer.WORKING],
        "id_key": int(memory, 16),
        "root": 0,
        "ingested_at": desk.now,
        "expired_at": FOREVER,
        "path": 1,
        "project": 2,
        "tags": 1,
        "acl": 2,
        "salience": 0.25,
        "confidence": 1.0,
        "proof_count": 1,
        "access_count": 0,
        "last_access": BEGINNING,
        "asks": 0,
        "utterance": Utterance.STATEMENT,
        "state": 0,
        "speaker": 0,
    }
    assert {name: first.values[name] for name in expected} == expected
    assert first.values["occurred_from"] < first.values["occurred_to"]
    assert first.terms == {"text": {"fuse": 2, "lamp": 1}, "context": {"lamp": 1, "2025": 1}}
    assert first.codes is not None
    assert first.codes.dtype == np.int8
    assert first.codes.shape == (32,)
    assert second.values is not None
    assert second.values["root"] == 1
    assert (second.values["occurred_from"], second.values["occurred_to"]) == (FOREVER, BEGINNING)


def test_erased_rows_come_as_rows_without_values(desk: Desk) -> None:
    bank = desk.open()
    ids = desk.retain(bank, *"abcdef")
    desk.forget(bank, [ids[n] for n in (0, 2, 3, 5)])
    with bank.reading() as reading:
        for start, stop in ((0, 6), (2, 4), (3, 6), (1, 2), (5, 6), (4, 4)):
            rows = list(read_index_rows(reading.connection, reading.meta.embedder, start, stop))
            assert [row.ordinal for row in rows] == list(range(start, stop))
            assert [row.ordinal for row in rows if row.values is not None] == [
                n for n in (1, 4) if start <= n < stop
            ]
            assert all(not row.terms and row.codes is None for row in rows if row.values is None)


def test_vectors_of_another_embedder_are_not_read(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    with bank.reading() as reading:
        (mine,) = read_index_rows(reading.connection, 1, 0, 1)
        (other,) = read_index_rows(reading.connection, 2, 0, 1)
        (none,) = read_index_rows(reading.connection, None, 0, 1)
    assert mine.codes is not None
    assert other.codes is None
    assert none.codes is None
