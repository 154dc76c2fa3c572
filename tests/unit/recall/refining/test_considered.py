from __future__ import annotations

import pytest

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.cutting import Considered
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_query, fake_tools

POOL = tuple(Candidate(n, 1.0, "x") for n in range(7))


def refine(depth: int | None) -> Refined:
    return Considered(2).refine(FakeView.of([]), fake_query("q", depth=depth), POOL, fake_tools())


@pytest.mark.spec("HI-12")
def test_twice_the_depth_is_considered() -> None:
    refined = refine(3)
    assert refined.pool == POOL[:6]
    assert refined.dropped == {6: "was at place 7, and only 6 are considered at this budget"}
    assert refine(4) == Refined(POOL)


def test_without_a_depth_nothing_is_cut() -> None:
    assert refine(None) == Refined(POOL)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="per_depth: 0 is below 1"):
        Considered(0)
