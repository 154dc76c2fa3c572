from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from simonides.errors import InputError
from simonides.recall.refining.combining import CombinedScore
from simonides.recall.refining.pool import UNRERANKED
from simonides.records.candidate import Candidate
from simonides.records.interval import BEGINNING, FOREVER, Interval, to_micros
from simonides.records.kind import Kind
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

COMBINED = CombinedScore(
    recency_alpha=0.2,
    temporal_alpha=0.2,
    proof_alpha=0.1,
    recency_days=365.0,
    recency_floor=0.1,
    proof_scale=10.0,
)
NOW = to_micros(datetime(2026, 3, 1, 9, tzinfo=UTC))
DAY = 86_400_000_000


def refined(*changes: dict[str, Any], score: float = 1.0, time: Interval | None = None) -> list[Candidate]:
    """Candidates by ordinal; each memory is undated and written now unless *changes* say else."""
    plain = {"valid_from_micros": NOW, "ingested_at_micros": NOW}
    view = FakeView.of([fake_memory(f"m{n}", **{**plain, **change}) for n, change in enumerate(changes)])
    pool = tuple(Candidate(n, score, "cross_encoder") for n in range(len(changes)))
    query = fake_query("q", as_of=NOW, time=time)
    pool = COMBINED.refine(view, query, pool, fake_tools()).pool
    return sorted(pool, key=lambda candidate: candidate.ordinal)


def at(days_ago: float, length: float = 0.0) -> dict[str, Any]:
    start = NOW - round(days_ago * DAY)
    return {"occurred": Interval(start, start + round(length * DAY))}


def signals(name: str, *changes: dict[str, Any], **options: Any) -> list[float]:
    return [candidate.signals[name] for candidate in refined(*changes, **options)]


@pytest.mark.spec("HI-08")
@pytest.mark.parametrize(
    ("change", "recency", "boost"),
    [
        (at(0), 1.0, 1.10),
        (at(182.5), 0.5, 1.00),
        (at(328.5), 0.1, 0.92),
        (at(366), 0.1, 0.92),
        (at(36_500), 0.1, 0.92),
        (at(-40), 1.0, 1.10),
        ({}, 0.5, 1.00),
    ],
)
def test_recency_falls_over_a_year(change: dict[str, Any], recency: float, boost: float) -> None:
    (candidate,) = refined(change)
    assert candidate.signals["recency"] == pytest.approx(recency, abs=1e-9)
    assert candidate.signals["recency_boost"] == pytest.approx(boost, abs=1e-9)
    assert candidate.score == pytest.approx(boost, abs=1e-9)
    assert candidate.scored_by == "combined_score"


@pytest.mark.spec("HI-08")
def test_the_age_counts_from_start_then_stated_validity_then_end() -> None:
    a_year_ago, today = NOW - 365 * DAY, NOW
    half = NOW - round(182.5 * DAY)
    only_end = Interval(BEGINNING, half)
    assert signals(
        "recency",
        {"occurred": Interval(today, FOREVER), "valid_from_micros": a_year_ago},
        {"occurred": Interval(today, today + DAY), "valid_from_micros": a_year_ago},
        {"valid_from_micros": half},
        {"occurred": only_end, "valid_from_micros": today - 73 * DAY},
        {"occurred": only_end},
        {"valid_from_micros": BEGINNING},
    ) == pytest.approx([1.0, 1.0, 0.5, 0.8, 0.5, 0.5], abs=1e-9)


@pytest.mark.spec("HI-09")
def test_a_memory_at_the_centre_of_the_asked_time_is_raised() -> None:
    time = Interval(NOW - 20 * DAY, NOW - 10 * DAY)
    assert signals("temporal", at(15), at(20), at(10), at(12.5), at(300), {}, time=time) == pytest.approx(
        [1.0, 0.0, 0.0, 0.5, 0.0, 0.5], abs=1e-9
    )
    assert signals("temporal_boost", at(15), at(20), time=time) == pytest.approx([1.1, 0.9], abs=1e-9)


@pytest.mark.spec("HI-09")
def test_without_an_asked_time_all_are_neutral_and_a_moment_raises_all_that_are_dated() -> None:
    assert signals("temporal_boost", at(15), {}) == [1.0, 1.0]
    assert signals("temporal_boost", at(15), at(999), {}, time=Interval(NOW, NOW)) == [1.1, 1.1, 1.0]


@pytest.mark.spec("HI-10")
@pytest.mark.parametrize(
    ("proofs", "boost"),
    [(1, 1.0), (3, 1.010986), (10, 1.023026), (150, 1.05), (10**6, 1.05), (0, 1.0), (-4, 1.0)],
)
def test_proofs_raise_an_observation(proofs: int, boost: float) -> None:
    change = {"kind": Kind.OBSERVATION, "proof_count": proofs}
    assert signals("proof_boost", change) == pytest.approx([boost], abs=1e-6)


@pytest.mark.spec("HI-10")
@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.OBSERVATION])
def test_proofs_of_anything_else_are_neutral(kind: Kind) -> None:
    assert signals("proof_boost", {"kind": kind, "proof_count": 150}) == [1.0]


@pytest.mark.spec("HI-07")
def test_the_best_and_the_worst_that_boosts_can_do() -> None:
    best = {**at(0), "kind": Kind.OBSERVATION, "proof_count": 150}
    week = Interval(NOW - 3 * DAY, NOW + 3 * DAY)
    assert [c.score for c in refined(best, time=week)] == pytest.approx([1.2705], abs=1e-9)
    assert [c.score for c in refined(at(400), time=week)] == pytest.approx([0.828], abs=1e-9)
    assert [c.score for c in refined(best, score=0.5, time=week)] == pytest.approx([0.63525], abs=1e-9)


def test_the_order_is_by_combined_score_and_the_unreranked_tail_stays_behind() -> None:
    old, new = {**at(700), "id": "a"}, {**at(0), "id": "b"}
    view = FakeView.of([fake_memory("a", **old), fake_memory("b", **new), fake_memory("c", **new)])
    pool = (
        Candidate(0, 0.5, "cross_encoder"),
        Candidate(1, 0.5, "cross_encoder"),
        Candidate(2, 0.9, "reciprocal_rank", signals={UNRERANKED: 1.0}),
    )
    found = COMBINED.refine(view, fake_query("q", as_of=NOW), pool, fake_tools()).pool
    assert [(each.ordinal, each.score) for each in found] == [
        (1, pytest.approx(0.55)),
        (0, pytest.approx(0.46)),
        (2, 0.9),
    ]
    assert "recency" not in found[2].signals


def test_an_empty_pool_stays_empty() -> None:
    assert COMBINED.refine(FakeView.of([]), fake_query("q"), (), fake_tools()).pool == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("recency_alpha", -0.1),
        ("temporal_alpha", 2.1),
        ("proof_alpha", math.inf),
        ("recency_days", 0.0),
        ("proof_scale", math.inf),
        ("recency_floor", 1.1),
    ],
)
def test_options_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(InputError) as caught:
        replace(COMBINED, **{field: value})
    assert caught.value.field == field
