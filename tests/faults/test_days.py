"""When things happen: plans and reports, the day on which something was said, and another day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

import simonides
from simonides.records.interval import from_micros
from simonides.testing.clock import FrozenClock
from simonides.text.times.expressions import find_times

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.testing.embedder import StubEmbedder

BERLIN = ZoneInfo("Europe/Berlin")
# A Wednesday.
NOW = datetime(2026, 11, 18, 10, tzinfo=BERLIN)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def bank(tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder) -> Iterator[Bank]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=stub_embedder, zone=BERLIN) as store:
        yield store.bank("b")


def days(bank: Bank, memory: str) -> tuple[date, date] | None:
    """First and last local day of what happened."""
    occurred = bank.get_memory(memory).occurred
    if occurred is None:
        return None
    first, end = from_micros(occurred.start), from_micros(occurred.end)
    assert first is not None
    assert end is not None
    last = end - timedelta(microseconds=1 if end > first else 0)
    return first.astimezone(BERLIN).date(), last.astimezone(BERLIN).date()


def day(bank: Bank, memory: str) -> date | None:
    """The one local day of what happened."""
    found = days(bank, memory)
    assert found is None or found[0] == found[1]
    return found and found[0]


def found_on(bank: Bank, query: str, moment: date) -> set[str]:
    """What happened on a day, by an explicit window."""
    hits = bank.recall(query, window=(moment, moment + timedelta(days=1)), profile="lexical")
    return {hit.id for hit in hits}


@pytest.mark.fault("N20")
@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("The glazier fits the window on Monday.", date(2026, 11, 23)),
        ("The glazier fitted the window on Monday.", date(2026, 11, 16)),
        ("We sail to Bergholm on 3 June.", date(2027, 6, 3)),
        ("We sailed to Bergholm on 3 June.", date(2026, 6, 3)),
        ("The regatta was supposed to be on Monday.", None),
        ("The hens get corn every Monday.", None),
        ("My hedgehog eats at noon.", None),
    ],
)
def test_a_plan_lies_ahead_and_a_report_behind(bank: Bank, text: str, when: date | None) -> None:
    (memory,) = bank.retain(text)
    assert day(bank, memory) == when


@pytest.mark.fault("N20")
def test_a_plan_holds_from_now_on_and_is_shown_with_its_day(bank: Bank) -> None:
    (memory,) = bank.retain("We sail to Bergholm on 3 June.")
    assert bank.get_memory(memory).valid_from == NOW
    assert "2027-06-03" in bank.recall("Bergholm sail").context
    assert memory in {hit.id for hit in bank.recall("What is on in June 2027?")}


@pytest.mark.fault("N20")
def test_a_question_still_looks_back_unless_it_looks_ahead(bank: Bank) -> None:
    (past,) = bank.retain("The lamp broke.", event_time="2026-11-16")
    (future,) = bank.retain("The lamp gets mended.", event_time="2026-11-23")
    for question, first in (
        ("What did the lamp do on Monday?", past),
        ("What is with the lamp on Monday?", past),
        ("What will the lamp do on Monday?", future),
        ("What is with the lamp next Monday?", future),
    ):
        found = find_times(question, anchor=NOW, zone=BERLIN)
        occurred = bank.get_memory(first).occurred
        assert occurred is not None
        assert found[0].interval == occurred, question
        assert bank.recall(question).hits


SAID_AGAIN = [
    "Watered the ferns today.",
    "Watered the ferns yesterday.",
    "We played chess tonight.",
    "The hens escaped on Monday.",
    "We tiled the bathroom last month.",
    "The mower broke three days ago.",
    "My audition is on Monday.",
]


@pytest.mark.fault("N21")
@pytest.mark.parametrize("text", SAID_AGAIN)
def test_another_day_is_another_event(bank: Bank, clock: FrozenClock, text: str) -> None:
    (first,) = bank.retain(text)
    clock.advance(seconds=3 * 3600)
    assert bank.retain(text) == [first]
    before = days(bank, first)
    clock.advance(days=35)
    bank.recall(text)  # returned a moment ago, and no echo for it
    (second,) = bank.retain(text)
    assert second != first
    assert bank.retain(text) == [second]
    assert days(bank, first) == before
    assert days(bank, second) != before


@pytest.mark.fault("N21")
def test_so_it_is_without_case_and_punctuation(bank: Bank, clock: FrozenClock) -> None:
    (first,) = bank.retain("Watered the ferns today.")
    assert bank.retain("watered the ferns, today") == [first]
    clock.advance(days=35)
    assert bank.retain("watered the ferns, today") != [first]
    assert len(bank.list_memories()) == 2


@pytest.mark.fault("N21")
def test_a_second_time_counts_too(bank: Bank, clock: FrozenClock) -> None:
    text = "Since 3 May 2023 I keep hens, and today one escaped."
    (first,) = bank.retain(text)
    clock.advance(days=35)
    assert bank.retain(text) != [first]


@pytest.mark.fault("N21")
@pytest.mark.parametrize(
    "text", ["I like tea.", "We met on 3 May 2023.", "In 2019 we moved.", "We swim every Monday."]
)
def test_what_does_not_depend_on_the_day_is_one_memory(bank: Bank, clock: FrozenClock, text: str) -> None:
    (first,) = bank.retain(text)
    clock.advance(days=35)
    assert bank.retain(text) == [first]


@pytest.mark.fault("N21")
def test_a_turn_said_again_on_another_day_is_another_turn(bank: Bank, clock: FrozenClock) -> None:
    turn = {"text": "Watered the ferns today.", "speaker": "Ines"}
    (first,) = bank.retain_conversation([turn], session="diary")
    assert bank.retain_conversation([turn], session="diary") == [first]
    clock.advance(days=35)
    (second,) = bank.retain_conversation([turn], session="diary")
    assert second != first
    assert day(bank, second) == date(2026, 12, 23)
    recorded = [{**turn, "recorded_at": f"2026-0{month}-02"} for month in (3, 4)]
    one, other = bank.retain_conversation(recorded, session="diary")
    assert one != other
    assert (day(bank, one), day(bank, other)) == (date(2026, 3, 2), date(2026, 4, 2))


@pytest.mark.fault("N21")
def test_a_conversation_with_times_and_a_document_may_be_given_anew_on_any_day(
    bank: Bank, clock: FrozenClock
) -> None:
    turns = [
        {"text": "Watered the ferns today.", "event_time": "2026-11-02T10:00"},
        {"text": "And the roses yesterday.", "event_time": "2026-11-02T10:01"},
    ]
    ids = bank.retain_conversation(turns, session="s")
    notes = bank.retain_document("Water the ferns tomorrow.\n\nPrune the roses on Monday.", document_id="d")
    clock.advance(days=35)
    assert bank.retain_conversation(turns, session="s") == ids
    again = bank.retain_document("Water the ferns tomorrow.\n\nPrune the roses on Monday.", document_id="d")
    assert again == notes


@pytest.mark.fault("N21")
def test_a_retry_with_its_key_is_the_same_request_on_any_day(bank: Bank, clock: FrozenClock) -> None:
    ids = bank.retain("Watered the ferns today.", idempotency_key="k")
    clock.advance(days=35)
    assert bank.retain("Watered the ferns today.", idempotency_key="k") == ids


@pytest.mark.fault("N22")
def test_the_event_is_what_the_words_say_counted_from_when_it_was_said(bank: Bank) -> None:
    (memory,) = bank.retain("Moved house yesterday.", event_time="2019-05-02")
    assert day(bank, memory) == date(2019, 5, 1)
    assert bank.get_memory(memory).valid_from == datetime(2019, 5, 1, tzinfo=BERLIN)
    assert "1 May 2019" in bank.get_memory(memory).expansion
    assert found_on(bank, "house", date(2019, 5, 1)) == {memory}
    assert found_on(bank, "house", date(2019, 5, 2)) == set()


@pytest.mark.fault("N22")
@pytest.mark.parametrize(
    ("item", "when", "valid_from"),
    [
        ({"text": "Moved house yesterday.", "recorded_at": "2019-05-02"}, date(2019, 5, 1), date(2019, 5, 2)),
        ({"text": "Moved house yesterday.", "valid_from": "2019-05-02"}, date(2026, 11, 17), date(2019, 5, 2)),
        ({"text": "We move tomorrow.", "event_time": "2019-05-02"}, date(2019, 5, 3), date(2019, 5, 2)),
        ({"text": "We move on Friday.", "event_time": "2019-05-02T09:00"}, date(2019, 5, 3), date(2019, 5, 2)),
        ({"text": "We moved on Friday.", "event_time": "2019-05-02T09:00"}, date(2019, 4, 26), date(2019, 4, 26)),
        ({"text": "We moved today.", "event_time": "2019-05-02"}, date(2019, 5, 2), date(2019, 5, 2)),
        ({"text": "In 1987 the mill burnt.", "event_time": "2019-05-02"}, date(2019, 5, 2), date(2019, 5, 2)),
        ({"text": "The mill burnt on 3 May 1987.", "event_time": "2019-05-02"}, date(2019, 5, 2), date(2019, 5, 2)),
        ({"text": "We move tomorrow.", "event_time": "2031-05-02"}, date(2031, 5, 3), date(2026, 11, 18)),
    ],
)  # fmt: skip
def test_words_count_from_the_day_they_were_said(
    bank: Bank, item: dict[str, Any], when: date, valid_from: date
) -> None:
    (memory,) = bank.retain(item)
    assert day(bank, memory) == when
    begins = bank.get_memory(memory).valid_from
    assert begins is not None
    assert begins.astimezone(BERLIN).date() == valid_from


@pytest.mark.fault("N22")
def test_yesterday_of_an_unknown_day_is_no_day(bank: Bank) -> None:
    (memory,) = bank.retain("Moved house yesterday.", event_time="2019")
    assert days(bank, memory) == (date(2019, 1, 1), date(2019, 12, 31))
    assert "December 2018" not in bank.get_memory(memory).expansion


@pytest.mark.fault("N22")
def test_a_backfilled_conversation_is_dated_turn_by_turn(bank: Bank) -> None:
    turns = [
        {"speaker": "Ines", "text": "I repotted the fig yesterday.", "event_time": "2019-05-02T18:00"},
        {"speaker": "Bo", "text": "We fly to Norrhav on Sunday.", "event_time": "2019-05-02T18:01"},
        {"speaker": "Ines", "text": "My sister came last week.", "event_time": "2019-06-20T09:00"},
        {"speaker": "Bo", "text": "Lovely.", "event_time": "2019-06-20T09:01"},
        {"speaker": "Bo", "text": "I sold the boat yesterday.", "recorded_at": "2020-01-01T12:00"},
    ]
    fig, flight, sister, lovely, boat = bank.retain_conversation(turns, session="s")
    assert day(bank, fig) == date(2019, 5, 1)
    assert day(bank, flight) == date(2019, 5, 5)
    assert days(bank, sister) == (date(2019, 6, 10), date(2019, 6, 16))
    assert day(bank, lovely) == date(2019, 6, 20)
    assert day(bank, boat) == date(2019, 12, 31)
    assert found_on(bank, "fig", date(2019, 5, 1)) == {fig}
    assert found_on(bank, "fig", date(2019, 5, 2)) == set()
    assert bank.get_memory(flight).valid_from == datetime(2019, 5, 2, 18, 1, tzinfo=BERLIN)
    assert {memory.id for memory in bank.list_memories(as_of="2019-05-03", known_at="2026-11-19")} == {
        fig,
        flight,
    }


@pytest.mark.fault("N25")
@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("We stayed from 5 May 2026 to 3 May 2026.", None),
        ("We stayed 2026-05-03 to 05.", (date(2026, 5, 3), date(2026, 5, 5))),
        ("We stayed between 5 and 3 May 2026.", None),
        ("We stayed 3/5 May 2026.", None),
        ("We stayed from 3 to 5 May 2026.", (date(2026, 5, 3), date(2026, 5, 5))),
        ("We stayed 2026-05 to 07.", (date(2026, 5, 1), date(2026, 7, 31))),
        ("We stayed from 17:00 to 9:00 on 3 May 2026.", None),
    ],
)
def test_a_range_is_right_or_none(bank: Bank, text: str, when: tuple[date, date] | None) -> None:
    (memory,) = bank.retain(text)
    assert days(bank, memory) == when
