"""Coordinate descent over a profile's numbers, each step chosen by cross-validation.

One number at a time, in an order drawn anew each round, a few other values are tried. With S the scores of
the value at hand (row 0) and of the values tried, queries in columns:

    gain = mean over queries q of  S[best without q's fold, q] - S[0, q]

"best without a fold" is the row of the highest mean over the other folds. A step is taken only if gain > 0,
and then to the row that is best over all queries; ties go to the value at hand. So a value that is best by
luck on a few queries does not count its own luck. Steps get smaller from round to round; the search ends when
a round of the smallest changes nothing, or with its trials.
Cost: one recall per trial and query. Source: Stone, Cross-Validatory Choice (1974).
Weakness: finds no gain that needs two numbers moved at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.evaluation.tuning_numbers import LAST_ROUND, Number, proposals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    # Scores of the queries, float64, shape (queries,); None for values that a profile may not have.
    Scorer = Callable[[tuple[float, ...]], NDArray[np.float64] | None]

# Means of equal scores in another order differ in the last bits.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Step:
    """A change that was taken.

    Attributes:
        number: what was changed.
        before, after: its values.
        gain: cross-validated, in the measure.
    """

    number: Number
    before: float
    after: float
    gain: float


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What a search found.

    Attributes:
        values: one per number.
        scores: of the queries with these values, float64, shape (queries,).
        steps: changes, in the order in which they were taken.
        trials: profiles that were measured, beside the first.
        moved: how many of them changed the score of any query.
    """

    values: tuple[float, ...]
    scores: NDArray[np.float64]
    steps: tuple[Step, ...]
    trials: int
    moved: int


@dataclass(slots=True)
class _Trials:
    """Measures each vector of values once, as long as the budget lasts."""

    score: Scorer
    left: int
    first: NDArray[np.float64]
    known: dict[tuple[float, ...], NDArray[np.float64] | None]
    measured: int = 0
    moved: int = 0

    def __call__(self, values: tuple[float, ...]) -> NDArray[np.float64] | None:
        if values in self.known:
            return self.known[values]
        if not self.left:
            return None
        scores = self.known[values] = self.score(values)
        if scores is not None:
            self.left -= 1
            self.measured += 1
            self.moved += not np.array_equal(scores, self.first)
        return scores


def descend(
    numbers: Sequence[Number],
    score: Scorer,
    first: NDArray[np.float64],
    folds: NDArray[np.int64],
    generator: np.random.Generator,
    trials: int,
) -> Search:
    """Look for better values.

    Args:
        numbers: what may change, at their values of now.
        score: measures a profile with these values.
        first: the scores of the values of now, shape (queries,).
        folds: of each query, from 0, shape (queries,).
        generator: draws the order of the numbers.
        trials: profiles to measure at most.
    """
    values = tuple(number.value for number in numbers)
    tried = _Trials(score, trials, first, {values: first})
    steps: list[Step] = []
    turn = 0
    while tried.left:
        taken = 0
        for place in generator.permutation(len(numbers)).tolist():
            step = _step(numbers[place], place, values, turn, tried, folds)
            if step is not None:
                values = _with(values, place, step.after)
                steps.append(step)
                taken += 1
        if not taken and turn >= LAST_ROUND:
            break
        turn += 1
    scores = tried(values)
    return Search(values, first if scores is None else scores, tuple(steps), tried.measured, tried.moved)


def cross_validated_gain(scores: NDArray[np.float64], folds: NDArray[np.int64]) -> float:
    """What choosing a row by the other folds gains over row 0, mean over queries.

    Args:
        scores: float64, shape (rows, queries).
        folds: int64 from 0, shape (queries,), at least two of them.
    """
    gain = 0.0
    for fold in np.unique(folds):
        outside = folds == fold
        best = _best(scores[:, ~outside])
        gain += float((scores[best, outside] - scores[0, outside]).sum())
    return gain / len(folds)


def _step(
    number: Number,
    place: int,
    values: tuple[float, ...],
    turn: int,
    tried: _Trials,
    folds: NDArray[np.int64],
) -> Step | None:
    others = [
        (other, scores)
        for other in proposals(number, values[place], turn)
        if (scores := tried(_with(values, place, other))) is not None
    ]
    now = tried(values)
    if not others or now is None:
        return None
    table = np.stack([now, *(scores for _, scores in others)])
    gain, best = cross_validated_gain(table, folds), _best(table)
    if gain <= _TOLERANCE or best == 0:
        return None
    return Step(number, values[place], others[best - 1][0], gain)


def _best(scores: NDArray[np.float64]) -> int:
    """The row of the highest mean, the first of equals."""
    return int(np.argmax(scores.mean(axis=1).round(9)))


def _with(values: tuple[float, ...], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])
