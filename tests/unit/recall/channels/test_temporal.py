from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.channels.temporal import Temporal
from simonides.records.interval import BEGINNING, Interval, Precision
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

TEMPORAL = Temporal(depth=10, rescore=100, link_factor=0.5)
EAST = np.array([1.0, 0.0], np.float32)
TIME = Interval(0, 100, Precision.RANGE)


def bank(moments: Sequence[int | None], **changes: Any) -> FakeView:
    return FakeView.of(
        [
            fake_memory(f"m{n}", occurred=None if moment is None else Interval(moment, moment))
            for n, moment in enumerate(moments)
        ],
        **changes,
    )


def scores(view: FakeView, stage: Temporal = TEMPORAL, /, **query: Any) -> dict[int, float]:
    ranking = stage.search(view, fake_query("q", **{"time": TIME, **query}), fake_tools())
    assert ranking.reason == ""
    return dict(zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True))


@pytest.mark.spec("HI-02")
def test_memories_in_the_time_come_by_likeness() -> None:
    view = bank([10, 50, 150, None], vectors=[[1.0, 0.0], [0.6, 0.8], [1.0, 0.0], [1.0, 0.0]])
    assert scores(view, vector=EAST) == {0: 1.0, 1: pytest.approx(0.6)}


def test_without_vectors_they_come_by_nearness_to_the_centre() -> None:
    assert scores(bank([10, 50, 150, None])) == {1: 1.0, 0: pytest.approx(0.2)}
    other_size = {"vector": np.ones(3, np.float32)}
    assert scores(bank([10, 50], vectors=[[1.0, 0.0]] * 2), **other_size) == {1: 1.0, 0: pytest.approx(0.2)}


def test_an_open_time_has_no_centre() -> None:
    assert scores(bank([10, 150]), time=Interval(BEGINNING, 100)) == {0: 0.5}


def test_a_query_without_a_time_finds_nothing_and_that_is_no_fault() -> None:
    assert scores(bank([10]), time=None) == {}


@pytest.mark.spec("HI-02")
def test_links_lead_out_of_the_time_hop_by_hop() -> None:
    view = bank(
        [50, None, 500, None],
        links=[(0, 1, "causal", 0.8), (2, 1, "semantic", 1.0), (0, 2, "temporal", 0.3)],
    )
    # Row 2 is linked to row 0 by 0.3 at the first hop; the better way by row 1 would be a second hop.
    assert scores(view) == {0: 1.0, 1: pytest.approx(0.4), 2: pytest.approx(0.15)}
    assert scores(view, replace(TEMPORAL, link_factor=0.0)) == {0: 1.0}


def test_what_is_unlike_the_query_recommends_nothing() -> None:
    view = bank([50, None], vectors=[[-1.0, 0.0], [1.0, 0.0]], links=[(0, 1, "causal", 1.0)])
    assert scores(view, vector=EAST) == {0: -1.0}


@pytest.mark.spec("HI-12")
def test_no_more_than_the_budget_is_visited() -> None:
    view = bank([50, 51, 52, None, None], links=[(0, 3, "causal", 0.9), (0, 4, "causal", 0.8)])
    assert list(scores(view, replace(TEMPORAL, depth=2))) == [0, 1]
    assert list(scores(view, replace(TEMPORAL, depth=4))) == [0, 1, 2, 3]
    assert list(scores(view, replace(TEMPORAL, budgeted=True), depth=4)) == [0, 1, 2, 3]
    assert len(scores(view, depth=4)) == 5


def test_links_pass_through_filtered_memories_but_never_through_hidden_ones() -> None:
    moments, links = [50, None, None], [(0, 1, "causal", 1.0), (1, 2, "causal", 1.0)]
    assert set(scores(bank(moments, links=links))) == {0, 1, 2}
    assert set(scores(bank(moments, links=links, eligible=[True, False, True]))) == {0, 2}
    assert set(scores(bank(moments, links=links, visible=[True, False, True]))) == {0}
    assert set(scores(bank(moments, links=links, eligible=[False, True, True]))) == set()


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"depth": 0}, "depth"), ({"rescore": 0}, "rescore"), ({"link_factor": 1.1}, "link_factor")],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(TEMPORAL, **changes)
    assert caught.value.field == field
