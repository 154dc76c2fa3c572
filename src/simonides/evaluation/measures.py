"""Measures of a ranked answer against the keys that should be in it.

=========  =========================================================================================
recall@n   fraction of the gold keys among the first n
ndcg@10    sum of 1/log2(rank + 1) over gold keys in the first 10, divided by the best possible sum
mrr        1 / rank of the first gold key, 0 when none was found
all@10     1 when every gold key is among the first 10, else 0 (so 0 with more than 10 gold keys)
=========  =========================================================================================

All but all@10 come from ``ir_measures``, the field's reference implementation. It orders a run by score
and breaks ties its own way; here the order of the hits *is* the ranking, so it is given scores made from
positions, which never tie. Needs the extra ``eval``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MEASURES = ("recall@5", "recall@10", "recall@20", "ndcg@10", "mrr", "all@10")

_ALL_CUTOFF = 10


def load_ir_measures() -> Any:
    """The ``ir_measures`` module.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        # Optional: only this file may need it, and only when something is measured.
        return importlib.import_module("ir_measures")
    except ImportError as error:
        raise MissingExtraError(
            "measuring quality needs the package ir-measures; install it with: pip install 'simonides[eval]'"
        ) from error


def measure_each(
    gold: Mapping[str, Collection[str]], run: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Every measure of every question.

    Args:
        gold: per question id, the keys that should be found; at least one each.
        run: per question id, the keys found, best first, without repeats; a question that is missing here
            found nothing.

    Returns:
        per question id of *gold*, in that order, each name of ``MEASURES`` with its value in [0, 1].

    Raises:
        InputError: a question has no gold, or a ranking repeats a key.
        MissingExtraError: ``ir_measures`` is not installed.
    """
    library = load_ir_measures()
    named = {
        "recall@5": library.R @ 5,
        "recall@10": library.R @ 10,
        "recall@20": library.R @ 20,
        "ndcg@10": library.nDCG @ 10,
        "mrr": library.RR,
    }
    names = {measure: name for name, measure in named.items()}
    _check(gold, run)
    values = {
        qid: {**dict.fromkeys(MEASURES, 0.0), "all@10": all_found(gold[qid], run.get(qid, ()), _ALL_CUTOFF)}
        for qid in gold
    }
    judgements = {qid: dict.fromkeys(keys, 1) for qid, keys in gold.items()}
    scores = {
        qid: {key: float(score) for key, score in position_scores(run[qid])} for qid in gold if run.get(qid)
    }
    for metric in library.iter_calc(list(named.values()), judgements, scores):
        values[metric.query_id][names[metric.measure]] = float(metric.value)
    return values


def all_found(gold: Collection[str], ranked: Sequence[str], cutoff: int) -> float:
    """1.0 when all *gold* keys are among the first *cutoff* of *ranked*, else 0.0."""
    return float(set(gold) <= set(ranked[:cutoff]))


def position_scores(ranked: Sequence[str]) -> list[tuple[str, int]]:
    """Each key with a score made from its position: n for the first of n, 1 for the last.

    Whole numbers up to 2^24 are exact even in the 32-bit scores of trec_eval.
    """
    return [(key, len(ranked) - position) for position, key in enumerate(ranked)]


def mean_measures(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of every measure over questions.

    Raises:
        InputError: there are no questions.
    """
    table = np.array([[values[name] for name in MEASURES] for values in each], dtype=np.float64)
    if not table.size:
        raise InputError("questions", "there is no mean over no questions; measure at least one")
    return dict(zip(MEASURES, table.mean(axis=0).tolist(), strict=True))


def _check(gold: Mapping[str, Collection[str]], run: Mapping[str, Sequence[str]]) -> None:
    for qid, keys in gold.items():
        if not keys:
            raise InputError("gold", f"question {qid} has no gold keys; leave it out of the measurement")
        ranked = run.get(qid, ())
        if len(set(ranked)) != len(ranked):
            raise InputError(
                "run", f"the ranking of question {qid} repeats a key; keep each key's best rank only"
            )
