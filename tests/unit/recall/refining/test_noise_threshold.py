from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.cutting import NoiseThreshold
from simonides.recall.refining.pool import UNRERANKED
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

VIEW = FakeView.of([fake_memory(f"m{n}") for n in range(6)])


def crossed(*scores: float, **signals: float) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(n, score, "cross_encoder", signals={"cross_encoder": score, **signals})
        for n, score in enumerate(scores)
    )


def fused(*scores: float) -> tuple[Candidate, ...]:
    return tuple(Candidate(n, score, "reciprocal_rank") for n, score in enumerate(scores))


def refine(pool: tuple[Candidate, ...], *, seed: int = 0, **options: Any) -> Refined:
    stage = NoiseThreshold(**({"sigma": 0.0, "least": 0.0} | options))
    return stage.refine(VIEW, fake_query("?"), pool, fake_tools(seed=seed))


@pytest.mark.spec("EN-09")
def test_noise_is_drawn_from_the_recalls_generator_in_the_order_of_the_pool() -> None:
    drawn = random.Random(7)
    expected = {n: round(score + drawn.gauss(0.0, 0.02), 9) for n, score in enumerate((0.9, 0.5, 0.1))}
    refined = refine(crossed(0.9, 0.5, 0.1), seed=7, sigma=0.02)
    assert {each.ordinal: each.score for each in refined.pool} == expected
    assert refine(crossed(0.9, 0.5, 0.1), seed=7, sigma=0.02) == refined
    assert refine(crossed(0.9, 0.5, 0.1), seed=8, sigma=0.02) != refined


@pytest.mark.spec("EN-09")
def test_noise_does_not_clamp() -> None:
    scores = [each.score for each in refine(crossed(*[1.0, 0.0] * 3), seed=2, sigma=0.02).pool]
    assert max(scores) > 1
    assert min(scores) < 0
    assert len(set(scores)) == len(scores)


@pytest.mark.spec("EN-09")
def test_a_sigma_of_zero_draws_nothing() -> None:
    tools = fake_tools(seed=5)
    pool = crossed(0.9, 0.5)
    refined = NoiseThreshold(sigma=0.0, least=0.0).refine(VIEW, fake_query("?"), pool, tools)
    assert refined.pool == pool
    assert tools.random.random() == random.Random(5).random()


@pytest.mark.spec("EN-09")
def test_fused_scores_get_no_noise_and_no_floor() -> None:
    pool = fused(1 / 61, 1 / 62)
    assert refine(pool, sigma=0.02, least=0.6) == Refined(pool)
    mixed = (*crossed(0.9), fused(0.0, 0.1)[1])
    assert refine(mixed, sigma=0.02, least=0.6) == Refined(mixed)


@pytest.mark.spec("EN-09")
def test_scores_by_rank_get_noise_and_no_floor() -> None:
    pool = tuple(Candidate(n, score, "synthetic_scores") for n, score in enumerate((1.0, 0.1)))
    refined = refine(pool, sigma=0.02, least=0.6)
    assert len(refined.pool) == 2
    assert all("noise" in each.signals for each in refined.pool)


@pytest.mark.spec("EN-09")
def test_what_a_cross_encoder_scored_below_the_floor_leaves_and_is_counted() -> None:
    refined = refine(crossed(0.9, 0.6, 0.599999999, 0.1), least=0.6)
    assert [each.ordinal for each in refined.pool] == [0, 1]
    assert refined.reason == "2 of 4 scored below 0.6 and were left out"
    assert refined.dropped == {
        2: "scored 0.600, below the least of 0.6",
        3: "scored 0.100, below the least of 0.6",
    }


@pytest.mark.spec("EN-09")
def test_after_a_learned_model_the_cross_encoders_boosted_score_is_tested() -> None:
    pool = (
        Candidate(0, 0.01, "learned_mlp", signals={"cross_encoder": 0.4, "boost": 2.0}),
        Candidate(1, 0.99, "learned_mlp", signals={"cross_encoder": 0.4}),
        Candidate(2, 0.02, "learned_mlp"),
    )
    assert [each.ordinal for each in refine(pool, least=0.6).pool] == [0, 2]


def test_what_no_reranker_has_read_stays_behind() -> None:
    head = crossed(0.1, 0.9)
    tail = replace(fused(0, 0, 0.5)[2], signals={UNRERANKED: 1.0})
    refined = refine((*head, tail), least=0.6)
    assert [each.ordinal for each in refined.pool] == [1, 2]
    assert refined.pool[-1] == tail


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sigma": -0.1}, "sigma: -0.1"),
        ({"least": 1.1}, "least: 1.1"),
        ({"sigma": float("nan")}, "sigma: nan"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        refine((), **options)
    assert str(caught.value).startswith(says)
