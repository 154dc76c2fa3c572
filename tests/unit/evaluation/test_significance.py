from __future__ import annotations

import numpy as np
import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.comparing import Comparison, compare_runs

Run = dict[str, dict[str, float]]


def run(*values: float) -> Run:
    return {f"q{number}": {"ndcg@10": value, "recall@10": value / 2} for number, value in enumerate(values)}


def generator(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_equal_runs_differ_by_nothing() -> None:
    same = run(0.1, 0.9, 0.4)
    assert compare_runs(same, same, "ndcg@10", generator()) == Comparison("ndcg@10", 3, 0.0, 0.0, 0.0, 1.0)


def test_a_gain_on_every_question_is_certain() -> None:
    first = run(*[0.2, 0.4, 0.6] * 10)
    second = run(*[0.3, 0.5, 0.7] * 10)
    found = compare_runs(first, second, "ndcg@10", generator(), resamples=999)
    assert found.questions == 30
    assert (found.mean_difference, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert found.p_value == 1 / 1000


def test_the_named_measure_is_compared() -> None:
    found = compare_runs(run(0.2, 0.4), run(0.6, 0.8), "recall@10", generator())
    assert found.mean_difference == pytest.approx(0.2)


def test_two_questions_can_be_enumerated_by_hand() -> None:
    # Differences 1 and 0: a draw of two has mean 0, 1/2 or 1 with chance 1/4, 1/2, 1/4. With its sign flipped,
    # the one difference is as large.
    found = compare_runs(run(0.0, 0.0), run(1.0, 0.0), "ndcg@10", generator())
    assert (found.mean_difference, found.low, found.high) == (0.5, 0.0, 1.0)
    assert found.p_value == 1.0


def test_the_interval_and_p_value_agree_with_the_normal_approximation() -> None:
    differences = generator(1).normal(0.02, 0.2, size=400)
    found = compare_runs(run(*[0.0] * 400), run(*differences), "ndcg@10", generator())
    error = differences.std() / 20
    assert found.low == pytest.approx(differences.mean() - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(differences.mean() + 1.96 * error, abs=0.1 * error)
    assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


def test_swapping_the_runs_turns_the_sign() -> None:
    first, second = run(0.0, 0.5, 0.2, 0.9), run(0.4, 0.4, 0.6, 1.0)
    there = compare_runs(first, second, "ndcg@10", generator())
    back = compare_runs(second, first, "ndcg@10", generator())
    assert back.mean_difference == -there.mean_difference
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert back.p_value == there.p_value


def test_the_same_seed_gives_the_same_answer_whatever_the_order_of_questions() -> None:
    first, second = run(0.0, 0.5, 0.2, 0.9), run(0.4, 0.4, 0.6, 1.0)
    turned = dict(reversed(first.items()))
    assert compare_runs(first, second, "ndcg@10", generator()) == compare_runs(
        turned, second, "ndcg@10", generator()
    )


def test_runs_over_other_questions_are_refused() -> None:
    with pytest.raises(InputError, match="1 questions are in one run only, 'q2'"):
        compare_runs(run(0.1, 0.2), run(0.1, 0.2, 0.3), "ndcg@10", generator())


def test_runs_without_questions_are_refused() -> None:
    with pytest.raises(InputError, match="without questions"):
        compare_runs({}, {}, "ndcg@10", generator())


def test_an_unknown_measure_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ndcg@10'"):
        compare_runs(run(0.1), run(0.2), "ndcg@11", generator())


def test_no_draws_are_refused() -> None:
    with pytest.raises(InputError, match="resamples: 0 draws"):
        compare_runs(run(0.1), run(0.2), "ndcg@10", generator(), resamples=0)
