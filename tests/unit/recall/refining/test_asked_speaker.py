from __future__ import annotations

import math

import pytest

from simonides.errors import InputError
from simonides.recall.refining.boosts import ASKED_SPEAKER_SIGNAL, AskedSpeaker
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

MEMORIES = [
    fake_memory("Tomas: Ines planted something"),
    fake_memory("Ines: I planted roses"),
    fake_memory("I planted roses, too", speaker="ines"),
    fake_memory("Nobody says this"),
]


def refine(query: str, *ordinals: int, weight: float = 0.5) -> list[tuple[int, float]]:
    pool = tuple(Candidate(n, 1.0 - place / 10, "score_sum") for place, n in enumerate(ordinals))
    refined = AskedSpeaker(weight).refine(FakeView.of(MEMORIES), fake_query(query), pool, fake_tools()).pool
    return [(candidate.ordinal, candidate.score) for candidate in refined]


def test_what_the_asked_one_says_is_raised() -> None:
    assert refine("What did Ines plant?", 0, 3, 1, 2) == [(1, 1.3), (2, 1.2), (0, 1.0), (3, 0.9)]


@pytest.mark.parametrize(
    "query", ["What was planted?", "What did Ines and Tomas plant?", "", "What did Ina plant?"]
)
def test_nothing_changes_when_none_or_several_are_named(query: str) -> None:
    assert refine(query, 0, 3, 1, 2) == [(0, 1.0), (3, 0.9), (1, 0.8), (2, 0.7)]


def test_only_those_who_speak_in_the_pool_count() -> None:
    assert refine("What did Ines and Tomas plant?", 3, 1) == [(1, 1.4), (3, 1.0)]


def test_the_raised_carry_the_weight_as_a_signal() -> None:
    pool = (Candidate(0, 1.0, "score_sum"), Candidate(1, 0.9, "score_sum"))
    refined = AskedSpeaker(0.5).refine(FakeView.of(MEMORIES), fake_query("Ines?"), pool, fake_tools()).pool
    assert [dict(candidate.signals) for candidate in refined] == [{ASKED_SPEAKER_SIGNAL: 0.5}, {}]


def test_an_empty_pool_stays_empty() -> None:
    assert refine("Ines") == []


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_weight_is_a_number_above_0(weight: float) -> None:
    with pytest.raises(InputError, match="weight"):
        AskedSpeaker(weight)
