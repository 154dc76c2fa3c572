from __future__ import annotations

from dataclasses import replace

import pytest

from simonides.errors import InputError
from simonides.recall.refining.pool import UNRERANKED
from simonides.recall.refining.rerankers import SyntheticScores
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_query, fake_tools

SYNTHETIC = SyntheticScores(highest=1.0, lowest=0.1)


def refine(pool: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    refined = SYNTHETIC.refine(FakeView.of([]), fake_query("q"), pool, fake_tools())
    assert refined.reason == ""
    return refined.pool


def fused(size: int) -> tuple[Candidate, ...]:
    return tuple(Candidate(n, 1 / (61 + n), "reciprocal_rank") for n in range(size))


@pytest.mark.spec("HI-06")
@pytest.mark.parametrize(
    ("size", "expected"), [(0, []), (1, [1.0]), (2, [1.0, 0.1]), (4, [1.0, 0.7, 0.4, 0.1])]
)
def test_scores_fall_evenly_by_rank(size: int, expected: list[float]) -> None:
    scored = refine(fused(size))
    assert [candidate.score for candidate in scored] == expected
    assert [candidate.ordinal for candidate in scored] == list(range(size))


def test_a_pool_that_was_reranked_stays() -> None:
    pool = tuple(replace(candidate, scored_by="cross_encoder") for candidate in fused(3))
    assert refine(pool) == pool


def test_the_unreranked_tail_keeps_its_scores() -> None:
    pool = (*fused(2), Candidate(2, 0.01, "reciprocal_rank", signals={UNRERANKED: 1.0}))
    assert [candidate.score for candidate in refine(pool)] == [1.0, 0.1, 0.01]


@pytest.mark.parametrize("lowest", [1.0, 2.0, float("-inf")])
def test_options_out_of_range_are_refused(lowest: float) -> None:
    with pytest.raises(InputError, match="lowest"):
        SyntheticScores(highest=1.0, lowest=lowest)
