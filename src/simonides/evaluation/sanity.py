"""Rows that a table of results needs to be believed.

random      the corpus in an order drawn by a seed: what no system may fall below
bm25        the profile ``lexical``: words alone
oracle@100  the profile's own first 100 with the gold first: what a perfect reordering would reach
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.evaluation.asking import DEPTH
from simonides.evaluation.report import QuestionResult
from simonides.evaluation.results_file import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.evaluation.asking import Progress
    from simonides.evaluation.dataset import Dataset
    from simonides.evaluation.kept_banks import KeptBanks

POOL = 100


def sanity_rows(
    banks: KeptBanks, dataset: Dataset, profile: str, seed: int, progress: Progress | None = None
) -> tuple[Measured, ...]:
    """The three rows, in the order of the table above."""
    return (
        Measured("random", random_order(dataset, seed)),
        Measured("bm25", banks.ask("lexical", dataset=dataset, progress=progress)),
        Measured(
            f"oracle@{POOL}", oracle(banks.ask(profile, dataset=dataset, depth=POOL, progress=progress))
        ),
    )


def random_order(dataset: Dataset, seed: int) -> tuple[QuestionResult, ...]:
    """Each question answered by keys of its corpus drawn without repeats, to the usual depth."""
    results = []
    for corpus, questions in dataset.corpora:
        keys = list(dict.fromkeys(item.key for item in corpus.items))
        for question in questions:
            source = random.Random(f"{seed} {question.qid}")  # noqa: S311 not for secrets
            drawn = tuple(source.sample(keys, min(DEPTH, len(keys))))
            results.append(
                QuestionResult(question.qid, question.category, question.answerable, question.gold, drawn)
            )
    return tuple(results)


def oracle(results: Iterable[QuestionResult]) -> tuple[QuestionResult, ...]:
    """The same hits, gold ones first, either part in its order."""
    return tuple(
        replace(result, ranked=tuple(sorted(result.ranked, key=lambda key: key not in result.gold)))
        for result in results
    )
