from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.graph_walk import Walk, damped_weights, spread

if TYPE_CHECKING:
    from bench.stages.conftest import Desk
    from numpy.typing import NDArray
    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.benchmark(group="PageRank from 100 seeds, 10,000 memories")
DAMPING = 0.5
LINKS = {"semantic": 1.0, "causal": 1.0, "temporal": 0.2, "session": 0.2}
WALK = Walk(damping=DAMPING, residual=1e-4, rounds=10, edges=200_000, hub_damping=1.0, links=LINKS)
SEEDS = dict.fromkeys(range(0, 5_000, 50), 1.0)
ROUNDS = 60


def exact(desk: Desk) -> NDArray[np.float64]:
    """Power iteration over every edge, without an end on small masses; mass of memories."""
    rows = np.arange(desk.view.snapshot.rows, dtype=np.int64)
    linked, mentions = desk.view.links(rows), desk.view.mentions(rows)
    kinds = np.array([LINKS[kind] for kind in ("semantic", "causal", "temporal", "session")])
    count = len(rows) + int(mentions.second.max()) + 1
    pays = damped_weights(desk.view, mentions.second, WALK.hub_damping)
    first = np.concatenate([linked.first, mentions.first, mentions.second + len(rows)])
    second = np.concatenate([linked.second, mentions.second + len(rows), mentions.first])
    weights = np.concatenate([linked.weights * kinds[linked.kinds], pays, np.ones(len(pays))])
    out = np.bincount(first, weights, minlength=count)
    start = np.zeros(count)
    start[list(SEEDS)] = 1 / len(SEEDS)
    mass = start
    for _ in range(ROUNDS):
        moved = np.bincount(second, mass[first] * weights / out[first], minlength=count)
        mass = (1 - DAMPING) * start + DAMPING * (moved + np.where(out == 0, mass, 0))
    return mass[: len(rows)]


def test_forward_push(benchmark: BenchmarkFixture, desk: Desk) -> None:
    found = benchmark(spread, desk.view, SEEDS, {}, WALK)
    twin = exact(desk)
    order = [int(row) for row in np.argsort(-twin, kind="stable") if int(row) not in SEEDS][:50]
    masses = dict(zip(found.rows.tolist(), found.row_mass.tolist(), strict=True))
    mine = sorted((row for row in masses if row not in SEEDS), key=lambda row: (-masses[row], row))[:50]
    assert len({*mine} & {*order}) >= 45


def test_power_iteration(benchmark: BenchmarkFixture, desk: Desk) -> None:
    assert benchmark(exact, desk).sum() > 0
