from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simonides.evaluation.comparing import MOST_EXACT, sign_flip_p

DRAWS = 10_000


def generator() -> np.random.Generator:
    return np.random.default_rng(11)


def enumerated(differences: list[float]) -> float:
    """Every sign pattern of every difference, zeros included."""
    seen = abs(sum(differences))
    patterns = list(product((-1, 1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in patterns]
    return sum(total >= seen - 1e-9 for total in sums) / len(patterns)


def test_three_differences_by_hand() -> None:
    # 1+2+3 = 6 is reached by +++ and --- alone: 2 of 8.
    assert sign_flip_p(np.array([1.0, 2.0, 3.0]), generator(), DRAWS) == 2 / 8
    # 1+1-1 = 1: every pattern's sum is odd, so all reach it.
    assert sign_flip_p(np.array([1.0, 1.0, -1.0]), generator(), DRAWS) == 1.0


@pytest.mark.parametrize("count", [1, 2, 5, 9, 12])
def test_few_questions_agree_with_enumeration(count: int) -> None:
    differences = np.random.default_rng(count).choice([-0.5, 0.0, 0.25, 0.5, 1.0], size=count)
    assert sign_flip_p(differences, generator(), DRAWS) == enumerated(differences.tolist())


def test_many_questions_are_drawn_and_come_near_the_exact_value() -> None:
    values = np.array([0.5] * 12 + [-0.5] * 6)
    assert len(values) > MOST_EXACT
    # Fair coin, 18 throws: at least 12 of either side.
    exact = 2 * sum(comb for comb in (18564, 8568, 3060, 816, 153, 18, 1)) / 2**18
    assert sign_flip_p(values, generator(), DRAWS) == pytest.approx(exact, abs=0.02)


def test_identical_systems_have_p_one() -> None:
    assert sign_flip_p(np.zeros(40), generator(), DRAWS) == 1.0


def test_questions_that_do_not_differ_change_nothing() -> None:
    values = np.array([0.5, 0.5, -0.25])
    padded = np.concatenate((np.zeros(100), values))
    assert sign_flip_p(padded, generator(), DRAWS) == sign_flip_p(values, generator(), DRAWS)


def test_the_seed_and_not_the_order_decides() -> None:
    values = np.random.default_rng(3).normal(0.1, 0.4, size=30)
    first = sign_flip_p(values, generator(), 1000)
    assert sign_flip_p(values[::-1], generator(), 1000) == first


def test_true_null_hypotheses_are_refused_about_as_often_as_said() -> None:
    source = np.random.default_rng(5)
    refused = sum(sign_flip_p(source.normal(0, 1, size=14), source, DRAWS) <= 0.1 for _ in range(400))
    assert refused / 400 == pytest.approx(0.1, abs=0.05)
