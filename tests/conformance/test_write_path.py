"""The requirements that the write path owns, proved through the public API."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.backends.embedded.bank import EmbeddedBank
from simonides.bank import Bank
from simonides.records.interval import FOREVER, parse_time
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

MICROSECOND = timedelta(microseconds=1)


def texts(recall: Recall) -> list[str]:
    return [hit.text for hit in recall]


def at(text: str) -> int:
    return parse_time(text, "time").start


def sql(bank: Bank, statement: str, *bindings: Any) -> list[tuple[Any, ...]]:
    with bank._rows.reading() as reading:
        return connection_of(reading).execute(statement, bindings).fetchall()


def profile(folder: Path, *fields: str) -> Path:
    """A profile of the lexical channel over *fields*."""
    path = folder / f"{'-'.join(fields)}.toml"
    weights = ", ".join(f"{name} = {float(name in fields)}" for name in FIELDS)
    path.write_text(f'extends = "lexical"\n[stages.lexical]\nfields = {{ {weights} }}\n', encoding="utf-8")
    return path


FIELDS = ("text", "context", "relation", "expansion")


# -- ME-02


@dataclass(frozen=True)
class CountingEmbedder:
    """A stub that notes what it encodes."""

    inner: StubEmbedder = field(default_factory=StubEmbedder)
    batches: list[list[str]] = field(default_factory=list)
    name: str = "counting"
    fingerprint: str = "counting-1"

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return self.inner.encode(texts)

    def encode_query(self, text: str) -> NDArray[np.float32]:
        return self.inner.encode_query(text)


@pytest.mark.spec("ME-02")
def test_a_fact_is_embedded_once_when_it_is_written(tmp_path: Path, clock: FrozenClock) -> None:
    embedder = CountingEmbedder()
    said = ["Priya is on call on Tuesday", "the fuse is blown", "a lamp is lit"]
    with simonides.open(tmp_path / "store", clock=clock, embedder=embedder) as store:
        bank = store.bank()
        ids = bank.retain(said)
        assert embedder.batches == [said]
        clock.advance(days=1)
        bank.retain("Priya is on call on Thursday")
        embedder.batches.clear()

        bank.invalidate(ids[1])
        bank.recall("fuse", as_of="2026-03-01T10:00Z")
        bank._rows.merge_if_due(force=True)
        folder = bank._rows.folder
    shutil.rmtree(folder / "index")
    with simonides.open(tmp_path / "store", clock=clock, embedder=embedder) as store:
        bank = store.bank()
        assert ids[2] in [hit.id for hit in bank.recall("lamp")]
        assert embedder.batches == []
        assert len(bank.history(ids[0])) == len(bank.history(ids[1])) == 2
        vectors = sql(
            bank, "SELECT hex(codes) FROM vectors v JOIN memories USING (ordinal) WHERE id=?", ids[1]
        )
        assert len(set(vectors)) == 1
        assert len(vectors) == 2


# -- ME-03


@pytest.mark.spec("ME-03")
def test_text_and_relation_are_indexed_apart(bank: Bank, tmp_path: Path) -> None:
    (one,) = bank.retain("Ann and Ben", relation="reports to")
    (other,) = bank.retain("the reports of Ann", relation="wrote")
    hits = {
        fields: [hit.id for hit in bank.recall("reports", profile=profile(tmp_path, *fields))]
        for fields in (("text",), ("relation",), ("text", "relation"))
    }
    assert hits["text",] == [other]
    assert hits["relation",] == [one]
    assert sorted(hits["text", "relation"]) == sorted([one, other])
    assert {one, other} <= {hit.id for hit in bank.recall("reports")}


# -- ME-10


@pytest.mark.spec("ME-10")
def test_a_raw_episode_becomes_a_fact_with_entities_a_relation_and_four_stamps(
    bank: Bank, clock: FrozenClock
) -> None:
    text = "Odalys Fennimark works at Gullspire."
    (memory,) = bank.retain(text, event_time="2026-02")
    fact = bank.get_memory(memory)
    assert sql(bank, "SELECT text, start, stop FROM episodes JOIN chunks ON episode = episodes.number") == [
        (text, 0, len(text))
    ]
    assert {one.name for one in bank.entities()} == {"Odalys Fennimark", "Gullspire"}
    assert sql(
        bank,
        "SELECT r.name, e.name, r.object, r.single_valued FROM relations r"
        " JOIN entities e ON e.number = r.subject",
    ) == [("works at", "Odalys Fennimark", "gullspire", 1)]
    assert (fact.valid_from, fact.valid_to) == (datetime(2026, 2, 1, tzinfo=UTC), None)
    assert (fact.ingested_at, fact.expired_at) == (clock(), None)


@pytest.mark.spec("ME-10")
def test_a_contradicted_fact_is_closed_not_deleted(bank: Bank, clock: FrozenClock) -> None:
    (old,) = bank.retain("Priya is on call on Tuesday.")
    began = clock()
    changed = clock.advance(days=30)
    (new,) = bank.retain("Priya is on call on Thursday.")
    assert texts(bank.recall("Priya on call")) == ["Priya is on call on Thursday."]
    first, second = bank.history(old)
    assert (first.valid_from, first.valid_to, first.ingested_at, first.expired_at) == (
        began,
        None,
        began,
        changed,
    )
    assert (second.valid_from, second.valid_to, second.ingested_at, second.expired_at) == (
        began,
        changed,
        changed,
        None,
    )
    assert second.superseded_by == new
    assert [version.version for version in bank.history(old)] == [1, 2]


@pytest.mark.spec("ME-10")
@pytest.mark.spec("general settlement 1")
def test_the_first_vector_of_four_stamps(bank: Bank, clock: FrozenClock) -> None:
    clock.now = ingested = datetime(2026, 6, 10, 8, tzinfo=UTC)
    bank.retain("the fuse is weak", valid_from="2026-06-01", valid_to="2026-09-01")
    clock.now = datetime(2027, 1, 1, tzinfo=UTC)
    end = datetime(2026, 9, 1, tzinfo=UTC)
    seen = {
        moment: bool(len(bank.recall("fuse", as_of=moment)))
        for moment in (ingested, ingested - MICROSECOND, end, end - MICROSECOND)
    }
    assert list(seen.values()) == [True, False, False, True]


@pytest.mark.spec("ME-10")
@pytest.mark.spec("general settlement 1")
@pytest.mark.parametrize("imported", [False, True])
def test_the_second_vector_learned_in_march_that_it_ended_in_january(
    bank: Bank, clock: FrozenClock, *, imported: bool
) -> None:
    stated: dict[str, Any] = {"valid_from": "2025-06-01"}
    if imported:
        stated["recorded_at"] = "2025-06-01"
    else:
        clock.now = datetime(2025, 6, 1, tzinfo=UTC)
    (memory,) = bank.retain("the fuse is weak", **stated)
    clock.now = datetime(2026, 3, 10, tzinfo=UTC)
    bank.invalidate(memory, at="2026-01-15")

    def has(as_of: str, known_at: str | datetime) -> bool:
        return bool(len(bank.recall("fuse", as_of=as_of, known_at=known_at)))

    assert has("2026-02-01", "2026-02-01")
    assert not has("2026-02-01", clock())
    assert has("2026-01-01", clock())
    assert not has("2026-01-15", clock())


# -- EN-13, HX-21 and settlement 5


@pytest.mark.spec("EN-13")
@pytest.mark.spec("general settlement 5")
def test_kind_and_layer_are_two_columns(bank: Bank) -> None:
    (memory,) = bank.retain("heater.start() returns a handle.", kind="code")
    (other,) = bank.retain("heater.stop() returns nothing.", kind="code", layer="working")
    assert [bank.get_memory(i).layer for i in (memory, other)] == ["codebase", "working"]
    assert [bank.get_memory(i).kind for i in (memory, other)] == ["code", "code"]
    with bank._rows.reading() as reading:
        assert len(set(reading.snapshot.column("layer").tolist())) == 2
        assert len(set(reading.snapshot.column("kind").tolist())) == 1


@pytest.mark.spec("HX-21")
@pytest.mark.parametrize(
    ("text", "kind", "layer"),
    [
        ("We decided to store the readings in DuckDB.", "decision", "semantic"),
        (
            "To restart the pump, first close the valve, then press the green button.",
            "procedural",
            "procedural",
        ),
        ("Nerys prefers charts without gridlines.", "preference", "semantic"),
        ("`retry_policy()` in `net/retry.py` reads RETRY_MAX.", "code", "codebase"),
        ("On 3 May 2025 Kofi repaired the sluice.", "episodic", "episodic"),
        ("The sluice has four gates.", "semantic", "semantic"),
    ],
)
def test_cues_in_the_text_give_the_type(bank: Bank, text: str, kind: str, layer: str) -> None:
    (memory,) = bank.retain(text)
    assert (bank.get_memory(memory).kind, bank.get_memory(memory).layer) == (kind, layer)


# -- HI-03


@pytest.mark.spec("HI-03")
def test_near_memories_are_linked_by_meaning_with_their_cosine(tmp_path: Path, clock: FrozenClock) -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [-0.6, 0.8], "d": [0.0, 1.0]}
    with simonides.open(tmp_path / "s", clock=clock, embedder=StubEmbedder(2, vectors)) as store:
        bank = store.bank()
        for text in vectors:
            bank.retain(text)
        linked = sql(
            bank,
            "SELECT s.text, t.text, l.kind, round(l.weight, 3) FROM links l JOIN memories s ON"
            " s.ordinal = l.source JOIN memories t ON t.ordinal = l.target ORDER BY 1, 2",
        )
    assert linked == [("b", "a", "semantic", 0.8), ("d", "c", "semantic", 0.8)]


@pytest.mark.spec("HI-03")
def test_an_effect_is_linked_to_the_memory_of_its_cause_with_the_weight_of_the_cue(bank: Bank) -> None:
    bank.retain(["The old fuse had blown in the storm.", "Tove prefers the early train."], session="s")
    bank.retain("The cellar was dark because the old fuse had blown.", session="s")
    ((target, weight),) = sql(
        bank, "SELECT t.text, weight FROM links JOIN memories t ON ordinal = target WHERE links.kind='causal'"
    )
    assert target == "The old fuse had blown in the storm."
    assert 0.0 < weight <= 1.0


# -- HI-15, HI-17


@pytest.mark.spec("HI-15")
def test_the_raw_source_behind_each_memory_is_kept(bank: Bank) -> None:
    document = "# Sluice\n\nThe sluice has four gates.\n\nIt was repaired in May.\n"
    ids = bank.retain_document(document, document_id="sluice.md")
    for memory in ids:
        source = bank.source(memory)
        assert source.text == document
        assert source.chunk == document[source.start : source.stop] == bank.get_memory(memory).text
        assert source.document == "sluice.md"
    assert sql(bank, "SELECT count(*) FROM episodes") == [(1,)]
    (turn,) = bank.retain_conversation([{"speaker": "Ann", "text": "The fuse  blew."}], session="s")
    assert bank.source(turn).text == "The fuse  blew."
    assert (bank.source(turn).speaker, bank.source(turn).session) == ("Ann", "s")


@pytest.mark.spec("HI-17")
def test_a_repeat_is_one_more_proof_and_the_source_stays(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("The fuse is blown.")
    clock.advance(days=1)
    assert bank.retain("THE FUSE IS BLOWN.") == [memory]
    assert bank.get_memory(memory).proof_count == 2
    assert bank.source(memory).text == "The fuse is blown."
    assert [version.proof_count for version in bank.history(memory)] == [1, 2]


# -- HX-10


@pytest.mark.spec("HX-10")
def test_salience_and_confidence_are_set_at_ingest(tmp_path: Path, clock: FrozenClock) -> None:
    """½ · cues + ¼ · novelty + ¼ · trust, where novelty = 1 − mean cosine of the nearest five."""
    vectors = {"a plain word": [1.0, 0.0], "a second word": [0.6, 0.8], "a third word": [0.0, 1.0]}
    with simonides.open(tmp_path / "s", clock=clock, embedder=StubEmbedder(2, vectors)) as store:
        bank = store.bank()
        saliences = [
            bank.get_memory(bank.retain(text, role=role)[0]).salience
            for text, role in zip(vectors, ("user", "tool", "import"), strict=True)
        ]
        assert saliences == pytest.approx(
            [
                0.25 + 0.25 * 1.0 + 0.25 * 1.0,
                0.25 + 0.25 * (1 - 0.6) + 0.25 * 0.6,
                0.25 + 0.25 * (1 - 0.4) + 0.25 * 0.5,
            ],
            abs=1e-3,
        )
        (urgent, hedged, plain) = bank.retain(
            ["It is urgent to wait.", "Perhaps the lock is shut.", "The lock is shut by day."]
        )
        assert bank.get_memory(urgent).salience > bank.get_memory(plain).salience
        assert bank.get_memory(hedged).confidence < bank.get_memory(plain).confidence == 1.0
        (given,) = bank.retain("given", salience=0.125, confidence=0.375)
        assert (bank.get_memory(given).salience, bank.get_memory(given).confidence) == (0.125, 0.375)


# -- HX-16


@pytest.mark.spec("HX-16")
def test_expansion_questions_are_stored_and_searched_where_a_profile_asks(bank: Bank, tmp_path: Path) -> None:
    (memory,) = bank.retain("The fuse is blown.", expansion="Why is the cellar dark?")
    assert bank.get_memory(memory).expansion == "Why is the cellar dark?"
    assert [hit.id for hit in bank.recall("cellar", profile=profile(tmp_path, "text", "expansion"))] == [
        memory
    ]
    assert texts(bank.recall("cellar", profile=profile(tmp_path, "text"))) == []


# -- DF-07, DF-08


@pytest.mark.spec("DF-07")
@pytest.mark.parametrize(
    ("text", "start", "end", "precision"),
    [
        ("The lock was built in 2023.", "2023-01-01", "2024-01-01", "year"),
        ("The lock was built in May 2023.", "2023-05-01", "2023-06-01", "month"),
        ("The lock was built on 3 May 2023.", "2023-05-03", "2023-05-04", "day"),
    ],
)
def test_dates_keep_their_precision(bank: Bank, text: str, start: str, end: str, precision: str) -> None:
    (memory,) = bank.retain(text)
    occurred = bank.get_memory(memory).occurred
    assert occurred is not None
    assert (occurred.start, occurred.end, occurred.precision) == (at(start), at(end), precision)
    (given,) = bank.retain(
        "The weir is old.", event_time=start[: {"year": 4, "month": 7, "day": 10}[precision]]
    )
    assert bank.get_memory(given).occurred == occurred


@pytest.mark.spec("DF-07")
def test_in_2023_is_found_in_all_of_the_year(bank: Bank) -> None:
    bank.retain("The lock was built in 2023.")
    for window in ("2023-01-01", "2023-07-07", "2023-12-31", "2023"):
        assert len(bank.recall("lock", window=window)) == 1, window
    for window in ("2022-12-31", "2024-01-01"):
        assert len(bank.recall("lock", window=window)) == 0, window


@pytest.mark.spec("DF-08")
def test_diff_tells_what_was_believed_then_and_now(bank: Bank, clock: FrozenClock) -> None:
    (kept, old, gone) = bank.retain(["The fuse is blown.", "Priya is on call on Tuesday.", "A lamp is lit."])
    then = clock.advance(seconds=1)
    clock.advance(days=10)
    (new,) = bank.retain("Priya is on call on Thursday.")
    bank.invalidate(gone)
    bank.retain("THE FUSE IS BLOWN.")
    difference = bank.diff(then)
    assert {memory.id for memory in difference.ended} == {old, gone}
    assert {memory.id for memory in difference.begun} == {new}
    assert [(c.before.proof_count, c.after.proof_count) for c in difference.changed] == [(1, 2)]
    assert difference.changed[0].before.id == kept
    assert bank.diff(then, then) == bank.diff("2020", "2021") != difference
    back = bank.diff(clock.advance(seconds=1), then)
    assert {memory.id for memory in back.begun} == {old, gone}


@pytest.mark.spec("DF-08")
def test_a_then_b_then_a_gives_three_spans(bank: Bank, clock: FrozenClock) -> None:
    ids = []
    for month, day in enumerate(("Tuesday", "Thursday", "Tuesday"), 1):
        clock.now = datetime(2026, month, 1, tzinfo=UTC)
        ids += bank.retain(f"Priya is on call on {day}.")
    versions = [bank.history(memory)[-1] for memory in ids]
    edges = [at("2026-01-01"), at("2026-02-01"), at("2026-03-01"), FOREVER]
    assert [(v.valid_from_micros, v.valid_to_micros) for v in versions] == list(pairwise(edges))
    for day, moment in (("Tuesday", "2026-01-15"), ("Thursday", "2026-02-15"), ("Tuesday", "2026-03-15")):
        assert texts(bank.recall("Priya", as_of=moment)) == [f"Priya is on call on {day}."]


# -- general settlements


@pytest.mark.spec("general settlement 1")
def test_recorded_times_go_up_and_versions_are_only_stamped(bank: Bank, clock: FrozenClock) -> None:
    ids = bank.retain(["one fuse", "two lamps"])
    clock.advance(seconds=-180)
    ids += bank.retain(["three wires"])
    before = sql(bank, "SELECT * FROM memories ORDER BY ordinal")
    bank.invalidate(ids[0], at="2026-03-02")
    stamps = [stamp for (stamp,) in sql(bank, "SELECT ingested_at FROM memories ORDER BY ordinal")]
    assert stamps == sorted(set(stamps))
    names = [row[1] for row in sql(bank, "PRAGMA table_info(memories)")]
    after = sql(bank, "SELECT * FROM memories ORDER BY ordinal")
    changed = {
        name
        for old, new in zip(before, after, strict=False)
        for name, was, is_ in zip(names, old, new, strict=True)
        if was != is_
    }
    assert changed == {"expired_at", "end_digest"}


@pytest.fixture
def twin_banks(tmp_path: Path, store: Store) -> Iterator[dict[str, dict[str | None, Bank]]]:
    """Two banks of one identity, each as the owner, Ann and Ben see it."""
    made = {
        name: EmbeddedBank(tmp_path / name, store._parts.analyser, new_id=lambda: "b1")
        for name in ("alone", "together")
    }
    yield {
        name: {who: Bank(name, rows, who, store._parts) for who in (None, "ann", "ben")}
        for name, rows in made.items()
    }
    for rows in made.values():
        rows.close()


ANNS: tuple[dict[str, Any], ...] = (
    {"items": "The fuse is blown."},
    {"items": "Priya is on call on Friday."},
    {"items": "Odalys works at Norrhav."},
    {"items": ["Zorblax is late again.", "Tarn is late, too."], "session": "s"},
    {"items": ["The sluice has five gates."], "document_id": "sluice"},
    {"items": [f"Gauge {n} was read." for n in range(12)], "event_time": "2026-02-01T12:00Z"},
    {"items": "The cellar was dark because the old fuse had blown."},
    {"items": "old fuse", "event_time": "2026-02-01T12:01Z", "deduplicate": False},
)

EVERYONES: tuple[dict[str, Any], ...] = (
    {"items": "Odalys likes tea.", "who": None},
    {"items": "The fuse is blown.", "who": "ben"},
    {"items": "THE FUSE IS BLOWN.", "who": None},
    {"items": "Priya is on call on Tuesday.", "who": "ben"},
    {"items": ["we spoke of zorblax", "and of tarn"], "session": "s", "who": "ben"},
    {"items": ["The sluice has four gates.", "It is old."], "document_id": "sluice", "who": None},
    {"items": "The old fuse had blown in the storm.", "event_time": "2026-02-01T11:00Z", "who": None},
    {"items": "The old fuse had blown in the great storm.", "who": None},
    {"items": "Gauge 3 was read.", "event_time": "2026-02-01T12:00Z", "who": "ben"},
    {"items": "It was cold because the old fuse had blown.", "session": "s", "who": "ben"},
    {"items": "Odalys works at Quillstad.", "who": "ben"},
    {"items": "Priya is on call on Thursday.", "who": None},
    {"items": ["The sluice has four gates.", "It leaks."], "document_id": "sluice", "who": "ben"},
    {"items": "A word of Ben alone, about the fuse.", "who": "ben", "acl": ["ben"]},
)


def retain(banks: dict[str | None, Bank], write: dict[str, Any]) -> list[str]:
    given = dict(write)
    return banks[given.pop("who")].retain(given.pop("items"), **given)


def known_to_ben(bank: Bank) -> dict[str, Any]:
    """All that Ben can learn: versions, links between them, entities, answers."""
    mine = "(SELECT number FROM label_sets WHERE names IN ('[]', '[\"ben\"]'))"
    columns = (
        "id, version, text, kind, layer, valid_from, valid_to, ingested_at, expired_at, occurred_from, salience,"
        " confidence, proof_count, superseded_by"
    )
    answers = {
        query: [(hit.id, hit.score, dict(hit.channel_scores)) for hit in bank.recall(query)]
        for query in ("fuse", "Priya on call", "sluice gates", "zorblax", "Odalys", "gauge read")
    }
    return {
        "rows": sql(bank, f"SELECT {columns} FROM memories WHERE acl IN {mine} ORDER BY id, version"),
        "links": sql(
            bank,
            "SELECT s.id, t.id, l.kind, l.weight FROM links l JOIN memories s ON s.ordinal = l.source"
            f" JOIN memories t ON t.ordinal = l.target WHERE s.acl IN {mine} AND t.acl IN {mine} ORDER BY 1, 2, 3",
        ),
        "entities": [
            (one.name, one.kind, one.qualifier, one.aliases, one.mentions) for one in bank.entities()
        ],
        "answers": answers,
        "stats": {key: value for key, value in bank.stats().items() if key != "bank"},
    }


@pytest.mark.spec("general settlement 3")
def test_what_others_may_not_read_changes_nothing_of_what_is_written(
    twin_banks: dict[str, dict[str | None, Bank]], clock: FrozenClock
) -> None:
    """The same writes with and without Ann's private ones before, among and after them."""
    alone, together = twin_banks["alone"], twin_banks["together"]
    ids: dict[str, list[list[str]]] = {"alone": [], "together": []}
    start = clock()
    for name, banks in twin_banks.items():
        clock.now = start
        for number, write in enumerate(EVERYONES):
            if name == "together":
                for private in ANNS if number == 0 else [ANNS[number % len(ANNS)]]:
                    clock.advance(seconds=1)
                    retain(banks, {**private, "who": "ann", "acl": ["ann"]})
            clock.now = start + timedelta(minutes=number + 1)
            ids[name].append(retain(banks, write))
        clock.now = start + timedelta(days=1)
    retain(together, {"items": "Priya is on call on Sunday.", "who": "ann", "acl": ["ann"]})
    assert ids["together"] == ids["alone"]
    clock.now = start + timedelta(days=2)
    seen, expected = known_to_ben(together["ben"]), known_to_ben(alone["ben"])
    for part in expected:
        assert seen[part] == expected[part], part
    assert {kind for _, _, kind, _ in expected["links"]} == {"semantic", "causal", "temporal", "session"}
    assert max(row[12] for row in expected["rows"]) == 2
    assert {"Zorblax", "Tarn"} & {name for name, *_ in seen["entities"]} == set()
    hers = texts(together["ann"].recall("Priya on call"))
    assert {"Priya is on call on Sunday.", "Priya is on call on Thursday."} <= set(hers)


@pytest.mark.spec("general settlement 3")
def test_private_facts_of_two_readers_stay_apart(store: Store, clock: FrozenClock) -> None:
    ann, ben = (store.bank("diary", principal=who) for who in ("ann", "ben"))
    (hers,) = ann.retain("Priya is on call on Tuesday.", acl=["ann"])
    clock.advance(days=1)
    (his,) = ben.retain("Priya is on call on Tuesday.", acl=["ben"])
    ben.retain("Priya is on call on Thursday.", acl=["ben"])
    assert hers != his
    assert texts(ann.recall("Priya")) == ["Priya is on call on Tuesday."]
    assert texts(ben.recall("Priya")) == ["Priya is on call on Thursday."]
    assert [one.number for one in ann.entities()] != [one.number for one in ben.entities()]
    assert sql(ann, "SELECT count(*) FROM links") == sql(ann, "SELECT count(*) FROM links WHERE source > 1")
