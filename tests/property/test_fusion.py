"""Fusion by reciprocal rank against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.fusion import ReciprocalRank
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory, fake_query

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS = 8
# Ids in another order than ordinals, and two paths, so that ties are decided by both.
VIEW = FakeView.of([fake_memory("x", id=f"m{(n * 5) % ROWS}", path=f"p{n % 2}") for n in range(ROWS)])

QUERY = fake_query("anything")

ORDINALS = st.lists(st.integers(0, ROWS - 1), unique=True)
RANKINGS = st.dictionaries(st.sampled_from("abcde"), ORDINALS, max_size=4)
WEIGHTS = st.dictionaries(st.sampled_from("abcde"), st.floats(0.01, 10))
K = st.floats(0, 100)


def ranked(lists: Mapping[str, list[int]]) -> dict[str, Ranking]:
    return {
        channel: Ranking(np.array(ordinals, np.int64), -np.arange(len(ordinals), dtype=np.float64))
        for channel, ordinals in lists.items()
    }


@pytest.mark.spec("HX-05")
@given(RANKINGS, WEIGHTS, K)
def test_scores_and_order_equal_the_exact_twin(
    lists: dict[str, list[int]], weights: dict[str, float], k: float
) -> None:
    exact: dict[int, Fraction] = {}
    for channel, ordinals in lists.items():
        for position, ordinal in enumerate(ordinals):
            part = Fraction(weights.get(channel, 1.0)) / (Fraction(k) + position + 1)
            exact[ordinal] = exact.get(ordinal, Fraction()) + part
    pool = ReciprocalRank(k, weights).fuse(VIEW, QUERY, ranked(lists))
    assert {candidate.ordinal for candidate in pool} == set(exact)
    for candidate in pool:
        assert abs(candidate.score - exact[candidate.ordinal]) < 2e-9
    keys = [(-c.score, VIEW.stored[c.ordinal].path, VIEW.stored[c.ordinal].id) for c in pool]
    assert keys == sorted(keys)


@given(RANKINGS, WEIGHTS, st.randoms(use_true_random=False))
def test_the_order_of_the_channels_does_not_matter(
    lists: dict[str, list[int]], weights: dict[str, float], random: st.DataObject
) -> None:
    shuffled = list(lists.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    fuser = ReciprocalRank(60, weights)
    # repr, so that the order inside each candidate's evidence is the same too.
    assert repr(fuser.fuse(VIEW, QUERY, ranked(lists))) == repr(
        fuser.fuse(VIEW, QUERY, ranked(dict(shuffled)))
    )


@given(RANKINGS)
def test_a_channel_that_found_nothing_changes_nothing(lists: dict[str, list[int]]) -> None:
    fuser = ReciprocalRank(60)
    with_empty = ranked(lists) | {"empty": Ranking.empty("found nothing")}
    assert repr(fuser.fuse(VIEW, QUERY, with_empty)) == repr(fuser.fuse(VIEW, QUERY, ranked(lists)))


@given(RANKINGS, st.data())
def test_a_better_rank_never_lowers_a_score(lists: dict[str, list[int]], data: st.DataObject) -> None:
    movable = [(channel, ordinals) for channel, ordinals in lists.items() if len(ordinals) > 1]
    if not movable:
        return
    channel, ordinals = data.draw(st.sampled_from(movable))
    position = data.draw(st.integers(1, len(ordinals) - 1))
    moved = ordinals.copy()
    moved[position - 1], moved[position] = moved[position], moved[position - 1]
    fuser = ReciprocalRank(60)

    def score(rankings: dict[str, list[int]]) -> float:
        pool = fuser.fuse(VIEW, QUERY, ranked(rankings))
        return next(candidate.score for candidate in pool if candidate.ordinal == ordinals[position])

    assert score(lists | {channel: moved}) > score(lists)
