"""Whether a tuned profile is better on queries that had no say in it.

Of n queries whose scores differ, the smallest two-sided p by flipping signs is 2 / 2^n, so below
n = floor(log2(2 / alpha)) + 1 no difference can be significant, however large: 6 for alpha = 0.05.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.evaluation.significance import compare_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from simonides.evaluation.significance import Comparison
    from simonides.evaluation.tuning_asking import Scores


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the held-out part says.

    Attributes:
        comparison: the tuned profile against the one it came from.
        differing: queries whose scores differ.
        reason: why the change is refused; empty when it is not.
    """

    comparison: Comparison
    differing: int
    reason: str

    def to_dict(self) -> dict[str, float]:
        """A JSON-ready description."""
        found = self.comparison
        return {
            "mean": found.mean_difference,
            "low": found.low,
            "high": found.high,
            "p": found.p_value,
            "differing": self.differing,
        }


def least_differing(alpha: float) -> int:
    """How many queries must differ before any difference can have p < *alpha*."""
    return math.floor(math.log2(2 / alpha)) + 1


def judge_held_out(
    before: Scores, after: Scores, measure: str, alpha: float, generator: np.random.Generator
) -> Verdict:
    """Test a change.

    Args:
        before: every measure of every held-out query, with the profile as it was.
        after: the same with the profile as it became.
        measure: that counts.
        alpha: p must be below it.
        generator: seeded by the caller.
    """
    found = compare_runs(before, after, measure, generator)
    differing = sum(before[qid][measure] != after[qid][measure] for qid in before)
    told = f"on the {found.questions} held-out queries {measure} changed by {found.mean_difference:+.4f}"
    least = least_differing(alpha)
    if found.mean_difference > 0 and found.p_value < alpha:
        return Verdict(found, differing, "")
    if found.mean_difference <= 0:
        return Verdict(found, differing, f"{told}: what helped the tuning queries does not help others")
    reason = f"{told} (p = {found.p_value:.2g}), which luck explains as well; p < {alpha:g} is asked for"
    if differing < least:
        reason += f", and only {differing} queries changed: at least {least} must, so judge more queries"
    return Verdict(found, differing, reason)


def mean_of(scores: Scores, measure: str, generator: np.random.Generator) -> Mapping[str, float]:
    """The mean of a measure with its 95 % bootstrap interval."""
    nothing = {qid: dict.fromkeys(values, 0.0) for qid, values in scores.items()}
    found = compare_runs(nothing, scores, measure, generator)
    return {"mean": found.mean_difference, "low": found.low, "high": found.high}
