"""Statements of one single-valued relation, told in any order, against a timeline in a dictionary."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simonides
from simonides.records.interval import FOREVER
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.records.memory import Memory

DAYS = range(2, 7)
STATEMENTS = st.lists(
    st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(DAYS)), min_size=1, max_size=3),
    min_size=1,
    max_size=5,
)


@pytest.mark.spec("ME-10")
@settings(max_examples=settings().max_examples // 5)
@given(STATEMENTS)
def test_at_each_moment_the_statement_that_began_last_holds(told: list[list[tuple[str, int]]]) -> None:
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(folder, clock=clock, embedder=None) as store,
    ):
        bank = store.bank()
        ids: list[str] = []
        timeline: dict[int, str] = {}
        for batch in told:
            ids += bank.retain([_statement(name, day) for name, day in batch])
            timeline.update({day: name for name, day in batch})
            clock.advance(days=1)
        for day in range(1, 8):
            began = [start for start in timeline if start <= day]
            expected = {timeline[max(began)]} if began else set()
            held = {memory.text[-1] for memory in _held(bank, day)}
            assert held == expected, f"on day {day} of {told}"
        _assert_no_circle(bank, set(ids))
        assert bank.verify().ok


def _statement(name: str, day: int) -> dict[str, object]:
    return {
        "text": f"on call: {name}",
        "relation": "on call",
        "subject": "rota",
        "object": name,
        "single_valued": True,
        "valid_from": f"2026-01-{day:02}",
    }


def _held(bank: Bank, day: int) -> list[Memory]:
    moment = f"2026-01-{day:02}T12:00Z"
    return [hit.memory for hit in bank.recall("on call", as_of=moment, known_at="2027-01-01", limit=100)]


def _assert_no_circle(bank: Bank, ids: set[str]) -> None:
    """Who succeeds whom leads forward in time and ends."""
    newest = {memory: bank.history(memory)[-1] for memory in ids}
    for version in newest.values():
        if version.superseded_by:
            after = newest[version.superseded_by]
            assert version.valid_from_micros < after.valid_from_micros
            assert version.valid_to_micros < FOREVER
