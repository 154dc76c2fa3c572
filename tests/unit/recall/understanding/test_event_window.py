from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.recall.understanding.times import EventWindow, beside
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision
from simonides.testing.fakes import FakeView, WordAnalyser, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.query import Query

EVENTS = EventWindow(k1=1.2, b=0.75, candidates=5, least_share=0.75)
FLOOD = Interval(1000, 2000, Precision.DAY)
MEMORIES = [
    fake_memory("Odalys joined Norrhav", occurred=Interval(500, 500)),
    fake_memory("the great flood of the river", occurred=FLOOD),
    fake_memory("the flood flood flood was discussed"),
]
VIEW = FakeView.of(MEMORIES)


def understood(text: str, view: FakeView = VIEW, **changes: Any) -> Query:
    tools = fake_tools(analyser=WordAnalyser(frozenset({"the"})))
    return EVENTS.understand(view, fake_query(text, **changes), tools)


@pytest.mark.spec("HI-02")
@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What happened before Odalys joined Norrhav?", BEGINNING, 500),
        ("What happened AFTER the great flood?", 2000, FOREVER),
        ("Who came since the flood, and why?", 1000, FOREVER),
        ("What held until the flood?", BEGINNING, 1000),
        ("What broke during the flood?", 1000, 2000),
    ],
)
def test_an_event_gives_the_time_beside_it(text: str, start: int, end: int) -> None:
    found = understood(text)
    assert found.time is not None
    assert (found.time.start, found.time.end) == (start, end)
    assert found.notes == ()


@pytest.mark.parametrize("text", ["What does Odalys do?", "What came before that?", "after all, who?"])
def test_words_without_an_event_change_nothing(text: str) -> None:
    assert understood(text) == fake_query(text)


def test_a_time_that_is_known_stays() -> None:
    known = Interval(1, 2)
    assert understood("before the flood", time=known).time is known


@pytest.mark.parametrize("text", ["before Odalys left Sundhamn", "before the strike", "before the ..."])
def test_an_event_that_nothing_tells_is_noted(text: str) -> None:
    query = understood(text)
    assert query.time is None
    assert query.notes[0].startswith("no dated memory tells of '")


def test_only_visible_memories_tell_of_events() -> None:
    hidden = FakeView.of(MEMORIES, visible=[True, False, True])
    assert understood("after the great flood", hidden).time is None
    filtered = FakeView.of(MEMORIES, eligible=[True, False, True])
    assert understood("after the great flood", filtered).time is not None


def test_an_event_is_beside_or_within() -> None:
    assert beside("during", FLOOD) is FLOOD
    assert beside("till", FLOOD) == Interval(BEGINNING, 1000, Precision.RANGE)


@pytest.mark.parametrize(
    ("changes", "field"), [({"candidates": 0}, "candidates"), ({"least_share": 0.0}, "least_share")]
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(EVENTS, **changes)
    assert caught.value.field == field
