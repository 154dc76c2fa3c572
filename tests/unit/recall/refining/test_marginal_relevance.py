from __future__ import annotations

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.refining.diversity import SIGNAL, MarginalRelevance, choose, cosine_table
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

# Three directions; the second memory repeats the first.
VECTORS = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
SCORES = (0.9, 0.8, 0.5, 0.4)


def refine(relevance_weight: float, most: int = 50) -> tuple[list[int], list[float], dict[int, str]]:
    view = FakeView.of([fake_memory(name) for name in "abcd"], vectors=VECTORS)
    pool = tuple(Candidate(n, score, "blend") for n, score in enumerate(SCORES))
    refined = MarginalRelevance(relevance_weight, most).refine(view, fake_query("q"), pool, fake_tools())
    chosen = refined.pool
    return [c.ordinal for c in chosen], [c.signals[SIGNAL] for c in chosen], dict(refined.dropped)


@pytest.mark.spec("HX-12")
def test_what_repeats_the_chosen_goes_last() -> None:
    # By hand, half score minus half the nearest cosine to what is chosen.
    # First: .45. Then c: .25 − 0 beats b: .4 − .5 and d: .2 − .3. Then, with c chosen: b −.1, d .2 − .4 = −.2.
    order, values, _ = refine(0.5)
    assert order == [0, 2, 1, 3]
    assert values == pytest.approx([0.45, 0.25, -0.1, -0.2], abs=1e-6)


@pytest.mark.spec("HX-12")
def test_relevance_alone_keeps_the_order() -> None:
    assert refine(1.0)[:2] == ([0, 1, 2, 3], list(SCORES))


@pytest.mark.spec("HX-12")
def test_it_looks_at_the_chosen_only_not_at_all_others() -> None:
    # d is near both a and c, but its neighbour b (equal to a) is not what it is measured by.
    assert refine(0.0)[0] == [0, 2, 3, 1]


@pytest.mark.spec("HX-12")
def test_at_most_so_many_are_chosen() -> None:
    order, _, dropped = refine(0.5, most=2)
    assert order == [0, 2]
    assert dropped == {
        1: "was not chosen: 2 of 4 were chosen, the last at 0.250000",
        3: "was not chosen: 2 of 4 were chosen, the last at 0.250000",
    }


def test_scores_stay_those_of_the_stage_before() -> None:
    view = FakeView.of([fake_memory("a")], vectors=[[1.0, 0.0]])
    pool = (Candidate(0, 0.7, "blend"),)
    (candidate,) = MarginalRelevance(0.5, 50).refine(view, fake_query("q"), pool, fake_tools()).pool
    assert (candidate.score, candidate.scored_by) == (0.7, "blend")


def test_memories_without_a_vector_are_like_nothing() -> None:
    table = cosine_table(np.array([[0.0, 0.0], [3.0, 4.0]], np.float32))
    assert table.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    view = FakeView.of([fake_memory("a"), fake_memory("b")])
    pool = (Candidate(0, 0.2, "blend"), Candidate(1, 0.1, "blend"))
    assert [
        c.ordinal for c in MarginalRelevance(0.5, 50).refine(view, fake_query("q"), pool, fake_tools()).pool
    ] == [0, 1]


def test_equal_values_go_to_the_better_placed() -> None:
    assert choose(np.array([0.5, 0.5, 0.5]), np.ones((3, 3)), 0.5, 3)[0] == [0, 1, 2]


def test_an_empty_pool_stays_empty() -> None:
    assert MarginalRelevance(0.5, 50).refine(FakeView.of([]), fake_query("q"), (), fake_tools()).pool == ()


@pytest.mark.parametrize(
    ("weight", "most", "field"),
    [(-0.1, 50, "relevance_weight"), (1.1, 50, "relevance_weight"), (0.5, 0, "most")],
)
def test_options_out_of_range_are_refused(weight: float, most: int, field: str) -> None:
    with pytest.raises(InputError, match=f"{field}: "):
        MarginalRelevance(weight, most)
