"""The search finds what is there, spends no more than it was given, and trusts no single fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.evaluation.tuning_search import Number, Range, cross_validated_gain, descend

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDS = np.arange(20, dtype=np.int64) % 5
NUMBERS = tuple(
    Number("stage", (name,), 1.0, whole=False, range=Range(0.01, 10, by_factor=True)) for name in "ab"
)


def smooth(values: tuple[float, ...]) -> NDArray[np.float64]:
    """Best where a = 4, whatever b."""
    return np.full(20, 1 - abs(np.log(values[0] / 4)) / 10)


def test_it_comes_near_the_best_and_leaves_alone_what_does_not_matter() -> None:
    found = descend(NUMBERS, smooth, smooth((1.0, 1.0)), FOLDS, np.random.default_rng(1), 200)
    assert 3.6 < found.values[0] < 4.4
    assert found.values[1] == 1.0
    assert all(step.gain > 0 for step in found.steps)
    assert found.scores.tolist() == smooth(found.values).tolist()


@pytest.mark.parametrize("trials", [1, 3, 7])
def test_it_keeps_to_its_budget_and_measures_nothing_twice(trials: int) -> None:
    asked: list[tuple[float, ...]] = []

    def score(values: tuple[float, ...]) -> NDArray[np.float64]:
        asked.append(values)
        return smooth(values)

    found = descend(NUMBERS, score, smooth((1.0, 1.0)), FOLDS, np.random.default_rng(1), trials)
    assert found.trials == len(asked) == len(set(asked)) == trials


def test_values_that_are_refused_cost_nothing_and_are_not_taken() -> None:
    found = descend(NUMBERS, lambda _: None, smooth((1.0, 1.0)), FOLDS, np.random.default_rng(1), 9)
    assert (found.values, found.trials, found.moved, found.steps) == ((1.0, 1.0), 0, 0, ())


def test_a_gain_of_one_fold_alone_is_not_taken() -> None:
    def lucky(values: tuple[float, ...]) -> NDArray[np.float64]:
        scores = np.full(20, 0.5)
        if values != (1.0, 1.0):
            scores -= 0.01
            scores[FOLDS == 0] = 0.6
        return scores

    assert lucky((2.0, 1.0)).mean() > lucky((1.0, 1.0)).mean()
    found = descend(NUMBERS, lucky, lucky((1.0, 1.0)), FOLDS, np.random.default_rng(1), 50)
    assert found.values == (1.0, 1.0)
    assert found.moved == found.trials > 0


@given(
    st.lists(
        st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=10, max_size=10), min_size=1, max_size=5
    )
)
def test_the_gain_is_what_a_plain_loop_finds(rows: list[list[float]]) -> None:
    folds = [place % 3 for place in range(10)]
    total = 0.0
    for query in range(10):
        others = [place for place in range(10) if folds[place] != folds[query]]
        means = [round(sum(row[place] for place in others) / len(others), 9) for row in rows]
        total += rows[means.index(max(means))][query] - rows[0][query]
    gain = cross_validated_gain(np.array(rows), np.array(folds, np.int64))
    assert gain == pytest.approx(total / 10)
