from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.index.graph_walk import Walk, spread
from simonides.recall.channels.graph import PageRank
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

CHANNEL = PageRank(
    depth=10,
    damping=0.5,
    residual=0.001,
    rounds=20,
    edges=100_000,
    hub_damping=0.5,
    links={"semantic": 1.0},
    similar_seeds=0,
    lexical_seeds=0,
    memory_share=0.5,
)
EAST = np.array([1.0, 0.0], np.float32)


def bank(named: dict[str, set[str]], **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(text) for text in named], entities=list(named.values()), **changes)


def asked(view: FakeView, text: str, **changes: Any) -> Any:
    return fake_query(text, entities=view.find_entities(text), **changes)


CHAIN = {
    "kestrel needs osprey": {"kestrel", "osprey"},
    "osprey has a budget": {"osprey", "budget"},
    "tea": set(),
}


@pytest.mark.spec("ME-04")
def test_two_hops_are_found_behind_one_and_the_rest_is_not() -> None:
    view = bank(CHAIN)
    ranking = CHANNEL.search(view, asked(view, "what does Kestrel need"), fake_tools())
    assert ranking.ordinals.tolist() == [0, 1]
    assert ranking.scores[0] > ranking.scores[1] > 0
    assert ranking.reason == ""


def test_scores_are_the_mass_of_the_walk() -> None:
    view = bank(CHAIN)
    ranking = CHANNEL.search(view, asked(view, "kestrel"), fake_tools())
    walk = Walk(0.5, 0.001, 20, 100_000, 0.5, {"semantic": 1.0})
    found = spread(view, {}, {view.names["kestrel"]: 1.0}, walk)
    assert ranking.scores.tolist() == found.row_mass.round(9).tolist()


@pytest.mark.spec("ME-04")
@pytest.mark.parametrize("text", ["what is there to drink", ""])
def test_a_query_that_names_nothing_is_skipped_with_a_reason(text: str) -> None:
    view = bank(CHAIN)
    ranking = CHANNEL.search(view, asked(view, text), fake_tools())
    assert (len(ranking), ranking.reason) == (0, "no entity")


def test_only_eligible_memories_are_ranked_but_the_walk_passes_others() -> None:
    view = bank(CHAIN, eligible=[False, True, True])
    ranking = CHANNEL.search(view, asked(view, "kestrel"), fake_tools())
    assert ranking.ordinals.tolist() == [1]


def test_memories_that_are_not_visible_carry_nothing() -> None:
    view = bank(CHAIN, visible=[True, False, True])
    assert CHANNEL.search(view, asked(view, "kestrel"), fake_tools()).ordinals.tolist() == [0]
    hidden = bank(CHAIN, visible=[False, True, True])
    assert CHANNEL.search(hidden, asked(hidden, "kestrel"), fake_tools()).reason == "no entity"


def test_the_ranking_is_cut_to_its_depth_with_ties_by_id() -> None:
    view = bank({f"m{n}": {"kestrel"} for n in range(5)})
    ranking = replace(CHANNEL, depth=3).search(view, asked(view, "kestrel"), fake_tools())
    assert ranking.ordinals.tolist() == [0, 1, 2]


@pytest.mark.fault("G2")
def test_a_hub_does_not_drown_the_way_from_kestrel_to_the_budget() -> None:
    named = {f"the user likes thing {n}": {"user"} for n in range(5_000)} | {
        "the user says that kestrel depends on osprey": {"user", "kestrel", "osprey"},
        "osprey waits for the user": {"osprey", "user"},
        "osprey is paid from the budget by the user": {"osprey", "budget", "user"},
    }
    view = bank(named)
    ranking = CHANNEL.search(view, asked(view, "what does kestrel depend on"), fake_tools())
    assert sorted(ranking.ordinals.tolist()[:3]) == [5_000, 5_001, 5_002]
    assert ranking.ordinals.tolist()[0] == 5_000
    # Named beside a rare one, the hub weighs little as a seed, too.
    ranking = CHANNEL.search(view, asked(view, "what does the user say about kestrel"), fake_tools())
    assert ranking.ordinals.tolist()[0] == 5_000


@pytest.mark.fault("G2")
def test_a_seed_that_stands_everywhere_is_a_reason() -> None:
    view = bank({f"m{n}": {"user"} for n in range(50)})
    ranking = replace(CHANNEL, edges=20).search(view, asked(view, "user"), fake_tools())
    assert len(ranking) == 0
    assert "20 edges" in ranking.reason


def test_memories_near_in_meaning_are_seeds_by_option() -> None:
    view = bank(CHAIN, vectors=[[0.0, 1.0], [1.0, 0.1], [-1.0, 0.0]])
    channel = replace(CHANNEL, similar_seeds=1)
    ranking = channel.search(view, asked(view, "money", vector=EAST), fake_tools())
    assert ranking.ordinals.tolist() == [1, 0]
    assert channel.search(view, asked(view, "money"), fake_tools()).reason == "no entity"


def test_memories_near_in_words_are_seeds_by_option() -> None:
    view = bank(CHAIN)
    channel = replace(CHANNEL, lexical_seeds=1)
    ranking = channel.search(view, asked(view, "the budgets", terms=(("budget", 1),)), fake_tools())
    assert ranking.ordinals.tolist() == [1, 0]


def test_entities_and_memories_share_the_start() -> None:
    view = bank({"kestrel": {"kestrel"}, "lone tea": set()}, vectors=[[0.0, 1.0], [1.0, 0.0]])
    channel = replace(CHANNEL, similar_seeds=1, memory_share=0.25)
    ranking = channel.search(view, asked(view, "kestrel", vector=EAST), fake_tools())
    assert dict(zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True))[1] == 0.25


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 0}, "depth: 0 is below 1"),
        ({"similar_seeds": -1}, "similar_seeds: -1 is below 0"),
        ({"lexical_seeds": -1}, "lexical_seeds: -1 is below 0"),
        ({"memory_share": 1.0}, "memory_share: 1.0 is not between 0 and 1"),
        ({"damping": 2.0}, "damping: 2.0 is not between 0 and 1"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(CHANNEL, **changes)
