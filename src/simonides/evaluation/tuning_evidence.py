"""What a tuning writes down of its data, its search and its test, JSON-ready."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from simonides.evaluation.tuning_verdict import mean_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from simonides.bank import Bank
    from simonides.evaluation.tuning_asking import Scores
    from simonides.evaluation.tuning_numbers import Number
    from simonides.evaluation.tuning_queries import JudgedQuery
    from simonides.evaluation.tuning_search import Search
    from simonides.evaluation.tuning_verdict import Verdict


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
