"""Systems beside a first one: what each measure gains or loses, how sure that is, overall and by category.

Runs are paired by question; differences are d_i = second_i - first_i of one measure.

p-value: were two systems alike, each question's difference could as well have the other sign. It is
two-sided, the share of all sign patterns whose |mean| reaches the one seen. Questions that do not differ
change no mean and are left out; all 2^n patterns are counted up to n = 16 differing questions, beyond that
patterns are drawn: p = (1 + #{reached}) / (draws + 1). Source: Fisher 1935, "The Design of Experiments", §21;
for retrieval, Smucker, Allan & Carterette 2007.

Interval: questions drawn with replacement B times, percentiles of the means. Cost O(B x questions): 10,000
draws of 760 questions take about 0.1 s on one core. Source: Efron & Tibshirani 1993, "An Introduction to the
Bootstrap", ch. 13.

Adjustment, over all systems and measures of the overall table, and once more over all of the table by
category: the i-th smallest of n p-values becomes p · (n − i + 1), never below the one before it and at most
1. Rejecting below 0.05 errs with any rejection at most 5 % of the time, however the tests depend. Source:
Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".

Weakness: questions about one conversation are not independent, so the true p-value is somewhat larger, and
the true interval somewhat wider.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.results import MEASURES, mean_measures, one_set_of_questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.evaluation.results import Measured

REPORTED = ("recall@5", "recall@10", "ndcg@10", "all@10")
ALPHA = 0.05
RESAMPLES = 10_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of a comparison.

    Attributes:
        category: of the questions; empty = all.
        first_mean, second_mean: of the measure, in [0, 1].
        difference: second minus first.
        low, high: 95 % interval of the difference.
        p_value: two-sided, by flipping signs.
        p_holm: adjusted; in (0, 1].
    """

    first: str
    second: str
    category: str
    measure: str
    questions: int
    first_mean: float
    second_mean: float
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float

    @property
    def significant(self) -> bool:
        """Whether luck alone is refused at 5 %, all comparisons counted."""
        return self.p_holm < ALPHA

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description, numbers rounded to 6 places."""
        given = {
            key: round(value, 6) if isinstance(value, float) else value for key, value in asdict(self).items()
        }
        return {**given, "significant": self.significant}


@dataclass(frozen=True, slots=True)
class Compared:
    """All lines, those over all questions and those by category."""

    overall: tuple[Difference, ...]
    by_category: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "test": "paired randomisation, two-sided",
            "adjusted": "Holm",
            "interval": "paired bootstrap, 95 %",
            "overall": [line.to_dict() for line in self.overall],
            "by_category": [line.to_dict() for line in self.by_category],
        }


def compare_systems(
    measured: Sequence[Measured],
    *,
    seed: int = 0,
    measures: Sequence[str] = REPORTED,
    resamples: int = RESAMPLES,
) -> Compared:
    """Compare every system with the first.

    Args:
        measured: at least two, judged alike.
        seed: of the draws; each line draws afresh, so that it does not depend on the others.
        measures: names of ``MEASURES``.
        resamples: draws of the bootstrap and the test, from 1.

    Raises:
        InputError: fewer than two systems, or they were not asked the same questions.
    """
    if len(measured) < 2:
        raise InputError("compare", "takes two runs or more; name another")
    one_set_of_questions(measured)
    scores = [each.scores() for each in measured]
    categories: dict[str, set[str]] = {}
    for result in measured[0].results:
        if result.answerable and result.category:
            categories.setdefault(result.category, set()).add(result.qid)

    def lines(category: str) -> list[Difference]:
        of = categories.get(category)
        kept = [{qid: each[qid] for qid in each if of is None or qid in of} for each in scores]
        return [
            _line(measured[0].system, other.system, category, measure, kept[0], theirs, seed, resamples)
            for other, theirs in zip(measured[1:], kept[1:], strict=True)
            for measure in measures
        ]

    apart = [line for category in sorted(categories) for line in lines(category)]
    return Compared(_adjusted(lines("")), _adjusted(apart) if len(categories) > 1 else ())


def _line(
    first: str,
    second: str,
    category: str,
    measure: str,
    ours: Mapping[str, Mapping[str, float]],
    theirs: Mapping[str, Mapping[str, float]],
    seed: int,
    resamples: int,
) -> Difference:
    found = compare_runs(ours, theirs, measure, np.random.default_rng(seed), resamples=resamples)
    return Difference(
        first,
        second,
        category,
        measure,
        found.questions,
        mean_measures(ours.values())[measure],
        mean_measures(theirs.values())[measure],
        found.mean_difference,
        found.low,
        found.high,
        found.p_value,
        found.p_value,
    )


def _adjusted(lines: Sequence[Difference]) -> tuple[Difference, ...]:
    adjusted = holm([line.p_value for line in lines])
    return tuple(replace(line, p_holm=p) for line, p in zip(lines, adjusted, strict=True))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given, each at least its original and at most 1."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for passed, place in enumerate(sorted(range(len(p_values)), key=lambda place: (p_values[place], place))):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - passed)))
        adjusted[place] = largest
    return adjusted


MOST_EXACT = 16
"""Differing questions up to which every pattern is counted."""

# Sums of the same numbers in another order differ in the last bits; they count as equal.
_TOLERANCE = 1e-9
_DRAWS_AT_ONCE = 500


def sign_flip_p(differences: NDArray[np.float64], generator: np.random.Generator, draws: int) -> float:
    """The two-sided p-value of a mean difference, in (0, 1]; 1 when nothing differs.

    *generator* and *draws* are for sign patterns that are too many to count.
    """
    # Sorted, so that the order of the questions changes nothing.
    sizes = np.sort(np.abs(differences[differences != 0]))
    seen = abs(float(differences.sum())) - _TOLERANCE
    if not len(sizes):
        return 1.0
    if len(sizes) <= MOST_EXACT:
        sums = np.zeros(1, np.float64)
        for size in sizes:
            sums = np.concatenate((sums - size, sums + size))
        return float(np.count_nonzero(np.abs(sums) >= seen)) / len(sums)
    reached = 0
    for start in range(0, draws, _DRAWS_AT_ONCE):
        rows = min(_DRAWS_AT_ONCE, draws - start)
        signs = generator.integers(2, size=(rows, len(sizes)), dtype=np.int8) * 2 - 1
        reached += int(np.count_nonzero(np.abs(signs @ sizes) >= seen))
    return (1 + reached) / (draws + 1)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the second run gains over the first, in one measure.

    Attributes:
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
