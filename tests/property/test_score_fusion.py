"""Fusion by score, neighbours and the graph's rank against plain twins."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.fusion import ScoreSum
from simonides.recall.refining.graph import GraphRank, Neighbours
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import View
    from simonides.records.candidate import Ranking

ROWS = 8
VIEW = FakeView.of([fake_memory("x", id=f"m{(n * 5) % ROWS}", path=f"p{n % 2}") for n in range(ROWS)])
SCORES = st.dictionaries(st.integers(0, ROWS - 1), st.integers(-1000, 1000), max_size=ROWS)
RANKINGS = st.dictionaries(st.sampled_from("abcde"), SCORES, max_size=4)
WEIGHTS = st.dictionaries(st.sampled_from("abcde"), st.floats(0.01, 10))


def ranked(found: Mapping[str, Mapping[int, int]]) -> dict[str, Ranking]:
    return {
        channel: VIEW.ranking(
            np.array(list(scores), np.int64), np.array(list(scores.values()), np.float64) / 1000, None
        )
        for channel, scores in found.items()
    }


def in_order(pool: tuple[Candidate, ...]) -> bool:
    keys = [(-c.score, VIEW.stored[c.ordinal].path, VIEW.stored[c.ordinal].id) for c in pool]
    return keys == sorted(keys)


@given(RANKINGS, WEIGHTS)
def test_the_sum_and_its_order_equal_the_exact_twin(
    found: dict[str, dict[int, int]], weights: dict[str, float]
) -> None:
    exact: dict[int, Fraction] = {}
    for channel, scores in found.items():
        for ordinal, score in scores.items():
            low, high = min(scores.values()), max(scores.values())
            share = Fraction(score - low, high - low) if high > low else Fraction(len(scores) == 1)
            part = Fraction(weights.get(channel, 1.0)) * share
            exact[ordinal] = exact.get(ordinal, Fraction()) + part
    pool = ScoreSum(weights).fuse(VIEW, fake_query("q"), ranked(found))
    assert {candidate.ordinal for candidate in pool} == set(exact)
    for candidate in pool:
        assert abs(candidate.score - exact[candidate.ordinal]) < 3e-8
    assert in_order(pool)


@given(RANKINGS)
def test_by_logarithm_equals_the_definition(found: dict[str, dict[int, int]]) -> None:
    pool = ScoreSum(log=tuple("abcde")).fuse(VIEW, fake_query("q"), ranked(found))
    exact: dict[int, float] = {}
    for scores in found.values():
        least = min((score for score in scores.values() if score > 0), default=None)
        logs = {row: math.log(max(score, least)) if least else 0.0 for row, score in scores.items()}
        span = max(logs.values(), default=0.0) - min(logs.values(), default=0.0)
        for row, log in logs.items():
            share = (log - min(logs.values())) / span if span else float(len(logs) == 1)
            exact[row] = exact.get(row, 0.0) + share
    assert {candidate.ordinal: candidate.score for candidate in pool} == pytest.approx(exact, abs=1e-8)


PAIRS = st.sets(
    st.tuples(st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)).filter(lambda pair: pair[0] < pair[1])
)
POOLS = st.dictionaries(st.integers(0, ROWS - 1), st.integers(-4, 4), min_size=1, max_size=ROWS)


def best_first(view: View, scores: Mapping[int, int]) -> tuple[Candidate, ...]:
    ranking = view.ranking(
        np.array(list(scores), np.int64), np.array(list(scores.values()), np.float64), None
    )
    pairs = zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True)
    return tuple(Candidate(ordinal, score, "score_sum") for ordinal, score in pairs)


@given(POOLS, PAIRS, st.integers(0, 3))
def test_neighbours_equal_the_definition(
    scores: dict[int, int], pairs: set[tuple[int, int]], adds: int
) -> None:
    view = FakeView.of(VIEW.stored, links=[(one, other, "session", 1.0) for one, other in sorted(pairs)])
    pool = best_first(view, scores)
    beside: dict[int, set[int]] = {row: set() for row in range(ROWS)}
    for one, other in pairs:
        beside[one].add(other)
        beside[other].add(one)
    head = [candidate.ordinal for candidate in pool[:adds]]
    members = set(scores) | {row for seed in head for row in beside[seed]}
    exact = {
        row: scores.get(row, 0) + 0.25 * max([0, *(scores[near] for near in beside[row] if near in scores)])
        for row in members
    }
    refined = Neighbours(0.25, ("session",), adds).refine(view, fake_query("q"), pool, fake_tools()).pool
    assert {candidate.ordinal: candidate.score for candidate in refined} == exact
    assert in_order(refined)


def exact_masses(
    mentions: list[frozenset[str]], starts: Mapping[int, float], damping: float
) -> dict[int, float]:
    """Personalised PageRank by power iteration over memories and names, every edge alike."""
    names = sorted({name for named in mentions for name in named})
    size = len(mentions) + len(names)
    step = np.zeros((size, size))
    for row, named in enumerate(mentions):
        for name in named:
            step[row, len(mentions) + names.index(name)] = 1.0
            step[len(mentions) + names.index(name), row] = 1.0
    alone = np.flatnonzero(step.sum(axis=1) == 0)
    step[alone, alone] = 1.0
    step /= step.sum(axis=1, keepdims=True)
    start = np.zeros(size)
    for row, share in starts.items():
        start[row] = share
    mass = start
    for _ in range(300):
        mass = (1 - damping) * start + damping * mass @ step
    return {row: float(mass[row]) for row in range(len(mentions))}


NAMED = st.lists(st.frozensets(st.sampled_from(("ines", "osprey", "kestrel"))), min_size=ROWS, max_size=ROWS)


@given(POOLS, NAMED, st.integers(1, 3))
def test_the_graphs_value_equals_power_iteration(
    scores: dict[int, int], mentions: list[frozenset[str]], seeds: int
) -> None:
    view = FakeView.of(VIEW.stored, entities=mentions)
    pool = best_first(view, scores)
    stage = GraphRank(
        seeds=seeds,
        entity_weight=0.0,
        weight=1.0,
        most=ROWS,
        least_trust=1.0,
        least_mass=1e-4,
        damping=0.5,
        residual=1e-9,
        rounds=100,
        edges=10**12,
        hub_damping=0.0,
        links={},
    )
    head = {candidate.ordinal: candidate.score for candidate in pool[:seeds]}
    positive = {row: score for row, score in head.items() if score > 0} or dict.fromkeys(head, 1.0)
    total = sum(positive.values())
    masses = exact_masses(mentions, {row: score / total for row, score in positive.items()}, 0.5)
    highest = math.log(max(masses.values()) / 1e-4)
    refined = stage.refine(view, fake_query("q"), pool, fake_tools()).pool
    found = {candidate.ordinal: candidate.signals["graph_rank"] for candidate in refined}
    for row, mass in masses.items():
        value = math.log(mass / 1e-4) / highest if mass > 1e-4 else 0.0
        assert found.get(row, 0.0) == pytest.approx(value, abs=1e-3)
    assert in_order(refined)
