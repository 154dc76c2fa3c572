from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simonides.errors import InputError
from simonides.index.graph_walk import Walk, spread
from simonides.recall.refining.graph import GraphExpansion
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

STAGE = GraphExpansion(
    mode="pagerank",
    seeds=2,
    fewest=3,
    most=4,
    hops=2,
    least_mass=0.0001,
    per_seed=10,
    hub_cap=100,
    damping=0.5,
    residual=0.001,
    edges=100_000,
    hub_damping=0.5,
    links={},
)
BFS = replace(STAGE, mode="bfs")
CHAIN = [{"kestrel"}, {"kestrel", "osprey"}, {"osprey"}, {"osprey", "budget"}, set(), set()]


def bank(named: list[set[str]] = CHAIN, **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(len(named))], entities=named, **changes)


def pool(*ordinals: int) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(ordinal, 1 / (60 + rank), "reciprocal_rank", ranks={"dense": rank})
        for rank, ordinal in enumerate(ordinals, 1)
    )


def refine(stage: GraphExpansion, view: FakeView, candidates: tuple[Candidate, ...]) -> Any:
    return stage.refine(view, fake_query("q"), candidates, fake_tools())


def proximity(refined: Any) -> dict[int, float]:
    return {candidate.ordinal: candidate.signals["graph_proximity"] for candidate in refined.pool}


@pytest.mark.spec("HX-06")
def test_seeds_stay_first_and_the_graph_adds_the_nearest() -> None:
    candidates = pool(0, 4)
    refined = refine(STAGE, bank(), candidates)
    assert [candidate.ordinal for candidate in refined.pool] == [0, 4, 1, 2]
    walk = Walk(0.5, 0.001, 4, 100_000, 0.5, {})
    found = spread(bank(), {0: 1 / 61, 4: 1 / 62}, {}, walk)
    mass = dict(zip(found.rows.tolist(), found.row_mass.round(9).tolist(), strict=True))
    assert proximity(refined) == {row: mass[row] for row in (0, 4, 1, 2)}
    added = refined.pool[2]
    assert (added.score, added.scored_by, added.ranks) == (mass[1], "graph_expansion", {})
    assert refined.pool[0] == replace(candidates[0], signals={"graph_proximity": mass[0]})


@pytest.mark.spec("HX-06")
def test_a_candidate_behind_the_seeds_that_the_graph_reaches_keeps_its_evidence() -> None:
    refined = refine(STAGE, bank(), pool(0, 4, 5, 1))
    kept = next(candidate for candidate in refined.pool if candidate.ordinal == 1)
    assert kept.ranks == {"dense": 4}
    assert kept.scored_by == "reciprocal_rank"
    assert [candidate.ordinal for candidate in refined.pool] == [0, 4, 1, 2]
    assert refined.dropped == {5: "behind the seeds of the graph expansion, which did not reach it"}


@pytest.mark.spec("HX-06")
def test_the_tail_fills_up_to_the_fewest() -> None:
    refined = refine(STAGE, bank([set()] * 6), pool(0, 1, 2, 3, 4))
    assert [candidate.ordinal for candidate in refined.pool] == [0, 1, 2]
    assert set(refined.dropped) == {3, 4}
    assert proximity(refined)[2] == 0.0


@pytest.mark.spec("HX-06")
def test_mass_and_hops_are_capped() -> None:
    view = bank()
    wide = replace(STAGE, most=6)
    assert set(proximity(refine(wide, view, pool(0)))) == {0, 1, 2, 3}
    assert set(proximity(refine(replace(wide, least_mass=0.2), view, pool(0)))) == {0}
    assert set(proximity(refine(replace(wide, hops=1), view, pool(0)))) == {0, 1}
    assert set(proximity(refine(replace(BFS, most=6), view, pool(0)))) == {0, 1, 2, 3}
    assert set(proximity(refine(replace(BFS, most=6, hops=1), view, pool(0)))) == {0, 1}
    assert set(proximity(refine(replace(BFS, most=6, per_seed=2), view, pool(0)))) == {0, 1, 2}


@pytest.mark.spec("HX-06")
def test_breadth_first_says_one_over_the_hops() -> None:
    refined = refine(replace(BFS, most=6), bank(), pool(0, 4))
    assert proximity(refined) == {0: 1.0, 4: 1.0, 1: 1.0, 2: 0.5, 3: 0.5}
    assert [candidate.ordinal for candidate in refined.pool] == [0, 4, 1, 2, 3]


@pytest.mark.spec("HX-06")
@pytest.mark.parametrize("mode", ["pagerank", "bfs"])
@pytest.mark.parametrize("found", [30, 100, 180])
def test_a_hundred_seeds_become_120_to_160(mode: Any, found: int) -> None:
    named = [{f"entity {n // 3}"} for n in range(600)]
    # Every third memory was found: each brings two more.
    stage = replace(STAGE, mode=mode, seeds=100, fewest=120, most=160)
    refined = refine(stage, bank(named), pool(*range(0, 3 * found, 3)))
    size = len(refined.pool)
    assert size == 90 if found == 30 else 120 <= size <= 160
    assert [candidate.ordinal for candidate in refined.pool[: min(found, 100)]] == [
        *range(0, 3 * min(found, 100), 3)
    ]


def test_what_is_not_eligible_is_not_added_but_leads_on() -> None:
    view = bank(eligible=[True, False, True, True, True, True])
    for stage in (STAGE, BFS):
        assert [c.ordinal for c in refine(stage, view, pool(0)).pool] == [0, 2, 3]


def test_what_is_not_visible_leads_nowhere() -> None:
    view = bank(visible=[True, False, True, True, True, True])
    for stage in (STAGE, BFS):
        assert [c.ordinal for c in refine(stage, view, pool(0)).pool] == [0]


def test_an_empty_pool_stays_empty() -> None:
    assert refine(STAGE, bank(), ()).pool == ()


def test_scores_that_are_not_above_zero_are_no_weights() -> None:
    below = tuple(replace(candidate, score=-1.0) for candidate in pool(0, 4))
    assert proximity(refine(STAGE, bank(), below))[0] > 0


def test_the_edge_budget_is_disclosed() -> None:
    refined = refine(replace(STAGE, edges=3, damping=0.95), bank(), pool(0))
    assert refined.reason == "stopped before it passed its 3 edges"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 0}, "seeds: 0 is below 1"),
        ({"per_seed": 0}, "per_seed: 0 is below 1"),
        ({"hub_cap": 0}, "hub_cap: 0 is below 1"),
        ({"most": 2}, r"most: 2 is below seeds \(2\) or fewest \(3\)"),
        ({"hops": 3}, "hops: 3 is not 1 to 2"),
        ({"least_mass": 1.0}, "least_mass: 1.0 is not from 0 and below 1"),
        ({"damping": 1.0}, "damping"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(STAGE, **changes)
