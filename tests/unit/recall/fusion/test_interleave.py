from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.fusion import Interleave
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory, fake_query

QUERY = fake_query("anything")
VIEW = FakeView.of([fake_memory(f"m{n}") for n in range(12)])
RANKED = st.lists(st.integers(0, 11), unique=True, max_size=8)


def ranking(ordinals: list[int]) -> Ranking:
    return Ranking(np.array(ordinals, np.int64), np.linspace(0.9, 0.1, len(ordinals)))


def order(**found: list[int]) -> list[int]:
    fused = Interleave().fuse(VIEW, QUERY, {name: ranking(hits) for name, hits in found.items()})
    return [candidate.ordinal for candidate in fused]


def test_channels_take_turns_in_the_order_of_the_profile() -> None:
    assert order(dense=[1, 2, 3], lexical=[4, 5, 6]) == [1, 4, 2, 5, 3, 6]
    assert order(lexical=[4, 5, 6], dense=[1, 2, 3]) == [4, 1, 5, 2, 6, 3]


def test_what_was_taken_is_passed_over() -> None:
    assert order(dense=[1, 2, 3], lexical=[1, 3, 7]) == [1, 3, 2, 7]


def test_a_short_ranking_ends_early() -> None:
    assert order(dense=[1], lexical=[4, 5, 6], temporal=[]) == [1, 4, 5, 6]
    assert order() == []


def test_scores_ranks_and_channel_scores() -> None:
    first, second = Interleave().fuse(VIEW, QUERY, {"dense": ranking([1, 2]), "lexical": ranking([2])})
    assert (first.score, second.score) == (1.0, 0.5)
    assert (second.ordinal, second.ranks) == (2, {"dense": 2, "lexical": 1})
    assert second.channel_scores == {"dense": 0.1, "lexical": 0.9}
    assert first.scored_by == "interleave"


@given(found=st.dictionaries(st.sampled_from(["dense", "lexical", "temporal"]), RANKED))
def test_against_a_twin_that_deals_by_hand(found: dict[str, list[int]]) -> None:
    piles = {name: list(hits) for name, hits in found.items()}
    dealt: list[int] = []
    while any(piles.values()):
        for pile in piles.values():
            while pile and pile[0] in dealt:
                pile.pop(0)
            if pile:
                dealt.append(pile.pop(0))
    assert order(**found) == dealt
