"""How a tuning asks, tests and reports: judged queries, the held-out verdict, the evidence file.

Of n queries whose scores differ, the smallest two-sided p by flipping signs is 2 / 2^n, so below
n = floor(log2(2 / alpha)) + 1 no difference can be significant, however large: 6 for alpha = 0.05.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.evaluation.asking import DEPTH
from simonides.evaluation.results import measure_each
from simonides.evaluation.significance import compare_runs
from simonides.files import SHARED, write_file
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    import numpy as np

    from simonides.bank import Bank
    from simonides.evaluation.significance import Comparison
    from simonides.evaluation.tuning_file import Base, JudgedQuery
    from simonides.evaluation.tuning_search import Number, Search


# Per query, every measure.
Scores = dict[str, dict[str, float]]


@dataclass(slots=True)
class Asker:
    """Recalls through the public contract; every profile it asks with is a file, as a user would have it.

    Attributes:
        folder: for the files, emptied by whoever made it.
        place: what the queries' file is called in messages.
        degraded: what did less than asked, and why, in any recall so far.
        environment: what the environment changed about the profile.
    """

    bank: Bank
    base: Base
    numbers: Sequence[Number]
    as_of: datetime | str
    folder: Path
    place: str
    degraded: set[str] = field(default_factory=set)
    environment: set[str] = field(default_factory=set)

    def ask(self, queries: Sequence[JudgedQuery], values: tuple[float, ...]) -> Scores | None:
        """Every measure of every query, by line; ``None`` for *values* that the profile may not have."""
        path = self.folder / "candidate.toml"
        write_file(path, self.base.with_values(self.numbers, values), mode=SHARED)
        try:
            load_profile(path)
        except InputError:
            return None
        gold = {str(query.line): query.relevant for query in queries}
        return measure_each(gold, {str(query.line): self._found(query, path) for query in queries})

    def _found(self, query: JudgedQuery, profile: Path) -> tuple[str, ...]:
        arguments = {"as_of": self.as_of, "precision": "wide", **query.arguments}
        try:
            answer = self.bank.recall(query.query, profile=profile, limit=DEPTH, max_tokens=None, **arguments)
        except InputError as error:
            raise InputError(f"{self.place}, line {query.line}", str(error)) from error
        self.degraded.update(answer.trace.degraded)
        self.environment.update(answer.trace.settings)
        return tuple(dict.fromkeys(hit.id for hit in answer))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the held-out part says.

    Attributes:
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
    """Test a change by the measures of every held-out query before and after it; p must be below *alpha*."""
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


def described_bank(bank: Bank) -> dict[str, Any]:
    """What was asked: the bank, at which change, with vectors of which embedder."""
    facts = bank.stats()
    return {name: facts[name] for name in ("bank", "memories", "sequence", "embedder")}


def described_queries(
    queries: Sequence[JudgedQuery], tuning: Sequence[JudgedQuery], held_out: Sequence[JudgedQuery]
) -> dict[str, Any]:
    """How many there are, where from, and which were held out; no words and no ids, only their SHA-256."""
    content = json.dumps(
        [[query.query, query.relevant, query.arguments] for query in queries], sort_keys=True
    )
    return {
        "total": len(queries),
        "sha256": hashlib.sha256(content.encode()).hexdigest(),
        "from_feedback": sum(query.from_feedback for query in queries),
        "tuning": len(tuning),
        "held_out": len(held_out),
        "held_out_lines": [query.line for query in held_out],
    }


def described_search(search: Search, numbers: Sequence[Number]) -> dict[str, Any]:
    """What was tried, and each step that was taken."""
    return {
        "numbers": [str(number) for number in numbers],
        "trials": search.trials,
        "trials_that_changed_a_score": search.moved,
        "steps": [
            {
                "number": str(step.number),
                "before": step.before,
                "after": step.after,
                "cross_validated_gain": step.gain,
            }
            for step in search.steps
        ],
    }


def described_verdict(
    verdict: Verdict, before: Scores, after: Scores, measure: str, generator: np.random.Generator
) -> dict[str, Any]:
    """The means before and after and their difference, each with its 95 % interval."""
    return {
        "before": mean_of(before, measure, generator),
        "after": mean_of(after, measure, generator),
        "difference": verdict.to_dict(),
    }
