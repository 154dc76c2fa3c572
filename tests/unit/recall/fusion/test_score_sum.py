from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.fusion import ScoreSum
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory, fake_query

FUSER = ScoreSum(weights={"dense": 0.5})
QUERY = fake_query("anything")


def ranking(**scores: float) -> Ranking:
    """Hits ``m3=0.5``: ordinal 3 with score 0.5, best first."""
    ordered = sorted(scores.items(), key=lambda pair: -pair[1])
    return Ranking(
        np.array([int(name[1:]) for name, _ in ordered], np.int64),
        np.array([score for _, score in ordered], np.float64),
    )


def fused(fuser: ScoreSum, **rankings: Ranking) -> dict[int, float]:
    view = FakeView.of([fake_memory(f"m{n}") for n in range(10)])
    return {each.ordinal: each.score for each in fuser.fuse(view, QUERY, rankings)}


def test_each_channel_is_put_on_its_own_scale() -> None:
    scores = fused(FUSER, dense=ranking(m1=0.9, m2=0.6, m3=0.5), lexical=ranking(m2=12.0, m4=9.0, m3=4.0))
    # dense: 1, 0.25, 0 at weight 0.5; lexical: 1, 0.625, 0 at weight 1
    assert scores == {2: 1.125, 4: 0.625, 1: 0.5, 3: 0.0}
    assert list(scores) == [2, 4, 1, 3]


def test_a_mass_counts_by_its_logarithm() -> None:
    masses = ranking(m1=1e-1, m2=1e-3, m3=1e-5)
    assert fused(ScoreSum(log=("pagerank",)), pagerank=masses) == {1: 1.0, 2: 0.5, 3: 0.0}
    assert fused(ScoreSum(), pagerank=masses)[2] == round((1e-3 - 1e-5) / (1e-1 - 1e-5), 9)


def test_what_has_no_logarithm_counts_as_the_lowest_that_has() -> None:
    scores = fused(ScoreSum(log=("pagerank",)), pagerank=ranking(m1=math.e, m2=1.0, m3=0.0, m4=-2.0))
    assert scores == {1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}
    assert fused(ScoreSum(log=("pagerank",)), pagerank=ranking(m1=0.0, m2=-1.0)) == {1: 0.0, 2: 0.0}


def test_scores_that_are_all_the_same_tell_nothing_apart() -> None:
    scores = fused(FUSER, dense=ranking(m1=0.7, m2=0.7), lexical=ranking(m2=3.0, m1=2.0))
    assert scores == {2: 1.0, 1: 0.0}


def test_hits_that_share_the_best_score_are_told_apart_from_the_rest() -> None:
    assert fused(ScoreSum(), dense=ranking(m1=0.9, m2=0.9, m3=0.4)) == {1: 1.0, 2: 1.0, 3: 0.0}


def test_scores_are_rounded_to_a_billionth() -> None:
    assert fused(ScoreSum(), dense=ranking(m1=3.0, m2=2.0, m3=0.0))[2] == 0.666666667


@pytest.mark.parametrize("score", [-0.2, 0.0, 5.0])
def test_a_single_hit_was_told_apart_from_all_the_rest(score: float) -> None:
    assert fused(FUSER, dense=ranking(m1=0.9, m2=0.1), lexical=ranking(m5=score)) == {5: 1.0, 1: 0.5, 2: 0.0}
    assert fused(ScoreSum(log=("lexical",)), lexical=ranking(m5=score)) == {5: 1.0}


def test_negative_scores_are_scores() -> None:
    assert fused(ScoreSum(), dense=ranking(m1=0.5, m2=-0.5, m3=-1.5)) == {1: 1.0, 2: 0.5, 3: 0.0}


def test_the_largest_numbers_do_not_overflow() -> None:
    huge = np.finfo(np.float64).max
    assert fused(ScoreSum(), dense=ranking(m1=huge, m2=0.0, m3=-huge)) == {1: 1.0, 2: 0.5, 3: 0.0}


def test_ties_go_by_id() -> None:
    scores = fused(ScoreSum(), dense=ranking(m3=1.0), lexical=ranking(m1=1.0), words=ranking(m2=1.0))
    assert list(scores) == [1, 2, 3]


def test_a_channel_without_hits_changes_nothing() -> None:
    dense = ranking(m1=0.9, m2=0.6, m3=0.5)
    assert fused(FUSER, dense=dense, lexical=Ranking.empty("no terms")) == fused(FUSER, dense=dense)
    assert fused(FUSER, lexical=Ranking.empty()) == {}


def test_a_candidate_keeps_rank_and_score_of_each_channel() -> None:
    view = FakeView.of([fake_memory(f"m{n}") for n in range(4)])
    pool = FUSER.fuse(view, QUERY, {"dense": ranking(m1=0.9, m2=0.6), "lexical": ranking(m2=12.0, m3=4.0)})
    first = next(each for each in pool if each.ordinal == 2)
    assert dict(first.ranks) == {"dense": 2, "lexical": 1}
    assert dict(first.channel_scores) == {"dense": 0.6, "lexical": 12.0}
    assert first.scored_by == "score_sum"


def test_the_order_of_the_channels_changes_no_bit() -> None:
    rankings = {
        "dense": ranking(m1=0.913, m2=0.61, m3=0.577),
        "lexical": ranking(m2=7.1, m3=6.9, m1=1.3),
        "graph": ranking(m3=0.1, m1=0.07, m2=0.001),
    }
    answers = [fused(FUSER, **dict(order)) for order in permutations(rankings.items())]
    assert all(list(answer.items()) == list(answers[0].items()) for answer in answers)


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_weight_that_is_not_above_0_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match=r"weights\.dense: .* to drop a channel, leave it out"):
        ScoreSum(weights={"dense": weight})
