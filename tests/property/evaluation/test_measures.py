"""The measures against their definitions, written out plainly."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.evaluation.results import MEASURES, measure_each

KEYS = [f"k{number}" for number in range(30)]
rankings = st.lists(st.sampled_from(KEYS), unique=True, max_size=25)
golds = st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=13)
cases = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.tuples(golds, rankings), min_size=1)


def exact(gold: list[str], ranked: list[str]) -> dict[str, float]:
    ranks = [rank for rank, key in enumerate(ranked, start=1) if key in gold]

    def recall(cutoff: int) -> float:
        return sum(rank <= cutoff for rank in ranks) / len(gold)

    gain = sum(1 / log2(rank + 1) for rank in ranks if rank <= 10)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(len(gold), 10) + 1))
    return {
        "recall@5": recall(5),
        "recall@10": recall(10),
        "recall@20": recall(20),
        "ndcg@10": gain / best,
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "all@10": float(recall(10) == 1),
    }


@given(cases)
def test_every_measure_equals_its_definition(case: dict[str, tuple[list[str], list[str]]]) -> None:
    measured = measure_each(
        {qid: gold for qid, (gold, _) in case.items()}, {qid: ranked for qid, (_, ranked) in case.items()}
    )
    assert list(measured) == list(case)
    for qid, (gold, ranked) in case.items():
        assert measured[qid] == pytest.approx(exact(gold, ranked), abs=1e-9)


@given(golds, rankings)
def test_measures_lie_in_the_unit_interval_and_ignore_the_order_of_gold(
    gold: list[str], ranked: list[str]
) -> None:
    values = measure_each({"q": gold}, {"q": ranked})["q"]
    assert set(values) == set(MEASURES)
    assert all(0 <= value <= 1 for value in values.values())
    assert values == measure_each({"q": gold[::-1]}, {"q": ranked})["q"]
