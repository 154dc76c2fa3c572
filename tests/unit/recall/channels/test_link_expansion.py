from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.channels.graph import LinkExpansion
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

LINKS = LinkExpansion(depth=100, seeds=2, seed_similarity=0.9, rescore=100, entity_scale=0.5, hop_factor=0.5)
EAST = np.array([1.0, 0.0], np.float32)


def bank(entities: Sequence[Sequence[str]], **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(f"m{n:03}") for n in range(len(entities))], entities=entities, **changes)


def scores(view: FakeView, *names: str, stage: LinkExpansion = LINKS, **query: Any) -> dict[int, float]:
    entities = tuple(view.names[name] for name in names)
    ranking = stage.search(view, fake_query("q", entities=entities, **query), fake_tools())
    assert ranking.reason == ""
    return dict(zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True))


@pytest.mark.spec("HI-03")
def test_shared_entities_saturate() -> None:
    view = bank([["A"], ["A", "B"], ["A", "B", "C"], ["D"], []])
    found = scores(view, "A", "B", "C", stage=replace(LINKS, hop_factor=1.0))
    assert list(found) == [2, 1, 0]
    assert found[0] == pytest.approx(0.4621, abs=5e-5)
    assert found[1] == pytest.approx(0.7616, abs=5e-5)
    assert found[2] == pytest.approx(0.9051, abs=5e-5)


@pytest.mark.spec("HI-03")
def test_links_of_the_seeds_add_to_shared_entities() -> None:
    view = bank(
        [["X"], ["X"], [], [], ["X"]],
        vectors=[[1.0, 0.0], None, None, None, None],
        links=[
            (0, 1, "semantic", 0.9),
            (1, 0, "causal", 1.0),
            (0, 2, "causal", 0.4),
            (0, 3, "temporal", 1.0),
        ],
    )
    found = scores(view, vector=EAST)
    # Row 1 shares X with the seed and has both links, row 4 shares X, row 2 has a causal link, row 3 a
    # temporal one, which does not count. The seed itself shares nothing with another seed.
    assert found == {
        1: pytest.approx(math.tanh(0.5) + 0.9 + 1.0, abs=1e-9),
        4: pytest.approx(math.tanh(0.5), abs=1e-9),
        2: 0.4,
    }


def test_a_seed_shares_with_the_query_and_with_other_seeds_but_not_with_itself() -> None:
    view = bank([["A", "B"], ["B", "C"]], vectors=[[1.0, 0.0], [1.0, 0.0]])
    assert scores(view, vector=EAST) == {n: pytest.approx(math.tanh(0.5), abs=1e-9) for n in (0, 1)}
    assert scores(view, "A", vector=EAST) == {
        0: pytest.approx(math.tanh(1.0), abs=1e-9),
        1: pytest.approx(math.tanh(0.5), abs=1e-9),
    }


def test_an_entity_that_two_seeds_mention_counts_once() -> None:
    view = bank([["A"], ["A"], ["A"]], vectors=[[1.0, 0.0], [1.0, 0.0], None])
    assert scores(view, vector=EAST)[2] == pytest.approx(math.tanh(0.5), abs=1e-9)


def test_each_further_hop_stands_below_the_one_before() -> None:
    view = bank([["odalys", "manager"], ["manager", "team"], ["team", "project"], ["tea"]])
    first = math.tanh(0.5)
    assert scores(view, "odalys") == pytest.approx({0: first, 1: first / 2, 2: first / 4}, abs=1e-9)


@pytest.mark.spec("HI-03")
def test_a_chain_is_followed_as_far_as_the_budget_goes() -> None:
    chain = [["odalys", "manager"], ["manager", "team"], ["team", "project"]]
    view = bank([*chain, *[["odalys"]] * 120])
    budgeted = replace(LINKS, budgeted=True)
    assert len(scores(view, "odalys", stage=budgeted, depth=100)) == 100
    assert not {1, 2} & set(scores(view, "odalys", stage=budgeted, depth=100))
    assert {0, 1, 2} <= set(scores(view, "odalys", stage=budgeted, depth=1000))


def test_seeds_are_the_nearest_above_the_threshold_and_at_most_half_of_the_depth() -> None:
    view = bank([["A"], ["A"], ["B"], ["B"]], vectors=[[1.0, 0.0], None, [0.8, 0.6], None])
    assert set(scores(view, vector=EAST)) == {1}
    assert set(scores(view, vector=EAST, stage=replace(LINKS, seed_similarity=0.5))) == {1, 3}
    assert set(scores(view, vector=EAST, stage=replace(LINKS, seed_similarity=0.5, depth=2))) == {1}


def test_hops_pass_through_filtered_memories_but_never_through_hidden_ones() -> None:
    entities = [["A", "B"], ["B", "C"], ["C"]]
    assert set(scores(bank(entities), "A")) == {0, 1, 2}
    assert set(scores(bank(entities, eligible=[True, False, True]), "A")) == {0, 2}
    assert set(scores(bank(entities, visible=[True, False, True]), "A")) == {0}


def test_without_a_start_the_reason_is_given() -> None:
    ranking = LINKS.search(bank([["A"]]), fake_query("q"), fake_tools())
    assert len(ranking) == 0
    assert "no entity" in ranking.reason


def test_vectors_of_another_size_give_no_seeds() -> None:
    view = bank([["A"]], vectors=[[1.0, 0.0]])
    assert scores(view, "A", vector=np.ones(3, np.float32)) == {0: pytest.approx(math.tanh(0.5), abs=1e-9)}


def test_ties_are_broken_by_path_and_id() -> None:
    view = FakeView.of([fake_memory("b"), fake_memory("a"), fake_memory("c", path="!")], entities=[["A"]] * 3)
    assert list(scores(view, "A")) == [1, 0, 2]
    assert list(scores(view, "A", stage=replace(LINKS, depth=2))) == [1, 0]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"depth": 0}, "depth"),
        ({"seeds": -1}, "seeds"),
        ({"rescore": 0}, "rescore"),
        ({"seed_similarity": 1.5}, "seed_similarity"),
        ({"entity_scale": 0.0}, "entity_scale"),
        ({"hop_factor": 0.0}, "hop_factor"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(LINKS, **changes)
    assert caught.value.field == field
