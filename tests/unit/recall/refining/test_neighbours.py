from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.recall.refining.graph import Neighbours
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

STAGE = Neighbours(factor=0.5, kinds=("session",), adds=0)
TURNS = [(n, n + 1, "session", 1.0) for n in range(5)]


def talk(links: list[tuple[int, int, str, float]] = TURNS, **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(6)], links=links, **changes)


def pool(scores: Mapping[int, float]) -> tuple[Candidate, ...]:
    return tuple(Candidate(ordinal, score, "score_sum") for ordinal, score in scores.items())


def refine(stage: Neighbours, view: FakeView, scores: Mapping[int, float]) -> tuple[Candidate, ...]:
    return stage.refine(view, fake_query("q"), pool(scores), fake_tools()).pool


def test_the_best_neighbour_hands_on_its_share() -> None:
    refined = refine(STAGE, talk(), {1: 1.0, 3: 0.75, 2: 0.25, 5: 0.5})
    # 2 stands between 1 and 3: 0.25 + 0.5 · 1; nothing travels over 2 from 1 to 3
    assert {each.ordinal: each.score for each in refined} == {1: 1.125, 3: 0.875, 2: 0.75, 5: 0.5}
    assert [each.ordinal for each in refined] == [1, 3, 2, 5]
    assert {each.ordinal: each.signals["neighbour"] for each in refined} == {1: 0.25, 3: 0.25, 2: 1.0, 5: 0.0}
    assert {each.scored_by for each in refined} == {"neighbours"}


def test_a_neighbour_of_no_worth_takes_nothing_away() -> None:
    assert [each.score for each in refine(STAGE, talk(), {1: 0.5, 2: -1.0})] == [0.5, -0.75]


def test_neighbours_of_the_head_are_added() -> None:
    refined = refine(replace(STAGE, adds=1), talk(), {3: 1.0, 0: 0.8})
    assert {each.ordinal: each.score for each in refined} == {3: 1.0, 0: 0.8, 2: 0.5, 4: 0.5}
    assert [each.ordinal for each in refined] == [3, 0, 2, 4]
    assert dict(refined[2].ranks) == {}


def test_what_the_caller_excludes_is_not_added() -> None:
    view = talk(eligible=[n != 2 for n in range(6)], visible=[n != 4 for n in range(6)])
    assert [each.ordinal for each in refine(replace(STAGE, adds=1), view, {3: 1.0})] == [3]


def test_only_links_of_the_kinds_count() -> None:
    view = talk([(0, 1, "semantic", 1.0), (1, 2, "session", 1.0)])
    assert [each.score for each in refine(STAGE, view, {0: 1.0, 1: 0.5, 2: 0.25})] == [1.0, 0.625, 0.5]


def test_an_empty_pool_stays_empty() -> None:
    assert refine(replace(STAGE, adds=3), talk(), {}) == ()


@pytest.mark.parametrize("factor", [0.0, -0.1, 1.1, float("nan")])
def test_a_factor_out_of_range_is_refused(factor: float) -> None:
    with pytest.raises(InputError, match="factor"):
        replace(STAGE, factor=factor)


def test_other_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="kinds"):
        replace(STAGE, kinds=())
    with pytest.raises(UnknownNameError, match="session"):
        replace(STAGE, kinds=("sesion",))
    with pytest.raises(InputError, match="adds"):
        replace(STAGE, adds=-1)
