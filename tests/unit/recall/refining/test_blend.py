from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.refining.combining import GRAPH, SIGNALS, Blend, recency
from simonides.records.candidate import FUSED, Candidate
from simonides.records.kind import RECALLED, Kind
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

HOUR = 3_600_000_000
NOW = 1_000 * 24 * HOUR


def table(**weights: float) -> dict[str, dict[str, float]]:
    """The same weights for every kind, 0 where none is given."""
    return {kind.value: {signal: weights.get(signal, 0.0) for signal in SIGNALS} for kind in RECALLED}


def blend(decay_per_hour: float = 0.995, **weights: float) -> Blend:
    return Blend(table(**weights), decay_per_hour)


def pool_of(*fused: float, graph: tuple[float, ...] = ()) -> tuple[Candidate, ...]:
    """Candidates 0, 1, … with these fused scores."""
    pool = [Candidate(n, score, "reciprocal_rank", signals={FUSED: score}) for n, score in enumerate(fused)]
    for n, proximity in enumerate(graph):
        pool[n] = replace(pool[n], signals={**pool[n].signals, GRAPH: proximity})
    return tuple(pool)


def refine(stage: Blend, view: FakeView, pool: tuple[Candidate, ...], **query: Any) -> tuple[Candidate, ...]:
    refined = stage.refine(view, fake_query("q", **query), pool, fake_tools())
    assert refined.reason == ""
    return refined.pool


def by_ordinal(pool: tuple[Candidate, ...], signal: str) -> list[float]:
    return [candidate.signals[signal] for candidate in sorted(pool, key=lambda each: each.ordinal)]


def unit(*numbers: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array(numbers, np.float32)


@pytest.mark.spec("HX-07")
def test_sim_is_the_better_of_cosine_and_fused_score() -> None:
    view = FakeView.of(
        [fake_memory("a"), fake_memory("b"), fake_memory("c")], vectors=[[1, 0], [0.6, 0.8], [0, 1]]
    )
    # Cosines 1, .6, 0; fused scores .01, .01, .03: min-max 0, 0, 1.
    pool = refine(blend(sim=1.0), view, pool_of(0.01, 0.01, 0.03), vector=unit(1, 0))
    assert by_ordinal(pool, "sim") == pytest.approx([1.0, 0.6, 1.0], abs=1e-6)


@pytest.mark.spec("HX-07")
def test_without_a_query_vector_sim_is_the_fused_score() -> None:
    view = FakeView.of([fake_memory(name) for name in "abc"])
    pool = refine(blend(sim=1.0), view, pool_of(0.03, 0.02, 0.01))
    assert by_ordinal(pool, "sim") == [1.0, 0.5, 0.0]


@pytest.mark.spec("HX-07")
def test_every_signal_is_on_the_scale_of_the_pool() -> None:
    view = FakeView.of(
        [
            fake_memory("a", salience=0.9, confidence=0.5),
            fake_memory("b", salience=0.5, confidence=0.5),
            fake_memory("c", salience=0.6, confidence=0.5),
        ]
    )
    pool = refine(blend(salience=1.0), view, pool_of(0.1, 0.1, 0.1, graph=(0.0, 0.2, 0.05)))
    assert by_ordinal(pool, "salience") == [1.0, 0.0, 0.25]
    assert by_ordinal(pool, "confidence") == [0.0, 0.0, 0.0]  # a constant says nothing
    assert by_ordinal(pool, "sim") == [0.0, 0.0, 0.0]
    assert by_ordinal(pool, "graphprox") == [0.0, 1.0, 0.25]


@pytest.mark.spec("HX-07")
def test_the_score_is_the_weighted_sum_and_orders_the_pool() -> None:
    view = FakeView.of(
        [fake_memory("a", salience=0.0, confidence=1.0), fake_memory("b", salience=1.0, confidence=0.0)]
    )
    pool = refine(blend(sim=0.1, salience=0.5, confidence=0.2), view, pool_of(0.03, 0.01))
    assert [(candidate.ordinal, candidate.score) for candidate in pool] == [(1, 0.5), (0, 0.3)]
    assert {candidate.scored_by for candidate in pool} == {"blend"}


@pytest.mark.spec("HX-08")
def test_each_kind_has_its_own_weights() -> None:
    weights = table(salience=0.1)
    weights["decision"]["salience"] = 0.9
    view = FakeView.of(
        [
            fake_memory("a", salience=1.0, kind=Kind.EPISODIC),
            fake_memory("b", salience=1.0, kind=Kind.DECISION),
            fake_memory("c", salience=0.0, kind=Kind.DECISION),
        ]
    )
    pool = refine(Blend(weights, 0.995), view, pool_of(0.1, 0.1, 0.1))
    assert [(candidate.ordinal, candidate.score) for candidate in pool] == [(1, 0.9), (0, 0.1), (2, 0.0)]


@pytest.mark.spec("HX-09")
def test_recency_counts_from_the_last_access_else_from_ingest() -> None:
    view = FakeView.of(
        [
            fake_memory("a", ingested_at_micros=0, last_access_micros=NOW - 24 * HOUR),
            fake_memory("b", ingested_at_micros=NOW - 30 * 24 * HOUR),
            fake_memory("c", ingested_at_micros=NOW),
            fake_memory("d", ingested_at_micros=NOW + HOUR),
        ],
        as_of=NOW,
    )
    values = recency(view, np.arange(4), 0.995).tolist()
    assert values == [pytest.approx(0.8867, abs=5e-5), pytest.approx(0.0271, abs=5e-5), 1.0, 1.0]


@pytest.mark.spec("HX-09")
def test_an_access_after_the_viewpoint_is_not_known_yet() -> None:
    memory = fake_memory("a", ingested_at_micros=NOW - 24 * HOUR, last_access_micros=NOW + HOUR)
    view = FakeView.of([memory], as_of=NOW)
    assert recency(view, np.array([0]), 0.995).tolist() == [pytest.approx(0.995**24)]


def test_a_memory_from_the_beginning_of_time_is_as_old_as_can_be() -> None:
    view = FakeView.of([fake_memory("a", ingested_at_micros=-(2**62))], as_of=2**62)
    assert recency(view, np.array([0]), 0.995).tolist() == [0.0]


def test_evidence_stays_and_ties_go_by_id() -> None:
    view = FakeView.of([fake_memory("b"), fake_memory("a")])
    pool = refine(blend(sim=1.0), view, pool_of(0.1, 0.1))
    assert [candidate.ordinal for candidate in pool] == [1, 0]
    assert pool[0].signals[FUSED] == 0.1


def test_an_empty_pool_stays_empty() -> None:
    assert refine(blend(sim=1.0), FakeView.of([]), ()) == ()


@pytest.mark.spec("HX-08")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.pop("code"), "weights: lacks code"),
        (lambda weights: weights.update(poem={}), "weights: knows no 'poem'"),
        (lambda weights: weights["code"].pop("sim"), r"weights\.code: lacks sim"),
        (lambda weights: weights["code"].update(luck=1.0), r"weights\.code: knows no 'luck'"),
        (lambda weights: weights["code"].update(sim=-0.1), r"weights\.code\.sim: -0\.1"),
        (lambda weights: weights["code"].update(sim=math.nan), r"weights\.code\.sim: nan"),
    ],
)
def test_a_table_with_a_gap_or_a_slip_is_refused(change: Any, message: str) -> None:
    weights = table(sim=1.0)
    change(weights)
    with pytest.raises(InputError, match=message):
        Blend(weights, 0.995)


@pytest.mark.parametrize("decay", [0.0, -1.0, 1.1, math.nan])
def test_a_decay_out_of_range_is_refused(decay: float) -> None:
    with pytest.raises(InputError, match="decay_per_hour: "):
        Blend(table(), decay)


def test_what_is_in_quarantine_and_asked_for_counts_as_a_plain_fact() -> None:
    weights = {**table(sim=1.0), "semantic": {signal: float(signal == "salience") for signal in SIGNALS}}
    view = FakeView.of(
        [
            fake_memory("fact", kind=Kind.SEMANTIC, salience=0.9),
            fake_memory("set aside", kind=Kind.QUARANTINE, salience=0.9),
            fake_memory("trifle", kind=Kind.SEMANTIC, salience=0.1),
        ]
    )
    pool = tuple(Candidate(number, 1.0, "reciprocal_rank") for number in range(3))
    refined = Blend(weights, 0.995).refine(view, fake_query("q"), pool, fake_tools()).pool
    scores = {candidate.ordinal: candidate.score for candidate in refined}
    assert scores[0] == scores[1] > scores[2]
