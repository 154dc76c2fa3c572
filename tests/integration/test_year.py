"""A simulated year under an injected clock: facts that change, repeat and are forgotten, and weekly upkeep.

What happens and what must hold is in ``bench/soak/year.py``, which also writes the results of the long one.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from bench.soak.year import START, Year, alike, live

import simonides
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from pathlib import Path


def test_a_short_year(tmp_path: Path) -> None:
    """Its first 26 weeks; the soak lives all 52."""
    found = live(tmp_path, events=104, seed=20_261_128, looks=1, weeks=26)

    assert found["faults"] == []
    assert found["whole"]["current facts"] == 26 * 12
    assert found["whole"]["second runs"] == 26
    assert found["killed"]["kills"] > 5
    assert {"step: archive", "step: observe", "step: promote", "step: update"} <= set(found["whole"])


@pytest.mark.soak
def test_a_year_of_ten_thousand_events(tmp_path: Path) -> None:
    found = live(tmp_path, events=10_000, seed=20_261_129, looks=8)
    assert found["faults"] == []


def test_the_oracle_notices_what_is_wrong(tmp_path: Path) -> None:
    """A year whose bank forgets behind the oracle's back is full of faults."""
    clock = FrozenClock(START)
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        year = Year(bank, clock, "default", 52, random.Random(5))
        year._tell("Odalys", "Vesper", "note")
        bank.forget(next(iter(year.oracle.facts)))
        year._check(None, 0)
    assert len(year.faults) == 2


@pytest.mark.soak
@pytest.mark.parametrize("text", ["The kettle stands on the stove.", "Kettle {} stands on the stove."])
def test_a_hundred_thousand_near_identical_memories_take_bounded_work(tmp_path: Path, text: str) -> None:
    """Twice as many cost about twice as much, in time and in memory."""
    half, whole = (alike(tmp_path / str(count), count, text) for count in (50_000, 100_000))

    assert whole["steps"] == ("{}" not in text)
    assert whole["again"] == 0
    assert whole["cpu_seconds"] < 3 * half["cpu_seconds"]
    assert whole["peak_growth_mb"] < 3 * half["peak_growth_mb"] + 64
