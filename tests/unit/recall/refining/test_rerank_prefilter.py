from __future__ import annotations

import pytest

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.pool import UNRERANKED
from simonides.recall.refining.rerankers import RerankPrefilter
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools


def refine(size: int, most: int, limit: int | None = None) -> Refined:
    view = FakeView.of([fake_memory(f"m{n}") for n in range(size)])
    pool = tuple(Candidate(n, 1.0 / (n + 1), "reciprocal_rank") for n in range(size))
    return RerankPrefilter(most).refine(view, fake_query("q", limit=limit), pool, fake_tools())


@pytest.mark.spec("HI-04")
@pytest.mark.parametrize("limit", [None, 10, 300])
def test_the_first_stay_and_the_others_leave(limit: int | None) -> None:
    refined = refine(302, 300, limit)
    assert [candidate.ordinal for candidate in refined.pool] == list(range(300))
    assert not any(UNRERANKED in candidate.signals for candidate in refined.pool)
    assert list(refined.dropped) == [300, 301]
    assert refined.dropped[301] == "was at place 302 after fusion, and only 300 are reranked"


def test_a_caller_who_wants_more_gets_the_rest_in_fused_order() -> None:
    refined = refine(5, 3, limit=4)
    assert [candidate.ordinal for candidate in refined.pool] == [0, 1, 2, 3, 4]
    assert [UNRERANKED in candidate.signals for candidate in refined.pool] == [
        False,
        False,
        False,
        True,
        True,
    ]
    assert refined.dropped == {}


def test_a_small_pool_stays_as_it_is() -> None:
    assert refine(0, 3) == Refined(())
    assert len(refine(3, 3).pool) == 3


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="most: 0 is below 1"):
        RerankPrefilter(0)
