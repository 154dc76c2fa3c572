from __future__ import annotations

import numpy as np

from simonides.recall.fusion import candidates, fused, gather
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory


def ranking(*hits: tuple[int, float]) -> Ranking:
    return Ranking(np.array([o for o, _ in hits], np.int64), np.array([s for _, s in hits], np.float64))


FOUND = {"words": ranking((1, 4.0), (0, 2.0)), "dense": ranking((1, 0.5))}


def test_every_rank_and_score_is_kept_by_the_names_of_the_channels() -> None:
    assert gather(FOUND) == {1: {"dense": (1, 0.5), "words": (1, 4.0)}, 0: {"words": (2, 2.0)}}
    assert list(gather(FOUND)[1]) == ["dense", "words"]
    assert gather({}) == {}


def test_candidates_are_ordered_by_the_score_with_ties_by_path() -> None:
    view = FakeView.of([fake_memory("a"), fake_memory("b")])
    pool = fused(view, FOUND, "sum", {"words": [4.0, 2.0], "dense": [0.5]})
    assert [(each.ordinal, each.score, each.scored_by) for each in pool] == [(1, 4.5, "sum"), (0, 2.0, "sum")]
    assert pool[0].ranks == {"dense": 1, "words": 1}
    assert list(pool[0].ranks) == list(pool[0].channel_scores) == ["dense", "words"]
    assert pool[0].channel_scores == {"dense": 0.5, "words": 4.0}
    same = fused(view, FOUND, "same", {"words": [0.5, 1.0], "dense": [0.5]})
    assert [each.ordinal for each in same] == [0, 1]
    assert fused(view, {}, "none", {}) == candidates([], "none", {}) == ()
