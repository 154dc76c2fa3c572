"""Systems beside a first one: what each measure gains or loses, how sure that is, overall and by category.

p-values are adjusted by Holm over all systems and measures of the overall table, and once more over all of
the table by category. Runs are paired by question.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError
from simonides.evaluation.results import mean_measures, one_set_of_questions
from simonides.evaluation.significance import RESAMPLES, compare_runs, holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.evaluation.results import Measured

REPORTED = ("recall@5", "recall@10", "ndcg@10", "all@10")
ALPHA = 0.05


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
        kept = [_only(each, categories.get(category)) for each in scores]
        return [
            _line(measured[0].system, other.system, category, measure, kept[0], theirs, seed, resamples)
            for other, theirs in zip(measured[1:], kept[1:], strict=True)
            for measure in measures
        ]

    apart = [line for category in sorted(categories) for line in lines(category)]
    return Compared(_adjusted(lines("")), _adjusted(apart) if len(categories) > 1 else ())


def _only(
    scores: Mapping[str, Mapping[str, float]], qids: set[str] | None
) -> Mapping[str, Mapping[str, float]]:
    return {qid: values for qid, values in scores.items() if qids is None or qid in qids}


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
