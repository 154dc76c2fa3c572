from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.recall.channels.vectors import Dense

if TYPE_CHECKING:
    from bench.stages.conftest import Desk
    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.benchmark(group="dense, 100 of 10,000")
DEPTH = 100


def exact(desk: Desk) -> list[int]:
    assert desk.query.vector is not None
    cosines = desk.vectors @ desk.query.vector
    return [int(row) for row in np.argsort(-cosines, kind="stable")[:DEPTH]]


def test_dense(benchmark: BenchmarkFixture, desk: Desk) -> None:
    stage = Dense(depth=DEPTH, rescore=8_192)
    found = benchmark(stage.search, desk.view, desk.query, desk.tools)
    assert len({*found.ordinals.tolist()} & {*exact(desk)}) >= 0.97 * DEPTH


def test_float32_over_every_row(benchmark: BenchmarkFixture, desk: Desk) -> None:
    assert len(benchmark(exact, desk)) == DEPTH
