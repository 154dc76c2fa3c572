from __future__ import annotations

from bench.ablation import oracle, random_order

from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.evaluation.results import QuestionResult

ITEMS = tuple(Item(f"k{n}", f"text {n}") for n in range(40))
QUESTIONS = (Question("q1", "one", ("k1",), "1"), Question("q2", "two", ("k2",), "1"))
DATASET = Dataset("invented", ((Corpus("c", ITEMS), QUESTIONS),))


def test_a_random_order_repeats_nothing_and_follows_the_seed() -> None:
    first, second = random_order(DATASET, 1)
    assert len(set(first.ranked)) == len(first.ranked) == 20
    assert first.ranked != second.ranked
    assert random_order(DATASET, 1) == (first, second)
    assert random_order(DATASET, 2) != (first, second)


def test_the_oracle_puts_gold_first_and_adds_none() -> None:
    found = QuestionResult("q", "1", True, ("b", "d", "missing"), ("a", "b", "c", "d"))
    assert oracle([found])[0].ranked == ("b", "d", "a", "c")
