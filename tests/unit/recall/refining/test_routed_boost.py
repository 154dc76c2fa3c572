from __future__ import annotations

from typing import Any

import pytest

from simonides.errors import InputError
from simonides.recall.refining.boosts import RoutedBoost
from simonides.records.candidate import Candidate
from simonides.records.kind import Kind
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

VIEW = FakeView.of(
    [
        fake_memory("a", kind=Kind.SEMANTIC, project="mill"),
        fake_memory("b", kind=Kind.CODE, project="mill"),
        fake_memory("c", kind=Kind.CODE, project="farm"),
    ]
)
POOL = tuple(Candidate(n, 0.5 - n / 10, "reciprocal_rank") for n in range(3))


def refine(**query: Any) -> list[tuple[int, float]]:
    refined = RoutedBoost(2.0).refine(VIEW, fake_query("q", **query), POOL, fake_tools())
    return [(candidate.ordinal, candidate.score) for candidate in refined.pool]


@pytest.mark.spec("HX-03")
def test_what_was_routed_is_raised_and_nothing_is_excluded() -> None:
    assert refine(routed_kinds=(Kind.CODE,)) == [(1, 0.8), (2, 0.6), (0, 0.5)]
    assert refine(routed_project="mill") == [(0, 1.0), (1, 0.8), (2, 0.3)]
    assert refine(routed_kinds=(Kind.CODE,), routed_project="mill") == [(1, 0.8), (0, 0.5), (2, 0.3)]


def test_nothing_routed_changes_nothing() -> None:
    assert RoutedBoost(2.0).refine(VIEW, fake_query("q"), POOL, fake_tools()).pool is POOL


def test_a_factor_below_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"factor: 0\.9"):
        RoutedBoost(0.9)
