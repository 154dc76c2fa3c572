"""Is the difference between two runs more than luck? Paired over questions.

Differences d_i = second_i - first_i of one measure. The p-value: signs flipped (``randomisation``). The
interval: questions drawn with replacement B times, percentiles of the means.
Cost O(B x questions): 10,000 draws of 760 questions take about 0.1 s on one core.

Source: Efron & Tibshirani 1993, "An Introduction to the Bootstrap", ch. 13; for retrieval, Smucker, Allan &
Carterette 2007. Weakness: questions about one conversation are not independent, so the true interval is
somewhat wider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.measures import MEASURES
from simonides.evaluation.randomisation import sign_flip_p

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95

_DRAWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the second run gains over the first, in one measure.

    Attributes:
        measure: the measure's name.
        questions: how many both runs answered.
        mean_difference: second minus first; above zero, the second is better.
        low, high: 95 % interval of the mean difference.
        p_value: how often luck alone would give a mean difference as large, in (0, 1].
    """

    measure: str
    questions: int
    mean_difference: float
    low: float
    high: float
    p_value: float


def compare_runs(
    first: Mapping[str, Mapping[str, float]],
    second: Mapping[str, Mapping[str, float]],
    measure: str,
    generator: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare two runs over the same questions.

    Args:
        first: per question id, each measure's value, as in ``QualityReport.scores``.
        second: the same of the other run.
        measure: one of ``MEASURES``.
        generator: seeded by the caller; the same seed gives the same answer.
        resamples: draws of the bootstrap and of the test, at least 1.

    Raises:
        UnknownNameError: there is no such measure.
        InputError: the runs answered other questions, or none; or *resamples* is below 1.
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, MEASURES)
    if resamples < 1:
        raise InputError("resamples", f"{resamples} draws show nothing; give 1 or more, such as {RESAMPLES}")
    if not first:
        raise InputError("first", "a run without questions cannot be compared; measure at least one")
    unpaired = sorted(first.keys() ^ second.keys())
    if unpaired:
        raise InputError(
            "second",
            f"{len(unpaired)} questions are in one run only, {unpaired[0]!r} for one; compare runs of the "
            "same dataset and limit",
        )
    # Sorted, because draws are by position: the order of the mappings must not change the answer.
    qids = sorted(first)
    differences = np.array([second[qid][measure] - first[qid][measure] for qid in qids], dtype=np.float64)
    mean = float(differences.mean())
    means = _bootstrap_means(differences, resamples, generator)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, (tail, 1 - tail)).tolist()
    p_value = sign_flip_p(differences, generator, resamples)
    return Comparison(measure, len(qids), mean, low, high, p_value)


def _bootstrap_means(
    values: NDArray[np.float64], resamples: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Means of draws with replacement, float64, shape (resamples,)."""
    means = np.empty(resamples, np.float64)
    # In blocks, so that memory stays small whatever the number of draws.
    for start in range(0, resamples, _DRAWS_AT_ONCE):
        block = means[start : start + _DRAWS_AT_ONCE]
        drawn = generator.integers(len(values), size=(len(block), len(values)))
        block[:] = values[drawn].mean(axis=1)
    return means
