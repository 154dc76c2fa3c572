from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.refining.boosts import BOUNDED_PRIORS_SIGNAL, BoundedPriors
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

DAY = 86_400_000_000
NOW = 100 * DAY
EVEN = {"recency": 0.25, "salience": 0.25, "confidence": 0.25, "usage": 0.25}
PRIORS = BoundedPriors(band=1.21, weights=EVEN, half_life_days=30.0)


def memory(name: str, **changes: Any) -> Any:
    return fake_memory(name, **({"ingested_at_micros": NOW, "salience": 0.5, "confidence": 0.5} | changes))


def refine(stage: BoundedPriors, view: FakeView, *scores: float) -> list[tuple[int, float]]:
    pool = tuple(Candidate(n, score, "reciprocal_rank") for n, score in enumerate(scores))
    refined = stage.refine(view, fake_query("q"), pool, fake_tools()).pool
    return [(candidate.ordinal, candidate.score) for candidate in refined]


@pytest.mark.spec("DF-05")
def test_each_signal_moves_the_prior_by_its_weight() -> None:
    view = FakeView.of(
        [
            memory("new"),  # recency 1, usage 0: the two cancel out
            memory("old", ingested_at_micros=NOW - 30 * DAY),
            memory("important", salience=1.0),
            memory("sure", confidence=1.0),
            memory("used", access_count=10**9, last_access_micros=NOW),
        ],
        as_of=NOW,
    )
    power = np.log(PRIORS.priors(view, np.arange(5))) / math.log(1.21)
    used = 0.25 * (1 - 1 / (1 + math.log(1 + 10**9)))
    assert power.tolist() == pytest.approx([0.0, -0.125, 0.125, 0.125, used], abs=1e-6)


@pytest.mark.spec("DF-05")
def test_a_statement_and_a_long_text_are_raised() -> None:
    priors = BoundedPriors(2.0, {"statement": 0.5, "length": 0.5}, half_life_days=30.0)
    texts = ("lamp?", "lamp", " ".join(["lamp"] * 200))
    view = FakeView.of([memory(text) for text in texts], as_of=NOW)
    power = np.log2(priors.priors(view, np.arange(3)))
    short = 0.5 * (math.log(2) / 5 - 0.5)
    assert power.tolist() == pytest.approx([short - 0.25, short + 0.25, 0.5], abs=1e-6)


@pytest.mark.spec("DF-05")
def test_a_prior_decides_between_near_scores_only() -> None:
    best = memory("best", salience=1.0, confidence=1.0, access_count=10**9, last_access_micros=NOW)
    worst = memory("worst", salience=0.0, confidence=0.0, ingested_at_micros=-(2**62))
    view = FakeView.of([best, worst], as_of=NOW)
    low, high = PRIORS.priors(view, np.array([1, 0])).tolist()
    assert 1 / 1.1 - 1e-9 <= low < high <= 1.1 + 1e-9
    assert refine(PRIORS, view, 0.010, 0.0115)[0][0] == 0  # within the band of 1.21
    assert refine(PRIORS, view, 0.010, 0.0122)[0][0] == 1  # beyond it


def test_a_negative_score_is_raised_by_a_good_prior() -> None:
    view = FakeView.of([memory("good", salience=1.0), memory("plain")], as_of=NOW)
    assert [ordinal for ordinal, _ in refine(PRIORS, view, -1.0, -1.0)] == [0, 1]


def test_a_band_of_one_changes_no_score() -> None:
    view = FakeView.of([memory("a", salience=1.0), memory("b")], as_of=NOW)
    assert refine(replace(PRIORS, band=1.0), view, 0.25, 0.5) == [(1, 0.5), (0, 0.25)]


def test_each_candidate_carries_its_prior() -> None:
    view = FakeView.of([memory("a")], as_of=NOW)
    (candidate,) = PRIORS.refine(view, fake_query("q"), (Candidate(0, 1.0, "x"),), fake_tools()).pool
    assert (candidate.signals[BOUNDED_PRIORS_SIGNAL], candidate.scored_by) == (1.0, "bounded_priors")
    assert PRIORS.refine(view, fake_query("q"), (), fake_tools()).pool == ()


@pytest.mark.spec("DF-05")
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"band": 0.9}, "band"),
        ({"band": math.inf}, "band"),
        ({"half_life_days": 0.0}, "half_life_days"),
        ({"weights": {"luck": 0.1}}, "weights.luck"),
        ({"weights": {"usage": -0.1}}, "weights.usage"),
        ({"weights": {"usage": 0.6, "recency": 0.5}}, "weights"),
    ],
)
def test_what_could_leave_the_band_is_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(PRIORS, **options)
    assert caught.value.field == field
