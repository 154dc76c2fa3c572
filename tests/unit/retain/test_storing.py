from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embedded_rows import connection_of

from simonides.records.extraction import Cause, EntityKind, Extraction, Mention, Relation, TimeMention
from simonides.records.interval import FOREVER, Interval, Precision, parse_time
from simonides.retain import storing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.retain.conftest import Desk

    OpenDesk = Callable[..., Desk]

TUESDAY, THURSDAY = "Priya is on call on Tuesday", "Priya is on call on Thursday"


def on_call(day: str) -> Extraction:
    relation = Relation("on call on", "Priya", day, single_valued=True)
    return Extraction((Mention("Priya", EntityKind.PERSON, 0, 5),), (relation,))


ROTA = {TUESDAY: on_call("Tuesday"), THURSDAY: on_call("Thursday")}


def at(text: str) -> int:
    return parse_time(text, "time").start


def texts(desk: Desk, **asked: Any) -> list[str]:
    return sorted(hit.text for hit in desk.bank.recall("Priya call fuse", **asked, precision="wide"))


# -- the same again


@pytest.mark.spec("HI-17")
def test_nearly_the_same_words_are_one_more_proof(desk: OpenDesk) -> None:
    bank = desk().bank
    (memory,) = bank.retain("the fuse is blown")
    assert bank.retain("The fuse is blown!") == [memory]
    assert [version.proof_count for version in bank.history(memory)] == [1, 2]
    assert bank.get_memory(memory).text == "the fuse is blown"


@pytest.mark.parametrize(
    "stated",
    [
        {"project": "heron"},
        {"tags": ["cellar"]},
        {"acl": ["ann"]},
        {"context": "cellar"},
        {"kind": "decision"},
        {"event_time": "2026-02-01"},
        {"valid_from": "2026-02-01"},
        {"valid_to": "2027"},
        {"speaker": "Ann"},
        {"metadata": {"serial": 2}},
        {"path": "b.md"},
        {"document_id": "notes"},
        {"relation": "states", "subject": "fuse", "object": "blown"},
        {"deduplicate": False},
    ],
)
@pytest.mark.fault("R4")
def test_what_the_caller_states_otherwise_is_another_memory(desk: OpenDesk, stated: dict[str, Any]) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown", event_time=None)
    (other,) = open_desk.bank.retain("The fuse is blown!", **stated)
    assert other != memory
    assert open_desk.bank.get_memory(memory).proof_count == 1


def test_what_ends_is_not_said_any_more(desk: OpenDesk) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown")
    open_desk.clock.advance(days=1)
    open_desk.bank.invalidate(memory)
    open_desk.clock.advance(days=1)
    assert open_desk.bank.retain("the fuse is blown") != [memory]


def test_a_repeat_inside_a_batch_is_a_repeat(desk: OpenDesk) -> None:
    bank = desk().bank
    one, two, three = bank.retain(["the fuse is blown", "the fuse is blown", "The fuse is blown."])
    assert one == two == three
    assert bank.get_memory(one).proof_count == 2


def test_a_batch_and_one_by_one_link_and_weigh_alike(desk: OpenDesk) -> None:
    said = [
        "the fuse is blown",
        "the fuse is blown",
        "The fuse is blown!",
        "the fuse is out",
        "a fuse is out",
    ]
    together, alone = desk(), desk()
    together.bank.retain(said)
    for text in said:
        alone.bank.retain(text)
    assert together.links("semantic") == alone.links("semantic") != set()
    weights = [
        [(text, round(salience, 4)) for text, salience in one.rows("SELECT text, salience FROM memories")]
        for one in (together, alone)
    ]
    assert weights[0] == weights[1]


# -- what the engine just returned


def test_what_was_just_returned_is_not_retained_again(desk: OpenDesk) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown", tags=["cellar"])
    answer = open_desk.bank.recall("fuse", precision="wide")
    assert open_desk.bank.retain("the fuse  is blown ") == [memory]
    assert open_desk.bank.retain(answer.context) == [memory]
    assert open_desk.rows("SELECT count(*) FROM memories") == [(1,)]


@pytest.mark.parametrize(
    "stated",
    [
        {"event_time": "2026-02-01"},
        {"valid_from": "2026-02-01"},
        {"valid_to": "2027"},
        {"document_id": "notes"},
        {"relation": "states", "subject": "fuse", "object": "blown"},
    ],
)
def test_a_returned_text_with_a_time_or_a_statement_says_more(desk: OpenDesk, stated: dict[str, Any]) -> None:
    bank = desk().bank
    (memory,) = bank.retain("the fuse is blown")
    bank.recall("fuse", precision="wide")
    assert bank.retain("the fuse is blown", **stated) != [memory]


def test_a_returned_text_that_has_ended_since_is_news(desk: OpenDesk) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown", tags=["cellar"])
    open_desk.bank.recall("fuse", precision="wide")
    open_desk.bank.invalidate(memory, at=open_desk.clock.advance(seconds=1))
    assert open_desk.bank.retain("the fuse is blown") != [memory]
    open_desk.bank.recall("fuse", precision="wide")
    open_desk.bank.forget(memory)
    assert len(open_desk.bank.retain("the fuse is blown")) == 1


def test_a_private_text_that_was_returned_swallows_nothing_for_others(desk: OpenDesk) -> None:
    open_desk = desk()
    (private,) = open_desk.bank.retain("the fuse is blown", acl=["ann"])
    open_desk.bank.recall("fuse", precision="wide")
    (public,) = open_desk.bank.retain("the fuse is blown")
    assert public != private
    assert [hit.id for hit in open_desk.seen_by("ben").recall("fuse", precision="wide")] == [public]


# -- change


@pytest.mark.spec("ME-10")
@pytest.mark.spec("DF-08")
def test_a_then_b_then_a_gives_three_spans(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    bank, ids = open_desk.bank, []
    for day, text in enumerate((TUESDAY, THURSDAY, TUESDAY)):
        open_desk.clock.now = datetime(2026, 3, 1 + day, tzinfo=UTC)
        ids += bank.retain(text)
    assert len(set(ids)) == 3
    spans = [(bank.get_memory(i).valid_from_micros, bank.get_memory(i).valid_to_micros) for i in ids]
    edges = [at("2026-03-01"), at("2026-03-02"), at("2026-03-03"), FOREVER]
    assert spans == list(pairwise(edges))
    assert [bank.get_memory(i).superseded_by for i in ids] == [ids[1], ids[2], ""]


@pytest.mark.spec("ME-10")
def test_a_then_b_then_a_also_in_one_batch_and_under_a_clock_that_stands(desk: OpenDesk) -> None:
    for batches in ([[TUESDAY, THURSDAY, TUESDAY]], [[TUESDAY], [THURSDAY], [TUESDAY]]):
        open_desk = desk(ROTA)
        ids = [i for batch in batches for i in open_desk.bank.retain(batch)]
        assert len(set(ids)) == 3
        assert texts(open_desk) == [TUESDAY]


def test_saying_again_what_had_a_beginning_of_its_own_changes_nothing(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    said = [
        {"text": TUESDAY, "event_time": "2026-01-05"},
        {"text": THURSDAY, "event_time": "2026-02-05"},
    ]
    ids = open_desk.bank.retain(said)
    before = open_desk.rows("SELECT * FROM memories")
    open_desk.clock.advance(days=1)
    assert open_desk.bank.retain(said) == ids
    assert open_desk.rows("SELECT * FROM memories") == before


@pytest.mark.spec("ME-10")
def test_at_the_very_moment_of_the_change_only_the_new_statement_holds(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    open_desk.bank.retain(TUESDAY)
    changed = open_desk.clock.advance(days=1)
    open_desk.bank.retain(THURSDAY)
    assert texts(open_desk, as_of=changed) == [THURSDAY]
    assert texts(open_desk, as_of="2026-03-01T10:00Z", known_at=changed) == [TUESDAY]


def test_an_imported_change_is_recorded_when_it_was_learned(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    open_desk.bank.retain(TUESDAY, recorded_at="2026-01-01")
    open_desk.bank.retain(THURSDAY, recorded_at="2026-02-01")
    assert texts(open_desk, as_of="2026-01-15") == [TUESDAY]
    assert texts(open_desk, as_of="2026-02-15") == [THURSDAY]
    assert texts(open_desk) == [THURSDAY]


def test_a_correction_imported_with_an_older_time_leaves_no_row_that_never_was(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    (memory,) = open_desk.bank.retain(TUESDAY, valid_from="2026-01-01")
    open_desk.bank.retain(THURSDAY, valid_from="2026-01-01", recorded_at="2026-01-02")
    (known,) = open_desk.bank.history(memory)
    assert known.ingested_at_micros < known.expired_at_micros
    assert texts(open_desk) == [THURSDAY]


def test_without_deduplication_nothing_is_closed(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    open_desk.bank.retain(TUESDAY)
    open_desk.bank.retain(THURSDAY, deduplicate=False)
    assert texts(open_desk) == [THURSDAY, TUESDAY]


def test_statements_of_merged_entities_close_each_other(desk: OpenDesk) -> None:
    text = "P. Raman is on call on Thursday"
    other = Extraction(relations=(Relation("on call on", "P. Raman", "Thursday", single_valued=True),))
    open_desk = desk({**ROTA, text: other})
    bank = open_desk.bank
    bank.retain("P. Raman takes a call", relation="takes", subject="P. Raman", object="call")
    for merged in ("Priya", "P. Raman"):
        open_desk.clock.advance(days=1)
        bank.retain([TUESDAY, text])
        assert {TUESDAY, text} <= set(texts(open_desk))
        numbers = {one.name: one.number for one in bank.entities()}
        merge = bank.merge_entities(numbers.pop(merged), numbers.popitem()[1])
        open_desk.clock.advance(days=1)
        friday = f"{merged} is on call on Friday"
        bank.retain(friday, relation="on call on", subject=merged, object="Friday", single_valued=True)
        assert {TUESDAY, text, friday} & set(texts(open_desk)) == {friday}
        bank.undo_merge(merge)


@pytest.mark.parametrize("relation", ["works at", "lives in", "reports to", "keeps"])
def test_what_has_one_object_at_a_time_closes_the_older_statement(desk: OpenDesk, relation: str) -> None:
    open_desk = desk({})
    for place in ("Norrhav", "Quillstad"):
        open_desk.clock.advance(days=1)
        open_desk.bank.retain(
            f"{relation} {place}", relation=relation, subject="Odalys", object=place, single_valued=True
        )
    assert texts(open_desk) == [f"{relation} Quillstad"]
    assert [one.name for one in open_desk.bank.entities()].count("Odalys") == 1


def test_words_and_statement_that_name_other_objects_are_one_statement(desk: OpenDesk) -> None:
    def words(place: str) -> str:
        return f"Odalys lives in {place}, says the rota."

    found = {
        words(place): Extraction(relations=(Relation("lives in", "Odalys", place, single_valued=True),))
        for place in ("Norrhav", "Malvern")
    }
    open_desk = desk(found)
    for place, told in (("Norrhav", "Norrhav Hill"), ("Malvern", "Malvern Hill"), ("Malvern", "Malvern")):
        open_desk.clock.advance(days=1)
        open_desk.bank.retain(
            words(place), subject="Odalys", relation="lives in", object=told, single_valued=True, salience=0.5
        )
    # The second closed the first, once; the third agrees with what the words of the second say.
    versions = open_desk.rows("SELECT max(version) FROM memories GROUP BY id ORDER BY min(ordinal)")
    assert [version for (version,) in versions] == [2, 1, 1]


# -- documents


@pytest.mark.parametrize("stated", [{}, {"event_time": "2026-02-01"}])
def test_retaining_a_document_again_changes_nothing(desk: OpenDesk, stated: dict[str, Any]) -> None:
    open_desk = desk(ROTA)
    said = [TUESDAY, THURSDAY, "the fuse is blown", "The fuse is blown!", "the fuse is blown"]
    ids = open_desk.bank.retain(said, document_id="notes", **stated)
    assert len(set(ids)) == 4
    before = open_desk.rows("SELECT * FROM memories")
    for _ in range(2):
        open_desk.clock.advance(days=1)
        assert open_desk.bank.retain(said, document_id="notes", **stated) == ids
    assert open_desk.rows("SELECT * FROM memories") == before


def test_a_new_text_of_a_document_ends_what_left_it_and_keeps_its_history(desk: OpenDesk) -> None:
    open_desk = desk()
    kept, gone = open_desk.bank.retain(["the fuse is blown", "a call for Priya"], document_id="notes")
    open_desk.clock.advance(days=1)
    assert open_desk.bank.retain(["the fuse is blown"], document_id="notes") == [kept]
    assert texts(open_desk) == ["the fuse is blown"]
    assert [version.valid_to_micros == FOREVER for version in open_desk.bank.history(gone)] == [True, False]
    open_desk.clock.advance(days=1)
    back = open_desk.bank.retain(["a call for Priya"], document_id="notes")
    assert back != [gone]
    assert texts(open_desk) == ["a call for Priya"]


def test_a_statement_that_replaces_another_in_a_document_is_its_successor(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    (old,) = open_desk.bank.retain([TUESDAY], document_id="notes")
    open_desk.clock.advance(days=1)
    (new,) = open_desk.bank.retain([THURSDAY], document_id="notes")
    assert open_desk.bank.get_memory(old).superseded_by == new
    open_desk.clock.advance(days=1)
    assert open_desk.bank.retain([TUESDAY], document_id="notes") != [old]
    assert texts(open_desk) == [TUESDAY]


def test_documents_of_one_name_for_other_readers_are_other_documents(desk: OpenDesk) -> None:
    open_desk = desk()
    open_desk.bank.retain(["the fuse of all"], document_id="notes")
    open_desk.bank.retain(["the fuse of Ann"], document_id="notes", acl=["ann"])
    open_desk.seen_by("ben").retain(["the fuse of Ben"], document_id="notes", acl=["ben"])
    assert texts(open_desk) == ["the fuse of Ann", "the fuse of Ben", "the fuse of all"]
    open_desk.clock.advance(days=1)
    open_desk.bank.retain(["a new fuse of all"], document_id="notes")
    assert texts(open_desk) == ["a new fuse of all", "the fuse of Ann", "the fuse of Ben"]


def test_a_document_says_nothing_again_for_another(desk: OpenDesk) -> None:
    open_desk = desk()
    (plain,) = open_desk.bank.retain("the fuse is blown")
    (one,) = open_desk.bank.retain(["The fuse is blown"], document_id="one")
    (two,) = open_desk.bank.retain(["the fuse is blown."], document_id="two")
    assert len({plain, one, two}) == 3
    open_desk.clock.advance(days=1)
    open_desk.bank.retain(["a fuse of its own"], document_id="one")
    assert texts(open_desk) == ["a fuse of its own", "the fuse is blown", "the fuse is blown."]


# -- ending


def test_ending_a_memory_twice_is_ending_it_once(desk: OpenDesk) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown")
    open_desk.clock.advance(days=1)
    open_desk.bank.invalidate(memory)
    before = open_desk.bank.history(memory)
    open_desk.clock.advance(days=1)
    open_desk.bank.invalidate(memory)
    assert open_desk.bank.history(memory) == before


def test_an_earlier_end_is_a_correction(desk: OpenDesk) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown", valid_from="2026-01-01")
    open_desk.bank.invalidate(memory, at="2026-02-01")
    open_desk.bank.invalidate(memory, at="2026-01-15")
    assert open_desk.bank.get_memory(memory).valid_to_micros == at("2026-01-15")


def test_what_never_held_is_withdrawn(desk: OpenDesk) -> None:
    open_desk = desk()
    (memory,) = open_desk.bank.retain("the fuse is blown", valid_from="2026-01-01")
    open_desk.bank.invalidate(memory, at="2026-01-01")
    (version,) = open_desk.bank.history(memory)
    assert version.expired_at_micros < FOREVER
    assert texts(open_desk, as_of="2026-02-01", known_at=open_desk.clock.advance(days=1)) == []


# -- links


@pytest.mark.spec("HI-03")
def test_semantic_links_begin_at_seven_tenths(desk: OpenDesk) -> None:
    vectors = {"a": [1.0, 0, 0], "near": [0.72, 0.6939740629, 0], "far": [0.68, 0, 0.7332121]}
    open_desk = desk(vectors=vectors)
    open_desk.bank.retain(["a", "near", "far"])
    assert open_desk.links("semantic") == {("near", "a", 0.72)}


def test_at_most_so_many_semantic_links_are_made(desk: OpenDesk) -> None:
    open_desk = desk(vectors={f"t{n}": [1.0, n / 100, 0] for n in range(9)})
    for n in range(9):
        open_desk.bank.retain(f"t{n}")
    assert {target for source, target, _ in open_desk.links("semantic") if source == "t8"} == {
        f"t{n}" for n in range(3, 8)
    }


@pytest.mark.spec("HI-03")
def test_a_cause_is_linked_to_the_memory_that_tells_it(desk: OpenDesk) -> None:
    text = "the cellar was dark because the fuse had blown"
    cause = Extraction(causes=(Cause((28, len(text)), (0, 19), 0.8),))
    vectors = {"the old fuse had blown": [1.0, 0], "a lamp was lit": [0.9, 0.1], text: [0.8, 0.3]}
    open_desk = desk({text: cause}, vectors)
    open_desk.bank.retain(["the old fuse had blown", "a lamp was lit"])
    open_desk.bank.retain(text)
    assert open_desk.links("causal") == {(text, "the old fuse had blown", 0.8)}


def test_a_cause_may_be_the_turn_before(desk: OpenDesk) -> None:
    text = "so it was dark"
    cause = Extraction(causes=(Cause((0, 2), (3, 14), 0.5),))
    open_desk = desk({text: cause})
    open_desk.bank.retain(["so it is", text], session="s")
    assert open_desk.links("causal") == set()
    assert open_desk.links("session") == {(text, "so it is", 1.0)}


def test_what_happened_within_a_day_is_linked(desk: OpenDesk) -> None:
    open_desk = desk(vectors={name: [float(name == other) for other in "abcdefg"] for name in "abcdefg"})
    for name, moment in {
        "a": "2026-01-01T12:00Z",
        "b": "2026-01-01T18:00Z",
        "c": "2026-01-02T18:00Z",
        "d": "2026-01-02",
        "e": "2026-01",
        "f": "2026-01-03T18:00:00.000001Z",
    }.items():
        open_desk.bank.retain(name, event_time=moment)
    assert open_desk.links("temporal") == {
        ("b", "a", 0.75),
        ("c", "b", 0.3),
        ("d", "a", 0.5),
        ("d", "b", 0.75),
        ("d", "c", 0.3),
    }


@pytest.mark.spec("DF-07")
def test_a_year_is_not_its_first_of_january_to_what_happened_then(desk: OpenDesk) -> None:
    open_desk = desk()
    open_desk.bank.retain("the year of the fuse", event_time="2026")
    open_desk.bank.retain("a fuse on New Year's Day", event_time="2026-01-01")
    open_desk.bank.retain("once more in the year of the lamp", event_time="2026")
    assert open_desk.links("temporal") == set()


def test_an_hour_is_known_well_enough(desk: OpenDesk) -> None:
    hour = parse_time("2026-01-01T12:00Z", "t").start
    when = TimeMention("at noon", 0, 7, Interval(hour, hour + 3_600_000_000, Precision.HOUR))
    open_desk = desk({"at noon the fuse blew": Extraction(times=(when,))})
    open_desk.bank.retain("lunch was late", event_time="2026-01-01T13:00Z")
    open_desk.bank.retain("at noon the fuse blew")
    assert open_desk.links("temporal") == {("at noon the fuse blew", "lunch was late", round(23 / 24, 3))}


def test_the_nearest_in_time_are_linked_not_the_newest(desk: OpenDesk) -> None:
    open_desk = desk()
    for minute in range(30):
        open_desk.bank.retain(f"event {minute}", event_time=f"2026-01-01T12:{minute:02}Z", deduplicate=False)
    open_desk.bank.retain("in the midst", event_time="2026-01-01T12:15Z")
    near = {target for source, target, _ in open_desk.links("temporal") if source == "in the midst"}
    assert len(near) == 10
    assert {f"event {minute}" for minute in range(11, 20)} <= near


def test_turns_of_a_conversation_are_linked_in_order(desk: OpenDesk) -> None:
    open_desk = desk()
    open_desk.bank.retain(["one", "two"], session="s")
    open_desk.bank.retain(["uno"], session="other")
    open_desk.bank.retain(["three"], session="s")
    assert open_desk.links("session") == {("two", "one", 1.0), ("three", "two", 1.0)}


@pytest.mark.spec("HI-03")
def test_links_hang_on_the_memory_not_on_its_version(desk: OpenDesk) -> None:
    """A revised memory keeps its links, and a new one links to its first version."""
    open_desk = desk(ROTA)
    bank = open_desk.bank
    (old,) = bank.retain("Priya is on call on Monday")
    (memory,) = bank.retain(TUESDAY)
    before = open_desk.links("semantic")
    assert before
    bank.invalidate(memory, at=open_desk.clock.advance(days=1))
    bank.retain("priya is on call on monday.")
    assert [len(bank.history(i)) for i in (old, memory)] == [2, 2]
    assert open_desk.links("semantic") == before
    with bank._rows.reading() as reading:
        assert reading.snapshot.column("root").tolist() == [0, 1, 1, 0]
        assert reading.snapshot.graph.linked(np.array([0, 1])).second.tolist() == [1, 0]
    bank.retain(THURSDAY)
    targets = open_desk.rows("SELECT target FROM links WHERE source=(SELECT max(root) FROM memories)")
    assert targets
    assert {target for (target,) in targets} <= {0, 1}


def test_a_revised_memory_keeps_its_mentions_and_statements(desk: OpenDesk) -> None:
    open_desk = desk(ROTA)
    open_desk.bank.retain(TUESDAY)
    open_desk.bank.retain(TUESDAY.upper() + "!")
    assert [(one.name, one.mentions) for one in open_desk.bank.entities()] == [("Priya", 1)]
    assert open_desk.rows("SELECT ordinal, name, object, single_valued FROM relations ORDER BY ordinal") == [
        (0, "on call on", "tuesday", 1),
        (1, "on call on", "tuesday", 1),
    ]


# -- large batches


def large(count: int) -> list[dict[str, Any]]:
    """Events a quarter of an hour apart, in words that are partly the same."""
    return [
        {
            "text": f"reading {n} of gauge {n % 7} at the weir of lock {n % 11}",
            "event_time": f"2026-01-{1 + n // 96:02}T{n // 4 % 24:02}:{15 * (n % 4):02}Z",
            "session": f"lock {n % 11}",
        }
        for n in range(count)
    ]


@pytest.fixture
def small_bulk(monkeypatch: pytest.MonkeyPatch) -> int:
    """Batches of more than 40 items are large."""
    monkeypatch.setattr(storing, "LARGEST_COMPARED", 40)
    return 40


def test_a_large_batch_is_stored_at_once_and_compared_later(desk: OpenDesk, small_bulk: int) -> None:
    open_desk = desk()
    ids = open_desk.bank.retain(large(100))
    assert len(set(ids)) == 100
    assert open_desk.bank.stats()["waiting"] == 100
    assert open_desk.links("semantic") == open_desk.links("temporal") == set()
    assert len(open_desk.links("session")) == 89
    assert open_desk.bank.recall(large(100)[57]["text"], precision="wide").hits[0].id == ids[57]
    assert open_desk.bank.settle() == 100
    assert open_desk.bank.stats()["waiting"] == 0
    assert open_desk.bank.settle() == 0
    assert open_desk.bank.verify().ok


@pytest.mark.parametrize("steps", [[None], [30, 30, None], [1] * 3 + [None]])
def test_settling_makes_the_links_that_small_batches_make(
    desk: OpenDesk, small_bulk: int, steps: list[int | None]
) -> None:
    """Links of these kinds join the same memories, their weights good to 5e-5, the scan's rounding.

    Not equal: salience (all of a large batch is new) and causal links (none).
    """
    small, settled = desk(), desk()
    items = large(100)
    for first in range(0, 100, 20):
        small.bank.retain(items[first : first + 20], deduplicate=False)
    settled.bank.retain(items, deduplicate=False)
    for most in steps:
        settled.bank.settle(most)
    for kind in ("semantic", "temporal", "session"):
        mine, theirs = sorted(settled.links(kind, places=9)), sorted(small.links(kind, places=9))
        assert [link[:2] for link in mine] == [link[:2] for link in theirs] != []
        assert [link[2] for link in mine] == pytest.approx([link[2] for link in theirs], abs=5e-5)


def test_settling_after_a_change_links_what_there_is_now(desk: OpenDesk, small_bulk: int) -> None:
    open_desk = desk()
    ids = open_desk.bank.retain(large(60))
    open_desk.bank.forget(ids[10])
    open_desk.bank.retain("Reading 20 of gauge 6 at the weir of lock 9!", session="lock 9", event_time=None)
    open_desk.bank.invalidate(ids[30], at=open_desk.clock.advance(days=1))
    assert open_desk.bank.stats()["waiting"] == 59
    assert open_desk.bank.settle() == 59
    assert open_desk.bank.verify().ok
    ends = {end for source, target, _ in open_desk.links("semantic") for end in (source, target)}
    assert large(60)[20]["text"] in ends
    assert large(60)[10]["text"] not in ends


def test_a_large_batch_closes_and_repeats_like_a_small_one(desk: OpenDesk, small_bulk: int) -> None:
    open_desk = desk(ROTA)
    ids = open_desk.bank.retain([TUESDAY, THURSDAY, *(f"fuse {n}" for n in range(50)), "fuse 3"])
    assert ids[-1] == ids[5]
    assert open_desk.bank.get_memory(ids[0]).superseded_by == ids[1]


def test_settling_withdraws_what_says_again_what_was_there(desk: OpenDesk, small_bulk: int) -> None:
    open_desk = desk()
    bank = open_desk.bank
    first, *_ = ids = bank.retain(
        ["The fuse of the weir is blown.", *(f"Gauge {n} reads." for n in range(49))]
    )
    again = [
        "the fuse of the weir is blown",
        "The fuse of the weir, is blown!",
        "THE FUSE of the weir is blown",
    ]
    repeats = bank.retain([*again, *(f"A lamp {n} was lit." for n in range(50))])[:3]
    assert bank.stats()["current"] == 103
    bank.settle()
    assert bank.get_memory(first).proof_count == 4
    assert bank.stats()["current"] == 100
    assert all(len(bank.history(one)) == 1 for one in [*ids[1:], *repeats])
    assert not {hit.id for hit in bank.recall("fuse weir blown", limit=200, precision="wide")} & set(repeats)
    assert bank.verify().ok
    assert bank.settle() == 0


def test_settling_keeps_repeats_that_were_to_be_kept(desk: OpenDesk, small_bulk: int) -> None:
    open_desk = desk()
    texts = ["the fuse is blown", "The fuse is blown!", *(f"lamp {n}" for n in range(50))]
    open_desk.bank.retain(texts, deduplicate=False)
    open_desk.bank.settle()
    assert open_desk.bank.stats()["current"] == len(texts)


def test_the_index_knows_of_links_that_were_made_later(desk: OpenDesk, small_bulk: int) -> None:
    open_desk = desk()
    open_desk.bank.retain(large(60))
    with open_desk.bank._rows.reading() as reading:
        before = len(reading.snapshot.graph.newer_links)
    open_desk.bank.settle(10)
    with open_desk.bank._rows.reading() as reading:
        after = len(reading.snapshot.graph.newer_links)
        assert after == connection_of(reading).execute("SELECT count(*) FROM links").get
    assert before < after


# -- sources


@pytest.mark.spec("HI-15")
def test_every_memory_keeps_its_raw_text_and_where_it_came_from(desk: OpenDesk) -> None:
    open_desk = desk()
    open_desk.seen_by("ann").retain(
        "the fuse is blown", role="tool", source="log", speaker="Kofi", session="s", document_id="d"
    )
    assert open_desk.rows(
        "SELECT e.text, e.source, e.document, e.session, e.speaker, e.author, e.trust, c.start, c.stop"
        " FROM episodes e JOIN chunks c ON c.episode = e.number"
    ) == [("the fuse is blown", "log", "d", "s", "Kofi", "ann", 0.6, 0, 17)]


def test_terms_of_every_field_are_stored_apart(desk: OpenDesk) -> None:
    open_desk = desk()
    open_desk.bank.retain("fuse", context="cellar", relation="blown by", expansion="what is dark?")
    ((terms,),) = open_desk.rows("SELECT terms FROM memories")
    assert set(json.loads(terms)) == {"text", "context", "relation", "expansion"}
