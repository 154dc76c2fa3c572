from __future__ import annotations

import math

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.fusion import ReciprocalRank
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory, fake_query

FUSER = ReciprocalRank(k=60)
QUERY = fake_query("anything")


def ranking(*ordinals: int) -> Ranking:
    """Hits in this order, with scores that fall from 9."""
    return Ranking(np.array(ordinals, np.int64), np.arange(9.0, 9.0 - len(ordinals), -1.0))


def view(rows: int = 10) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(rows)])


@pytest.mark.spec("HX-05")
@pytest.mark.spec("EN-03")
def test_ranks_count_from_one() -> None:
    pool = FUSER.fuse(view(), QUERY, {"dense": ranking(7)})
    assert [candidate.score for candidate in pool] == [round(1 / 61, 9)] == [0.016393443]


@pytest.mark.spec("HX-05")
@pytest.mark.spec("EN-03")
def test_first_and_fifth_lose_to_second_in_both() -> None:
    pool = FUSER.fuse(view(), QUERY, {"dense": ranking(1, 2, 3, 4, 5), "lexical": ranking(6, 2, 7, 8, 1)})
    by_ordinal = {candidate.ordinal: candidate.score for candidate in pool}
    assert by_ordinal[1] == pytest.approx(1 / 61 + 1 / 65, abs=1e-9)
    assert by_ordinal[1] == pytest.approx(0.031778, abs=1e-6)
    assert by_ordinal[2] == pytest.approx(0.032258, abs=1e-6)
    assert [candidate.ordinal for candidate in pool][:2] == [2, 1]


@pytest.mark.spec("EN-03")
def test_weights_scale_their_channel() -> None:
    fuser = ReciprocalRank(k=60, weights={"dense": 1.0, "lexical": 0.8, "graph": 1.5})
    rankings = {"dense": ranking(9), "lexical": ranking(1, 2, 3, 4, 9), "graph": ranking(1, 9)}
    nine = next(candidate for candidate in fuser.fuse(view(), QUERY, rankings) if candidate.ordinal == 9)
    assert nine.score == round(1 / 61 + 0.8 / 65 + 1.5 / 62, 9)
    assert nine.score == pytest.approx(0.052895, abs=1e-6)


def test_a_channel_without_a_weight_has_weight_one() -> None:
    fuser = ReciprocalRank(k=60, weights={"graph": 2.0})
    assert fuser.fuse(view(), QUERY, {"dense": ranking(1)}) == FUSER.fuse(
        view(), QUERY, {"dense": ranking(1)}
    )


def test_a_candidate_keeps_rank_and_score_of_each_channel() -> None:
    pool = FUSER.fuse(view(), QUERY, {"lexical": ranking(5, 3), "dense": ranking(3)})
    assert pool[0].ordinal == 3
    assert pool[0].scored_by == "reciprocal_rank"
    assert pool[0].ranks == {"dense": 1, "lexical": 2}
    assert pool[0].channel_scores == {"dense": 9.0, "lexical": 8.0}
    assert pool[1].ranks == {"lexical": 1}


@pytest.mark.spec("EN-03")
def test_ties_go_by_path_then_id() -> None:
    memories = [
        fake_memory("x", id="b", path="z"),
        fake_memory("x", id="c", path="a"),
        fake_memory("x", id="a", path="z"),
    ]
    rankings = {"one": ranking(0), "two": ranking(1), "three": ranking(2)}
    pool = FUSER.fuse(FakeView.of(memories), QUERY, rankings)
    assert [candidate.ordinal for candidate in pool] == [1, 2, 0]
    assert len({candidate.score for candidate in pool}) == 1


def test_nothing_found_is_an_empty_pool() -> None:
    assert FUSER.fuse(view(), QUERY, {}) == ()
    assert FUSER.fuse(view(), QUERY, {"dense": Ranking.empty("no embedder")}) == ()


@pytest.mark.parametrize("k", [-1.0, math.nan, math.inf])
def test_k_out_of_range_is_refused(k: float) -> None:
    with pytest.raises(InputError, match=f"k: {k}"):
        ReciprocalRank(k=k)


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match=r"weights\.dense: "):
        ReciprocalRank(k=60, weights={"dense": weight})
