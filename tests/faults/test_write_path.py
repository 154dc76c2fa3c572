"""Public faults of what is written: change over time, names, repeats, retries, near-equal records, forgetting."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.errors import ConflictError, InputError, NotFoundError, UnknownNameError
from simonides.records.interval import FOREVER, parse_time

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

MICROSECOND = timedelta(microseconds=1)
TUESDAY, THURSDAY = "Priya is on call on Tuesday", "Priya is on call on Thursday"


def texts(recall: Recall) -> list[str]:
    return [hit.text for hit in recall]


def sql(bank: Bank, statement: str, *bindings: Any) -> list[tuple[Any, ...]]:
    with bank._rows.reading() as reading:
        return connection_of(reading).execute(statement, bindings).fetchall()


def change(bank: Bank, statement: str) -> None:
    """Run SQL on the file past the library."""
    with bank._rows.reading() as reading:
        connection = connection_of(reading)
        connection.execute("COMMIT")
        connection.execute(statement)


def mentions(bank: Bank) -> dict[str, int]:
    """How many memories mention whom; two bearers of one name with their qualifiers."""
    listed = bank.entities(limit=None)
    names = [one.name for one in listed]
    return {
        f"{one.name} ({one.qualifier})" if names.count(one.name) > 1 else one.name: one.mentions
        for one in listed
    }


# -- B1 to B3


@pytest.mark.fault("B1")
@pytest.mark.parametrize("channel", ["dense", "lexical"])
def test_an_interval_begins_with_its_start_and_ends_before_its_end(
    bank: Bank, clock: FrozenClock, tmp_path: Path, channel: str
) -> None:
    profile = tmp_path / "one.toml"
    query = "embedding" if channel == "dense" else "terms"
    profile.write_text(
        f'extends = "lexical"\norder = ["{query}", "{channel}", "reciprocal_rank", "token_budget"]\n'
        + ("[stages.dense]\ndepth = 100\nrescore = 8192\n" if channel == "dense" else ""),
        encoding="utf-8",
    )
    clock.now = start = datetime(2026, 6, 10, 8, tzinfo=UTC)
    bank.retain(TUESDAY, valid_from="2026-06-01", valid_to="2026-09-01")
    clock.now = datetime(2027, 1, 1, tzinfo=UTC)
    end = datetime(2026, 9, 1, tzinfo=UTC)
    for moment, inside in ((start, 1), (start - MICROSECOND, 0), (end, 0), (end - MICROSECOND, 1)):
        assert len(bank.recall("Priya", as_of=moment, profile=profile)) == inside, moment


@pytest.mark.fault("B1")
def test_a_date_is_its_first_instant_in_the_stores_zone(tmp_path: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path / "s", clock=clock, embedder=None, zone=ZoneInfo("Pacific/Apia")) as store:
        bank = store.bank()
        bank.retain(TUESDAY, valid_from="2026-01-05", valid_to="2026-01-06")
        clock.advance(days=1)
        seen = {
            moment: len(bank.recall("Priya", as_of=moment, known_at=clock()))
            for moment in ("2026-01-05", "2026-01-06", "2026-01-04T11:00Z", "2026-01-04T10:59:59Z")
        }
    assert list(seen.values()) == [1, 0, 1, 0]


@pytest.mark.fault("B2")
def test_an_old_fact_does_not_come_back_and_is_not_lost(bank: Bank, clock: FrozenClock) -> None:
    clock.now = datetime(2026, 1, 10, tzinfo=UTC)
    (old,) = bank.retain(TUESDAY)
    clock.now = datetime(2026, 3, 10, tzinfo=UTC)
    (new,) = bank.retain(THURSDAY)
    clock.now = datetime(2026, 4, 1, tzinfo=UTC)
    for query in ("Priya on call", "Tuesday", TUESDAY):
        assert texts(bank.recall(query)) == [THURSDAY]
        assert texts(bank.recall(query, as_of="2026-02-01")) == [TUESDAY]
        assert texts(bank.recall(query, as_of="2026-02-01", known_at=clock())) == [TUESDAY]
    assert [version.superseded_by for version in bank.history(old)] == ["", new]
    assert [version.text for version in bank.history(old)] == [TUESDAY, TUESDAY]
    assert [version.superseded_by for version in bank.history(new)] == [""]
    assert bank.source(old).text == TUESDAY


@pytest.mark.fault("B3")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ravi tested build 9 on arm64.", "Ravi tested build 9 on x86."),
        ("Mo likes tea.", "Mo likes rye."),
        ("Kestrel depends on Osprey.", "Kestrel depends on Heron."),
        ("Ann owns ingest.", "Ben owns ingest."),
        ("Ann works at Gullspire.", "Joann works at Norrhav."),
        ("Priya was on call on Tuesday.", "Priya is on call on Thursday."),
        (
            "Kofi said that Priya is on call on Tuesday and that Ann lives in Lisbon.",
            "Priya is on call on Monday.",
        ),
    ],
)
def test_only_a_single_valued_relation_of_the_same_subject_conflicts(
    bank: Bank, clock: FrozenClock, one: str, other: str
) -> None:
    bank.retain(one)
    clock.advance(days=1)
    bank.retain(other)
    assert sorted(texts(bank.recall(f"{one} {other}", precision="wide"))) == sorted([one, other])


@pytest.mark.fault("B3")
def test_spans_that_do_not_meet_do_not_conflict(bank: Bank) -> None:
    ids = bank.retain(
        [
            {"text": TUESDAY, "valid_from": "2026-01-01", "valid_to": "2026-02-01"},
            {"text": THURSDAY, "valid_from": "2026-02-01"},
        ]
    )
    assert [len(bank.history(memory)) for memory in ids] == [1, 1]


@pytest.mark.fault("B3")
def test_a_distrusted_source_does_not_close_what_a_person_said(bank: Bank, clock: FrozenClock) -> None:
    (said,) = bank.retain(TUESDAY, role="user")
    clock.advance(days=1)
    bank.retain(THURSDAY, role="document")
    assert len(bank.history(said)) == 1


# -- G1, G2


@pytest.mark.fault("G1")
@pytest.mark.fault("G2")
def test_names_are_told_apart_in_a_bank_where_all_mention_one(bank: Bank) -> None:
    hub = {"relation": "asked", "subject": "user"}
    bank.retain(
        [{"text": f"user asked for report {n}", "object": f"report {n}", **hub} for n in range(1_000)]
    )
    people = [
        "Ann likes rye.",
        "Joann likes tea.",
        "Alex likes oats.",
        "Alexa likes figs.",
        "VX-1103 failed.",
        "VX-1105 passed.",
        "Li Na works at Norrhav.",
        "Li Na works at Quillstad.",
    ]
    bank.retain(people)
    bank.retain(["ANN likes salt.", "vx-1103 failed again.", "Li Na works at Norrhav, upstairs."])
    found = mentions(bank)
    assert found["user"] == 1_000
    assert {name: found[name] for name in ("Ann", "Joann", "Alex", "Alexa", "VX-1103", "VX-1105")} == {
        "Ann": 2,
        "Joann": 1,
        "Alex": 1,
        "Alexa": 1,
        "VX-1103": 2,
        "VX-1105": 1,
    }
    assert (found["Li Na (norrhav)"], found["Li Na (quillstad)"]) == (2, 1)
    bank.settle()
    ((most,),) = sql(bank, "SELECT max(made) FROM (SELECT count(*) made FROM links GROUP BY source, kind)")
    assert most <= 10
    assert bank.entities(limit=1)[0].name == "user"


@pytest.mark.fault("G1")
def test_every_merge_can_be_undone(bank: Bank) -> None:
    bank.retain(["Ann likes rye.", "Joann likes tea.", "Annika likes figs."])
    before = mentions(bank)
    numbers = {one.name: one.number for one in bank.entities()}
    merges = [bank.merge_entities(numbers["Joann"], numbers["Ann"])]
    merges.append(bank.merge_entities(numbers["Ann"], numbers["Annika"]))
    assert {name: mentions(bank)[name] for name in numbers if name in mentions(bank)} == {"Annika": 3}
    bank.retain(["Joann likes oats.", "Ann likes Joann."])
    assert mentions(bank)["Annika"] == 5
    bank.undo_merge(merges[0])
    bank.undo_merge(merges[1])
    after = mentions(bank)
    assert after == {**before, "Joann": 3, "Ann": 2}
    with pytest.raises(NotFoundError, match="no merge"):
        bank.undo_merge(merges[0])
    again = bank.merge_entities(numbers["Joann"], numbers["Ann"])
    assert again not in merges
    assert mentions(bank)["Ann"] == 4


@pytest.mark.fault("G1")
def test_merges_go_in_no_circle(bank: Bank) -> None:
    bank.retain(["Ann likes rye.", "Joann likes tea.", "Annika likes figs."])
    one, two, three = sorted(e.number for e in bank.entities() if e.name in {"Ann", "Joann", "Annika"})
    first = bank.merge_entities(one, two)
    second = bank.merge_entities(one, three)
    for entity, into in ((two, one), (three, one), (three, two), (one, one), (one, three)):
        with pytest.raises(InputError, match="merged already"):
            bank.merge_entities(entity, into)
    bank.undo_merge(second)
    bank.merge_entities(three, one)
    assert sum(e.mentions for e in bank.entities() if e.number in {one, two, three}) == 3
    bank.undo_merge(first)
    assert {e.number: e.mentions for e in bank.entities() if e.number in {one, two, three}} == {
        one: 2,
        two: 1,
    }


@pytest.mark.fault("G1")
def test_no_one_merges_or_renames_whom_they_may_not_know(store: Store) -> None:
    owner, ann, ben = (store.bank("diary", principal=who) for who in (None, "ann", "ben"))
    ann.retain("Kestrel is late.", acl=["ann"])
    ben.retain(["Osprey is late.", "Heron is late."])
    (hers,) = (e.number for e in ann.entities() if e.name == "Kestrel")
    (known,) = (e.number for e in ben.entities() if e.name == "Osprey")
    for act in (
        lambda: ben.merge_entities(hers, known),
        lambda: ben.merge_entities(known, hers),
        lambda: ben.add_alias(hers, "K"),
    ):
        with pytest.raises(NotFoundError, match="no entity"):
            act()
    with pytest.raises(InputError, match="known to fewer"):
        owner.merge_entities(known, hers)
    merge = owner.merge_entities(hers, known)
    assert "Kestrel" not in {e.name for e in ben.entities()}
    with pytest.raises(NotFoundError, match="no merge"):
        ben.undo_merge(merge)
    ann.undo_merge(merge)


# -- W1


@pytest.mark.fault("W1")
def test_twenty_retains_at_once_under_one_key_are_one(store: Store) -> None:
    replies: list[list[str]] = []
    together = threading.Barrier(20)

    def retain() -> None:
        together.wait()
        replies.append(
            store.bank("diary").retain(["the fuse is blown", "a lamp is lit"], idempotency_key="k")
        )

    threads = [threading.Thread(target=retain) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 20
    assert len({tuple(reply) for reply in replies}) == 1
    bank = store.bank("diary")
    assert sql(bank, "SELECT count(*), count(DISTINCT id) FROM memories") == [(2, 2)]
    assert sql(bank, "SELECT count(*) FROM idempotency") == [(1,)]
    before = bank.stats()["sequence"]
    for other in (["the fuse is blown"], ["a lamp is lit", "the fuse is blown"], "the fuse is blown"):
        with pytest.raises(ConflictError, match="'k'"):
            bank.retain(other, idempotency_key="k")
    assert bank.stats()["sequence"] == before


@pytest.mark.fault("W1")
def test_a_key_is_not_claimed_by_a_retain_that_failed(bank: Bank) -> None:
    with pytest.raises(InputError):
        bank.retain({"text": "the fuse", "valid_to": "2020"}, idempotency_key="k")
    assert len(bank.retain("the fuse", idempotency_key="k")) == 1


@pytest.mark.fault("W1")
def test_a_key_answers_also_when_its_memories_are_gone(bank: Bank) -> None:
    ids = bank.retain("the fuse is blown", idempotency_key="k")
    bank.forget(ids)
    assert bank.retain("the fuse is blown", idempotency_key="k") == ids
    assert sql(bank, "SELECT count(*) FROM memories") == [(0,)]


# -- W4


@pytest.mark.fault("W4")
def test_a_forgotten_memory_leaves_nothing_in_any_table(bank: Bank) -> None:
    bank.retain(["Odalys likes tea.", "Odalys reads."], session="s", event_time="2026-01-01")
    (memory,) = bank.retain(
        "Odalys works at Canaryhaven because Canary Two fell.",
        session="s",
        speaker="canary speaker",
        event_time="2026-01-01",
        expansion="who is the canary?",
        context="canary context",
        relation="canary relation",
        subject="Canary Three",
        object="canary object",
        metadata={"canary": 1},
        source="canary source",
    )
    bank.retain("Odalys works.", session="s", event_time="2026-01-01")
    (number,) = (e.number for e in bank.entities() if e.name == "Canary Three")
    bank.add_alias(number, "canary alias")
    bank.merge_entities(number, next(e.number for e in bank.entities() if e.name == "Odalys"))
    bank.queue_enrichment(memory)
    bank.invalidate(memory)
    assert sql(bank, "SELECT count(*) FROM jobs") == [(1,)]
    assert bank.forget(memory) == 1
    with bank._rows.reading() as reading:
        tables = (
            connection_of(reading).execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        )
        left = {
            (table, column)
            for (table,) in tables
            for row in connection_of(reading).execute(f"SELECT * FROM {table}").fetchall()
            for column, value in enumerate(row)
            if "canary" in str(value).lower() or (isinstance(value, bytes) and b"canary" in value.lower())
        }
        dangling = connection_of(reading).execute("PRAGMA foreign_key_check").fetchall()
    assert left == set()
    assert dangling == []
    assert sql(bank, "SELECT count(*) FROM jobs") == sql(bank, "SELECT count(*) FROM merges") == [(0,)]
    assert "canary" not in str(bank.entities()).lower()
    assert len(bank.recall("canary", profile="lexical")) == 0
    assert bank.verify().ok


@pytest.mark.fault("W4")
def test_who_shares_a_name_stays_apart_when_an_employer_is_forgotten(bank: Bank) -> None:
    ids = bank.retain(["Li Na works at Norrhav.", "Li Na works at Quillstad.", "Li Na works at Osprey."])
    bank.retain(["Li Na works at Norrhav, upstairs.", "Li Na works at Quillstad, downstairs."])
    bank.forget(ids)
    assert mentions(bank)["Li Na (norrhav)"] == mentions(bank)["Li Na (quillstad)"] == 1
    bank.retain("Li Na reads.")
    third = bank.retain("Li Na works at Osprey.")
    bank.retain("Li Na now works at Osprey, in the attic.")
    bank.forget(third)
    assert sum(count for name, count in mentions(bank).items() if name.startswith("Li Na")) == 4


@pytest.mark.fault("W4")
@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("DELETE FROM links WHERE number = 1", "links"),
        ("UPDATE links SET weight = 0.25 WHERE number = 1", "links"),
        ("UPDATE links SET kind = 'causal' WHERE number = 1", "links"),
        ("UPDATE links SET target = 0, source = 2 WHERE number = 1", "links"),
        ("INSERT INTO links(source, target, kind, weight) VALUES (2, 0, 'causal', 0.5)", "links"),
        ("DELETE FROM mentions WHERE number = 1", "by_row"),
        ("UPDATE mentions SET entity = 2 WHERE number = 1", "by_entity"),
    ],
)
@pytest.mark.parametrize("sealed", [False, True])
def test_a_link_or_mention_that_was_changed_is_found(
    bank: Bank, statement: str, part: str, *, sealed: bool
) -> None:
    bank.retain(["Ann likes rye.", "Ben likes tea.", "Mo reads."], session="s")
    if sealed:
        assert bank._rows.merge_if_due(force=True)
        with bank._rows.reading():
            pass
    assert bank.verify().ok
    change(bank, statement)
    problems = bank.verify().problems
    assert any(part in problem for problem in problems), problems


# -- R4


@pytest.mark.fault("R4")
@pytest.mark.parametrize("at_once", [True, False])
def test_records_that_differ_in_a_number_are_each_found(bank: Bank, *, at_once: bool) -> None:
    records = [
        f"Pump serial SN-{4711 + n} passed the pressure test on bench two; inspector signed."
        for n in range(30)
    ]
    if at_once:
        ids = bank.retain(records)
    else:
        ids = [memory for record in records for memory in bank.retain(record)]
    assert len(set(ids)) == 30
    for n, memory in enumerate(ids):
        assert bank.get_memory(memory).proof_count == 1
        for query in (f"SN-{4711 + n}", f"did pump SN-{4711 + n} pass?"):
            assert bank.recall(query, profile="lexical").hits[0].id == memory, query


@pytest.mark.fault("R4")
def test_overlapping_pieces_of_a_document_are_each_kept(bank: Bank) -> None:
    words = [f"word{n}" for n in range(60)]
    pieces = [" ".join(words[start : start + 20]) for start in range(0, 50, 10)]
    ids = bank.retain(pieces, document_id="d")
    assert len(set(ids)) == 5
    for memory, piece in zip(ids, pieces, strict=True):
        assert bank.get_memory(memory).text == piece
        assert bank.recall(piece).hits[0].id == memory
    assert bank.retain(pieces, document_id="d") == ids


# -- bad input


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        ({"valid_from": "2026-03-01", "valid_to": "2026-02-01"}, "valid_to"),
        ({"valid_from": "2026-03-01", "valid_to": "2026-03-01"}, "valid_to"),
        ({"valid_from": "2026-03-01T10:00+02:00", "valid_to": "2026-03-01T08:00Z"}, "valid_to"),
        ({"valid_to": "2026-03-01T09:00Z"}, "valid_to"),
        ({"event_time": "2026-02-01", "valid_to": "2026-01-01"}, "valid_to"),
        ({"event_time": "0000"}, "event_time"),
        ({"event_time": "10000-01-01"}, "event_time"),
        ({"event_time": "0001-01-01T00:00+01:00"}, "event_time"),
        ({"event_time": "9999-12-31T23:59-01:00"}, "event_time"),
        ({"event_time": "2026-02-30"}, "event_time"),
        ({"event_time": float("nan")}, "event_time"),
        ({"tags": [f"t{n}" for n in range(100_000)]}, "tags"),
        ({"session": "a\0b"}, "session"),
        ({"speaker": "\ud800"}, "speaker"),
        ({"document_id": 7}, "document_id"),
        ({"role": "operator"}, "role"),
        ({"document_id": " "}, "document_id"),
        ({"session": "\n"}, "session"),
        ({"relation": "leads", "subject": "Ann"}, "object"),
        ({"relation": "leads", "object": "Heron"}, "subject"),
        ({"subject": "Ann", "object": "Heron"}, "relation"),
        ({"relation": "leads", "subject": "  ", "object": "Heron"}, "subject"),
        ({"single_valued": 1}, "single_valued"),
        ({"deduplicate": None, "expansion": b"?"}, "expansion"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"idempotency_key": "k\0"}, "idempotency_key"),
    ],
    ids=lambda value: "tags" if isinstance(value, dict) and "tags" in value else None,
)
def test_what_is_wrong_is_named_and_nothing_is_stored(bank: Bank, stated: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        bank.retain("the fuse is blown", **stated)
    assert caught.value.field == field
    if "idempotency_key" not in stated:
        with pytest.raises(InputError) as caught:
            bank.retain(["a lamp is lit", {"text": "the fuse is blown", **stated}])
        assert caught.value.field == f"items[1].{field}"
    assert sql(bank, "SELECT count(*) FROM memories") == sql(bank, "SELECT count(*) FROM episodes") == [(0,)]
    assert len(bank.retain("the fuse is blown")) == 1


def test_an_unknown_role_is_answered_with_the_nearest(bank: Bank) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'assistant'"):
        bank.retain("fuse", role="assistent")


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_the_first_and_the_last_year_are_years(bank: Bank, year: str) -> None:
    (memory,) = bank.retain("the fuse is blown", event_time=year)
    stored = bank.get_memory(memory)
    assert stored.event_time == datetime(int(year), 1, 1, tzinfo=UTC)
    assert stored.occurred is not None
    assert stored.occurred.end == (FOREVER if year == "9999" else parse_time("0002", "t").start)
    (ended,) = bank.retain("a lamp is lit", valid_from="0001", valid_to="9999-12-31")
    for window in (year, (f"{year}-01-01", f"{year}-12-31")):
        assert [hit.id for hit in bank.recall("fuse lamp", window=window)] == [memory]
    assert bank.get_memory(ended).valid_to == datetime(9999, 12, 31, tzinfo=UTC)
    bank.retain("one more", event_time="0001-01-01T00:00Z")
    bank.retain("and one more", event_time="9999-12-31T23:59:59.999999Z")
    assert bank.verify().ok


def test_offsets_are_mixed_freely_and_naive_times_are_the_stores(tmp_path: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path / "s", clock=clock, embedder=None, zone=ZoneInfo("Europe/Berlin")) as store:
        bank = store.bank()
        same: list[str | datetime] = [
            "2026-01-05T09:00",
            "2026-01-05T08:00Z",
            "2026-01-05T09:00+01:00",
            "2026-01-05T13:30+05:30",
            datetime(2026, 1, 5, 9),  # noqa: DTZ001 naive on purpose
            datetime(2026, 1, 5, 8, tzinfo=UTC),
        ]
        ids = [bank.retain("the fuse is blown", event_time=moment)[0] for moment in same]
        assert len(set(ids)) == 1
        assert bank.get_memory(ids[0]).event_time == datetime(2026, 1, 5, 8, tzinfo=UTC)
        (summer,) = bank.retain("a lamp is lit", event_time="2026-07-05T09:00", valid_from="2026-01-01")
        assert bank.get_memory(summer).event_time == datetime(2026, 7, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("unknown", ["0123456789abcdef", "", "no id", "x" * 64])
def test_unknown_ids_are_not_found(bank: Bank, unknown: str) -> None:
    bank.retain("Ann likes rye.")
    before = bank.stats()["sequence"]
    for act in (bank.invalidate, bank.history, bank.get_memory, bank.source):
        with pytest.raises(NotFoundError):
            act(unknown)
    assert bank.forget(unknown) == 0
    assert bank.stats()["sequence"] == before


@pytest.mark.parametrize("unknown", [0, -1, 999, 2**62, 2**70, None, "Ann", 1.5, [1]], ids=repr)
def test_unknown_entities_and_merges_are_not_found(bank: Bank, unknown: Any) -> None:
    bank.retain("Ann likes rye.")
    (known,) = (e.number for e in bank.entities() if e.name == "Ann")
    for act in (
        lambda: bank.add_alias(unknown, "Anna"),
        lambda: bank.merge_entities(unknown, known),
        lambda: bank.merge_entities(known, unknown),
        lambda: bank.undo_merge(unknown),
    ):
        with pytest.raises(NotFoundError):
            act()


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "x" * 257])
def test_an_alias_must_be_a_name(bank: Bank, name: str) -> None:
    bank.retain("Ann likes rye.")
    with pytest.raises(InputError):
        bank.add_alias(bank.entities()[0].number, name)


def test_an_end_before_the_beginning_is_refused(bank: Bank) -> None:
    (memory,) = bank.retain("the fuse is blown")
    with pytest.raises(InputError, match="before the memory began") as caught:
        bank.invalidate(memory, at="2026-02-28")
    assert caught.value.field == "at"
    assert len(bank.history(memory)) == 1


@pytest.mark.parametrize("stub", [True, False])
def test_a_retain_of_nothing_stores_nothing(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder, *, stub: bool
) -> None:
    with simonides.open(tmp_path / "s", clock=clock, embedder=stub_embedder if stub else None) as store:
        assert store.bank().retain([], idempotency_key="k") == []
        assert store.bank().settle() == 0
        assert store.bank().entities() == []
