"""Fusion, diversity and packing, each beside what its definition says, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.recall.channels.lexical import Lexical
from simonides.recall.channels.vectors import Dense
from simonides.recall.fusion import ReciprocalRank
from simonides.recall.packing.outside_in import OutsideIn
from simonides.recall.packing.packers import SEPARATOR, render_item
from simonides.recall.refining.diversity import MarginalRelevance

if TYPE_CHECKING:
    from bench.stages.conftest import Desk
    from pytest_benchmark.fixture import BenchmarkFixture

    from simonides.records.candidate import Candidate, Ranking

K, MOST, HITS = 60, 50, 30


@pytest.fixture(scope="module")
def rankings(desk: Desk) -> dict[str, Ranking]:
    return {
        "dense": Dense(100, 8_192).search(desk.view, desk.query, desk.tools),
        "lexical": Lexical(100, 1.2, 0.75, {"text": 1.0}).search(desk.view, desk.query, desk.tools),
    }


@pytest.fixture(scope="module")
def pool(desk: Desk, rankings: dict[str, Ranking]) -> tuple[Candidate, ...]:
    return ReciprocalRank(K).fuse(desk.view, desk.query, rankings)


def sums(rankings: dict[str, Ranking]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for ranking in rankings.values():
        for rank, row in enumerate(ranking.ordinals.tolist(), 1):
            scores[row] = scores.get(row, 0.0) + 1 / (K + rank)
    return scores


@pytest.mark.benchmark(group="fusion of two rankings of 100")
def test_reciprocal_rank(benchmark: BenchmarkFixture, desk: Desk, rankings: dict[str, Ranking]) -> None:
    found = benchmark(ReciprocalRank(K).fuse, desk.view, desk.query, rankings)
    assert {c.ordinal: round(c.score, 9) for c in found} == {
        r: round(s, 9) for r, s in sums(rankings).items()
    }


@pytest.mark.benchmark(group="fusion of two rankings of 100")
def test_sums_of_fractions(benchmark: BenchmarkFixture, rankings: dict[str, Ranking]) -> None:
    assert benchmark(sums, rankings)


def greedy(desk: Desk, pool: tuple[Candidate, ...]) -> list[int]:
    """The best by score less likeness, each pair compared anew in every round."""
    rows = [candidate.ordinal for candidate in pool]
    vectors = desk.view.vectors(np.array(rows, np.int64)).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen: list[int] = []
    while len(chosen) < min(MOST, len(rows)):
        free = [place for place in range(len(rows)) if place not in chosen]
        value = {
            place: round(
                0.5 * pool[place].score
                - 0.5 * round(max((float(vectors[place] @ vectors[c]) for c in chosen), default=0.0), 9),
                9,
            )
            for place in free
        }
        chosen.append(max(free, key=lambda place: (value[place], -place)))
    return [rows[place] for place in chosen]


@pytest.mark.benchmark(group="50 unlike ones of a pool")
def test_marginal_relevance(benchmark: BenchmarkFixture, desk: Desk, pool: tuple[Candidate, ...]) -> None:
    stage = MarginalRelevance(0.5, MOST)
    found = benchmark(stage.refine, desk.view, desk.query, pool, desk.tools)
    assert [candidate.ordinal for candidate in found.pool] == greedy(desk, pool)


@pytest.mark.benchmark(group="50 unlike ones of a pool")
def test_every_pair_in_every_round(
    benchmark: BenchmarkFixture, desk: Desk, pool: tuple[Candidate, ...]
) -> None:
    assert len(benchmark(greedy, desk, pool)) == min(MOST, len(pool))


def laid(desk: Desk, pool: tuple[Candidate, ...]) -> str:
    """Every text from the store, laid from both ends."""
    memories = desk.view.memories([candidate.ordinal for candidate in pool[:HITS]])
    items = [render_item(memory, rank, ("date",)) for rank, memory in enumerate(memories, 1)]
    front, back = items[::2], items[1::2]
    return SEPARATOR.join([*front, *reversed(back)])


@pytest.mark.benchmark(group="packing 30 memories")
def test_outside_in(benchmark: BenchmarkFixture, desk: Desk, pool: tuple[Candidate, ...]) -> None:
    stage = OutsideIn(HITS, "rendered", ("date",))
    assert benchmark(stage.pack, desk.view, desk.query, pool, desk.tools).context == laid(desk, pool)


@pytest.mark.benchmark(group="packing 30 memories")
def test_texts_in_order(benchmark: BenchmarkFixture, desk: Desk, pool: tuple[Candidate, ...]) -> None:
    assert benchmark(laid, desk, pool)
