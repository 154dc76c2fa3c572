"""Fits the weights of ``abstention`` to questions of which it is known whether they have an answer.

A logistic regression by Newton's method, with a small ridge on standardised signals; every kind of question
weighs the same however many it has, and so do both classes. A signal with a negative weight is left out and
the rest fitted again: more of it must never speak against an answer. Weights are scaled to sum to 1.
The threshold is the largest at which no kind of answerable question loses more than a given share, rounded to
whole questions.
Same samples, same numbers; nothing is drawn at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_RIDGE = 1e-3
_STEPS = 50


def fit_weights(
    signals: Mapping[str, NDArray[np.float64]], answerable: NDArray[np.bool_], kinds: Sequence[str]
) -> dict[str, float]:
    """Weight per signal, from 0, summing to 1, rounded to 1e-4.

    Args:
        signals: by name, float64, shape (samples,).
        answerable: bool, shape (samples,).
        kinds: per sample.

    Raises:
        InputError: no signal, samples of one class only, or no signal that speaks for an answer.
    """
    if answerable.all() or not answerable.any():
        raise InputError("answerable", "holds one class only; give questions with and without an answer")
    share = _shares(answerable, kinds)
    left = dict(signals)
    while left:
        slopes = _slopes(np.stack(list(left.values()), axis=1), answerable.astype(np.float64), share)
        worst = min(zip(slopes, left, strict=True))
        if worst[0] > 0:
            total = sum(slopes)
            fitted = {name: round(float(slope / total), 4) for name, slope in zip(left, slopes, strict=True)}
            return {name: fitted.get(name, 0.0) for name in signals}
        del left[worst[1]]
    raise InputError("signals", "none grows with the chance of an answer; give others")


def fit_threshold(
    scores: NDArray[np.float64], kinds: Sequence[str], lost: float, kept: NDArray[np.bool_]
) -> float:
    """The largest threshold, rounded down to 1e-3, below which about the share *lost* of each kind lies.

    Args:
        scores: of answerable questions, shape (samples,).
        kinds: per sample.
        lost: 0 to 1.
        kept: bool, shape (samples,): questions that are answered whatever their score.
    """
    labels = np.array(kinds)
    most = np.inf
    for kind in sorted(set(kinds)):
        mine = labels == kind
        allowed = round(lost * np.count_nonzero(mine))
        at_risk = np.sort(scores[mine & ~kept])
        if allowed < len(at_risk):
            most = min(most, float(at_risk[allowed]))
    return float(np.floor(most * 1000) / 1000)


def _shares(answerable: NDArray[np.bool_], kinds: Sequence[str]) -> NDArray[np.float64]:
    """Per sample its part of the loss: classes, and kinds within them, weigh the same."""
    labels = np.array(kinds)
    share = np.zeros(len(labels))
    for wanted in (True, False):
        of_class = sorted(set(labels[answerable == wanted].tolist()))
        for kind in of_class:
            mine = (labels == kind) & (answerable == wanted)
            share[mine] = 0.5 / len(of_class) / np.count_nonzero(mine)
    return share


def _slopes(
    rows: NDArray[np.float64], labels: NDArray[np.float64], share: NDArray[np.float64]
) -> list[float]:
    """Slopes of the logistic regression, on the signals' own scales."""
    mean = share @ rows
    deviation = np.maximum(np.sqrt(share @ (rows - mean) ** 2), 1e-9)
    design = np.column_stack([(rows - mean) / deviation, np.ones(len(rows))])
    ridge = _RIDGE * np.diag([*[1.0] * rows.shape[1], 1e-6])
    weights = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        slope = design.T @ (share * (labels - chance)) - ridge @ weights
        curvature = (design.T * (share * np.maximum(chance * (1 - chance), 1e-9))) @ design + ridge
        weights += np.clip(np.linalg.solve(curvature, slope), -5.0, 5.0)
    slopes: list[float] = (weights[:-1] / deviation).tolist()
    return slopes
