from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import EmbedderMismatchError, InputError
from simonides.index.vectors import quantise
from simonides.records.interval import FOREVER, parse_time
from simonides.records.kind import Kind, Layer
from simonides.records.model_identity import ModelIdentity
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from tests.unit.backends.embedded.conftest import Desk

DAY = 86_400_000_000


def at(text: str) -> int:
    return parse_time(text, "time").start


def test_every_field_is_stored_as_given(desk: Desk) -> None:
    bank = desk.open()
    (memory,) = desk.retain(
        bank,
        {
            "text": "the fuse is blown 🟢",
            "kind": "decision",
            "layer": "procedural",
            "context": "cellar",
            "relation": "states",
            "path": "a/b.md",
            "project": "house",
            "tags": ["red", "blue", "red"],
            "acl": ["ben", "ada"],
            "source": "call",
            "metadata": {"b": [1, None], "a": "ü"},
            "event_time": "2025-03",
            "valid_from": "2025-04-01",
            "valid_to": "2027",
            "salience": 0.125,
            "confidence": 0.75,
        },
    )
    (found,) = desk.all(bank)
    assert found.id == memory
    assert (found.text, found.kind, found.layer) == ("the fuse is blown 🟢", Kind.DECISION, Layer.PROCEDURAL)
    assert (found.context, found.relation, found.path, found.project) == (
        "cellar",
        "states",
        "a/b.md",
        "house",
    )
    assert (found.tags, found.acl, found.source) == (("blue", "red"), ("ada", "ben"), "call")
    assert found.metadata == {"a": "ü", "b": [1, None]}
    assert found.occurred == parse_time("2025-03", "t")
    assert (found.valid_from_micros, found.valid_to_micros) == (at("2025-04-01"), at("2027"))
    assert (found.ingested_at_micros, found.expired_at_micros) == (desk.now, FOREVER)
    assert (found.salience, found.confidence, found.proof_count, found.access_count) == (0.125, 0.75, 1, 0)
    assert (found.version, found.ordinal, found.last_access_micros) == (1, 0, None)
    precisions = desk.sql("SELECT valid_from_precision, valid_to_precision, occurred_precision FROM memories")
    assert precisions == [("day", "year", "month")]
    assert desk.sql("SELECT text, source, recorded_at FROM episodes") == [(found.text, "call", desk.now)]
    assert desk.sql("SELECT start, stop FROM chunks") == [(0, len(found.text))]
    ((terms,),) = desk.sql("SELECT terms FROM memories")
    assert json.loads(terms)["text"] == {"the": 1, "fuse": 1, "is": 1, "blown": 1, "🟢": 1}
    assert bank.verify().ok


def test_the_vector_is_stored_with_its_row(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse", "lamp")
    assert desk.embedder is not None
    rows = desk.sql("SELECT ordinal, embedder, scale, codes FROM vectors ORDER BY ordinal")
    for (ordinal, number, scale, codes), text in zip(rows, ("fuse", "lamp"), strict=True):
        stored = quantise(desk.embedder.encode_query(text))
        assert stored is not None
        assert (ordinal, number, scale) == (ordinal, 1, stored[1])
        assert np.frombuffer(codes, np.int8).tolist() == stored[0].tolist()


@pytest.mark.fault("V1")
def test_an_item_without_a_vector_is_stored_without_one(desk: Desk) -> None:
    desk.embedder = StubEmbedder(
        3, {"zero": [0, 0, 0], "nan": [float("nan")] * 3, "huge": [1e38] * 3, "x": [1, 0, 0]}
    )
    bank = desk.open()
    desk.retain(bank, "zero", "nan", "huge", "x")
    assert desk.sql("SELECT ordinal FROM vectors") == [(3,)]
    assert len(desk.search(bank, "zero").lexical) == 1
    report = bank.verify()
    assert report.ok
    assert report.notes == ("3 versions have no vector; they are found by words",)


def test_ids_come_one_per_item_in_order(desk: Desk) -> None:
    bank = desk.open()
    texts = [f"fuse number {n}" for n in range(30)]
    ids = desk.retain(bank, *texts)
    assert len(set(ids)) == 30
    found = {memory.id: memory.text for memory in desk.all(bank)}
    assert [found[memory] for memory in ids] == texts
    assert [memory.ordinal for memory in desk.all(bank)] == list(range(30))


def test_writing_nothing_changes_nothing(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    before = desk.dump()
    assert desk.retain(bank) == []
    assert desk.dump() == before


def test_an_item_that_is_there_already_changes_nothing(desk: Desk) -> None:
    bank = desk.open()
    items = ["fuse", {"text": "lamp", "tags": ["a"], "event_time": "2026", "metadata": {"x": 1}}]
    ids = desk.retain(bank, *items)
    before = desk.dump()
    desk.now += 5 * DAY
    assert desk.retain(bank, *reversed(items)) == ids[::-1]
    assert desk.dump() == before


def test_repeats_within_one_batch_are_one_memory(desk: Desk) -> None:
    bank = desk.open()
    ids = desk.retain(bank, "fuse", "lamp", "fuse", "fuse")
    assert ids[0] == ids[2] == ids[3] != ids[1]
    assert [memory.id for memory in desk.all(bank)] == ids[:2]


def test_without_deduplication_every_item_is_a_memory_of_its_own(desk: Desk) -> None:
    bank = desk.open()
    first = desk.retain(bank, "fuse")
    second = desk.retain(bank, "fuse", "fuse", deduplicate=False)
    assert len(set(first + second)) == 3
    assert desk.retain(bank, "fuse") == first, "the oldest one is found again"


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["a"]},
        {"acl": ["ada"]},
        {"metadata": {"a": 1}},
        {"kind": "code"},
        {"layer": "working"},
        {"context": "x"},
        {"relation": "x"},
        {"path": "x"},
        {"project": "x"},
        {"source": "x"},
        {"event_time": "2020"},
        {"valid_from": "2020"},
        {"valid_to": "2030"},
        {"salience": 0.25},
        {"confidence": 0.25},
    ],
)
def test_the_same_text_that_differs_otherwise_is_another_memory(desk: Desk, change: dict[str, Any]) -> None:
    bank = desk.open()
    first = desk.retain(bank, "fuse")
    second = desk.retain(bank, {"text": "fuse", **change})
    assert first != second
    assert desk.retain(bank, "fuse", {"text": "fuse", **change}) == first + second


def test_what_is_no_longer_true_may_be_said_again(desk: Desk) -> None:
    bank = desk.open()
    item = {"text": "the shop is shut", "valid_to": "2026-03-05"}
    (first,) = desk.retain(bank, item)
    # As a later correction would close it: nothing says any more that it holds until the fifth.
    with bank.writing(desk.now) as transaction:
        transaction.versions.revise(0, valid_to=desk.now + 5)
    desk.now += 6
    (second,) = desk.retain(bank, item)
    assert second != first


def test_a_fact_that_states_a_past_end_is_kept_once(desk: Desk) -> None:
    bank = desk.open()
    item = {"text": "the shop was shut", "valid_from": "2020", "valid_to": "2021"}
    ids = desk.retain(bank, item)
    before = desk.dump()
    assert desk.retain(bank, item) == ids
    assert desk.dump() == before


def test_an_expired_version_is_no_duplicate(desk: Desk) -> None:
    bank = desk.open()
    (first,) = desk.retain(bank, "fuse")
    desk.sql("UPDATE memories SET expired_at = ?", desk.now + 1)
    assert desk.retain(bank, "fuse") != [first]


def test_what_was_forgotten_is_a_new_memory_when_it_is_said_again(desk: Desk) -> None:
    bank = desk.open()
    (first,) = desk.retain(bank, "fuse")
    desk.forget(bank, [first])
    (second,) = desk.retain(bank, "fuse")
    assert second != first


def test_ingested_at_rises_strictly_under_a_clock_that_stands_or_goes_back(desk: Desk) -> None:
    bank = desk.open()
    start = desk.now
    desk.retain(bank, "a", "b", "c")
    desk.retain(bank, "d")
    desk.now -= 60_000_000
    desk.retain(bank, "e")
    desk.now = start + DAY
    desk.retain(bank, "f", "g")
    stamps = [memory.ingested_at_micros for memory in desk.all(bank)]
    assert stamps == [start, start + 1, start + 2, start + 3, start + 4, start + DAY, start + DAY + 1]


def test_two_processes_share_one_clock_of_ingestion(desk: Desk) -> None:
    one, other = desk.open(), desk.open()
    desk.retain(one, "a")
    desk.retain(other, "b")
    desk.retain(one, "c")
    assert [m.ingested_at_micros - desk.now for m in desk.all(one)] == [0, 1, 2]


def test_recorded_at_is_when_it_was_ingested(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(
        bank, {"text": "old", "recorded_at": "2020-05-01"}, "new", {"text": "older", "recorded_at": "2019"}
    )
    old, new, older = desk.all(bank)
    assert (old.ingested_at_micros, old.valid_from_micros) == (at("2020-05-01"), at("2020-05-01"))
    assert new.ingested_at_micros == desk.now, "an import does not move the clock"
    assert older.ingested_at_micros == at("2019")
    assert desk.search(bank, "old", as_of=at("2020-05-01")).ids == {old.id, older.id}
    assert desk.search(bank, "old", as_of=at("2020-05-01") - 1).ids == {older.id}
    assert desk.sql("SELECT recorded_at FROM episodes ORDER BY number")[0] == (at("2020-05-01"),)


def test_ids_depend_on_what_was_written_where_and_when_and_on_nothing_else(desk: Desk) -> None:
    alone, beside = desk.open("one"), desk.open("two")
    desk.retain(beside, *(f"noise {n}" for n in range(5)), recorded_at="2020")
    item = {"text": "fuse", "recorded_at": "2021"}
    assert desk.retain(alone, item) == desk.retain(beside, item)
    (again,) = desk.retain(alone, {**item, "tags": ["a"]})
    assert again not in desk.retain(alone, item), "a taken id is passed over"


@pytest.mark.parametrize(
    ("item", "valid_from", "precision"),
    [
        ({}, None, "instant"),
        ({"event_time": "2025-03"}, "2025-03-01", "month"),
        ({"event_time": "2026-03-01T09:00Z"}, "2026-03-01T09:00Z", "instant"),
        ({"event_time": "2026-03-01T09:00:00.000001Z"}, None, "instant"),
        ({"event_time": "2027"}, None, "instant"),
        ({"event_time": "2026"}, "2026-01-01", "year"),
        ({"event_time": "2025", "valid_from": "2026-02-02"}, "2026-02-02", "day"),
        ({"valid_from": "2030"}, "2030-01-01", "year"),
        ({"event_time": "2025", "recorded_at": "2024"}, "2024", "instant"),
        ({"event_time": "2023", "recorded_at": "2024"}, "2023", "year"),
        ({"event_time": "2024", "recorded_at": "2024"}, "2024", "year"),
    ],
)
def test_valid_from_is_the_event_time_once_it_has_passed_and_else_the_time_of_writing(
    desk: Desk, item: dict[str, str], valid_from: str | None, precision: str
) -> None:
    bank = desk.open()
    desk.retain(bank, {"text": "fuse", **item})
    ((start, found, end, end_precision),) = desk.sql(
        "SELECT valid_from, valid_from_precision, valid_to, valid_to_precision FROM memories"
    )
    assert (start, found) == (desk.now if valid_from is None else at(valid_from), precision)
    assert (end, end_precision) == (FOREVER, "instant")


@pytest.mark.parametrize(
    ("kind", "layer"),
    [
        ("episodic", Layer.EPISODIC),
        ("semantic", Layer.SEMANTIC),
        ("procedural", Layer.PROCEDURAL),
        ("decision", Layer.SEMANTIC),
        ("code", Layer.CODEBASE),
        ("preference", Layer.SEMANTIC),
        ("observation", Layer.SEMANTIC),
        (None, Layer.SEMANTIC),
    ],
)
def test_the_layer_follows_the_kind(desk: Desk, kind: str | None, layer: Layer) -> None:
    bank = desk.open()
    desk.retain(bank, {"text": "fuse", "kind": kind}, {"text": "lamp", "kind": kind, "layer": "working"})
    assert [memory.layer for memory in desk.all(bank)] == [layer, Layer.WORKING]


@pytest.mark.parametrize(
    "item",
    [
        {"valid_to": "2026-02-01"},
        {"valid_to": "2026-03-01T09:00Z"},
        {"valid_to": "2024", "event_time": "2025"},
        {"valid_to": "2025", "event_time": "2025"},
        {"valid_to": "2026-02-01", "event_time": "2030"},
    ],
)
def test_an_end_before_the_derived_start_is_refused_and_nothing_is_stored(
    desk: Desk, item: dict[str, str]
) -> None:
    bank = desk.open()
    desk.retain(bank, "lamp")
    before = desk.dump()
    with pytest.raises(InputError, match="is not after valid_from") as caught:
        desk.retain(bank, "first", {"text": "second", "tags": ["new"], **item}, "third")
    assert caught.value.field == "items[1].valid_to"
    assert desk.dump() == before
    assert desk.search(bank, "first").lexical == []
    assert bank.verify().ok


def test_a_failure_in_the_middle_of_a_batch_stores_nothing(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "lamp")
    before = desk.dump()
    items = desk.prepare(*({"text": f"fuse {n}", "tags": [f"t{n}"], "path": f"p{n}"} for n in range(4)))
    for statement in (
        "memories",
        "vectors",
        "chunks",
        "episodes",
        "labels",
        "label_sets",
        "links",
        "changes",
        "UPDATE meta",
    ):
        seen = 0

        def fail(cursor: object, sql: str, bindings: object, statement: str = statement) -> bool:
            nonlocal seen
            mine = sql.startswith(
                (statement, f"INSERT INTO {statement}", f"INSERT OR IGNORE INTO {statement}")
            )
            seen += mine
            if mine and seen == (1 if statement in {"links", "UPDATE meta"} else 3):
                raise MemoryError(statement)
            return True

        connection = bank._connections.get()
        connection.exec_trace = fail
        with pytest.raises(MemoryError, match=statement):
            desk.store(bank, items)
        assert desk.dump() == before, statement
    assert len(set(desk.store(bank, items))) == 4
    assert bank.verify().ok


@pytest.mark.fault("V2")
def test_vectors_of_another_embedder_are_refused_naming_both(desk: Desk) -> None:
    desk.embedder = StubEmbedder(8, name="small")
    bank = desk.open()
    desk.retain(bank, "fuse")
    before = desk.dump()
    desk.embedder = StubEmbedder(12, name="large")
    with pytest.raises(EmbedderMismatchError) as caught:
        desk.retain(bank, "lamp", {"text": "wire", "tags": ["new"]})
    for part in (
        "'small' (8 dimensions)",
        "'large' (12 dimensions)",
        "open it with 'small'",
        "keyword search only",
    ):
        assert part in str(caught.value)
    assert desk.dump() == before
    assert len(desk.search(bank, "fuse").lexical) == 1
    desk.embedder = None
    desk.retain(bank, "lamp without a vector")
    assert len(desk.search(bank, "lamp").lexical) == 1


@pytest.mark.fault("V2")
def test_the_same_dimension_of_another_embedder_is_refused_too(desk: Desk) -> None:
    desk.embedder = StubEmbedder(8, name="one")
    bank = desk.open()
    desk.retain(bank, "fuse")
    desk.embedder = StubEmbedder(8, name="two")
    with pytest.raises(EmbedderMismatchError):
        desk.retain(bank, "lamp")


def test_an_embedder_is_the_banks_from_its_first_vector_on(desk: Desk) -> None:
    bank = desk.open()
    embedder, desk.embedder = desk.embedder, None
    desk.retain(bank, "fuse")
    with bank.reading() as reading:
        assert (reading.meta.embedder, reading.embedder()) == (None, ModelIdentity())
    desk.embedder = embedder
    desk.retain(bank, "lamp")
    with bank.reading() as reading:
        assert embedder is not None
        assert reading.embedder() == ModelIdentity("stub", 32, embedder.fingerprint)
    found = desk.search(bank, "lamp")
    assert len(found.dense) == 1
    assert bank.verify().ok


@pytest.mark.parametrize("number", [0, 1, 0.0, -0.0, 1.0, 0.1, 1e-300, 5e-324])
def test_numbers_are_stored_as_their_digest_says(desk: Desk, number: float) -> None:
    bank = desk.open()
    desk.retain(bank, {"text": "fuse", "salience": number, "confidence": number})
    assert bank.verify().problems == ()


@pytest.mark.fault("W4")
def test_forgetting_takes_every_row_of_a_memory(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "lamp")
    before = desk.dump()
    (memory,) = desk.retain(bank, {"text": "canary sings", "context": "canary"})
    assert desk.forget(bank, [memory]) == 1
    after = desk.dump()
    for table in ("memories", "vectors", "chunks", "episodes", "mentions", "links"):
        assert after[table] == before[table], table
    assert desk.search(bank, "canary").lexical == []
    assert memory not in desk.search(bank, "canary").ids
    with bank.reading() as reading:
        assert reading.versions(memory) == []
    assert bank.verify().ok


@pytest.mark.fault("W4")
def test_every_version_is_forgotten(desk: Desk) -> None:
    bank = desk.open()
    memory, _ = desk.retain(bank, "fuse", "fuse", deduplicate=False)
    desk.sql("UPDATE memories SET id = ?, version = 2 WHERE ordinal = 1", memory)
    assert desk.forget(bank, [memory]) == 1
    assert desk.all(bank) == []
    assert [row[1:3] for row in desk.sql("SELECT * FROM changes ORDER BY 1")][2:] == [
        ("erase", 1),
        ("erase", 0),
    ], "the first version last: links hang on it"


def test_a_source_that_another_memory_needs_stays(desk: Desk) -> None:
    bank = desk.open()
    one, other = desk.retain(bank, "fuse", "lamp")
    desk.sql("UPDATE memories SET chunk = 1")
    desk.forget(bank, [one])
    assert desk.sql("SELECT number FROM chunks") == [(1,), (2,)]
    assert desk.sql("SELECT text FROM episodes") == [("fuse",), ("lamp",)]
    desk.forget(bank, [other])
    assert desk.sql("SELECT number FROM chunks WHERE number = 1") == []


def test_an_episode_with_another_chunk_stays(desk: Desk) -> None:
    bank = desk.open()
    one, other = desk.retain(bank, "fuse", "lamp")
    desk.sql("UPDATE chunks SET episode = 1")
    desk.forget(bank, [one])
    assert desk.sql("SELECT number FROM episodes WHERE number = 1") == [(1,)]
    desk.forget(bank, [other])
    assert desk.sql("SELECT number FROM episodes WHERE number = 1") == []


def test_how_many_were_forgotten_is_counted(desk: Desk) -> None:
    bank = desk.open()
    ids = desk.retain(bank, "a", "b", "c")
    before = desk.dump()
    assert desk.forget(bank, []) == 0
    assert desk.forget(bank, ["0" * 16, "", "x' OR 1=1 --", "%"]) == 0
    assert desk.dump() == before
    assert desk.forget(bank, [ids[0], "missing", ids[0], ids[2]]) == 2
    assert desk.forget(bank, ids) == 1
    assert desk.all(bank) == []


def test_ordinals_are_never_used_again(desk: Desk) -> None:
    bank = desk.open()
    ids = desk.retain(bank, "a", "b", "c")
    desk.forget(bank, ids)
    desk.retain(bank, "d")
    bank.close()
    again = desk.open()
    desk.retain(again, "e")
    assert [memory.ordinal for memory in desk.all(again)] == [3, 4]
    with again.reading() as reading:
        assert reading.snapshot.rows == 5


@pytest.mark.fault("W4")
def test_a_forgotten_word_is_in_no_index_file_and_a_forgotten_text_in_no_file_at_all(
    desk: Desk, small_merges: int
) -> None:
    bank = desk.open()
    texts = [f"fuse number {n}" for n in range(12)]
    (memory,) = desk.retain(
        bank, {"text": "canaryterm sings", "context": "canaryterm aloud", "relation": "canaryterm"}
    )
    desk.retain(bank, *texts)
    folder = desk.place / "bank"

    def holders(word: bytes) -> list[str]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return sorted(path.name for path in files if word in path.read_bytes())

    assert any(name.endswith(".arr") for name in holders(b"canaryterm")), "it was in the index"
    assert desk.forget(bank, [memory]) == 1
    assert [name for name in holders(b"canaryterm") if name.endswith((".arr", ".json"))] == []
    assert bank.verify().ok
    assert len(desk.search(bank, "fuse").lexical) == 12
    bank.close()
    assert holders(b"canaryterm") == []
    assert holders(b"fuse") != []


@pytest.mark.parametrize("seed", range(4))
def test_the_oldest_work_of_a_sort_is_found_in_whatever_order_it_was_queued(desk: Desk, seed: int) -> None:
    bank, chance = desk.open(), np.random.default_rng(seed)
    desk.retain(bank, *[f"row {number}" for number in range(30)])
    with bank.writing(100) as transaction:
        queued = []
        for ordinal in chance.permutation(30).tolist():
            for task in ("one", "other"):
                later = bool(chance.integers(2))
                transaction.queue.add(task, ordinal, not_before=101 if later else 0)
                if task == "one" and not later:
                    queued.append(ordinal)
        for ordinal in queued[:3]:
            transaction.queue.remove("one", ordinal)

        for most in (0, 1, 5, len(queued), 100):
            assert transaction.queue.due("one", most) == queued[3:][:most]
        assert transaction.queue.due("none", 5) == []
