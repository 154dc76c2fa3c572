from __future__ import annotations

import pytest

from simonides.errors import InputError
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question


def answerable(qid: str) -> Question:
    return Question(qid, f"text of {qid}", ("k",), "1")


def unanswerable(qid: str) -> Question:
    return Question(qid, f"text of {qid}", (), "5", answerable=False)


HARBOUR = Corpus("harbour", (Item("k", "The ferry leaves at nine."),))
ORCHARD = Corpus("orchard", (Item("k", "The pears are ripe."),))
DATASET = Dataset(
    "invented",
    (
        (HARBOUR, (answerable("h1"), unanswerable("h2"), answerable("h3"), unanswerable("h4"))),
        (ORCHARD, (unanswerable("o1"), answerable("o2"))),
    ),
    ignored_evidence=3,
    unscored_questions=2,
)


def names(dataset: Dataset) -> list[str]:
    return [question.qid for question in dataset.questions]


def test_questions_come_in_order_over_all_corpora() -> None:
    assert names(DATASET) == ["h1", "h2", "h3", "h4", "o1", "o2"]


@pytest.mark.parametrize(
    ("limit", "expected", "corpora"),
    [
        (1, ["h1"], 1),
        (2, ["h1", "h2", "h3"], 1),
        (3, ["h1", "h2", "h3", "h4", "o1", "o2"], 2),
        (1_000_000_000, ["h1", "h2", "h3", "h4", "o1", "o2"], 2),
        (None, ["h1", "h2", "h3", "h4", "o1", "o2"], 2),
    ],
)
def test_a_limit_counts_answerable_questions_and_drops_corpora_that_nobody_asks(
    limit: int | None, expected: list[str], corpora: int
) -> None:
    cut = DATASET.first(limit)
    assert names(cut) == expected
    assert len(cut.corpora) == corpora
    assert (cut.ignored_evidence, cut.unscored_questions) == (3, 2)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(InputError, match=f"limit: {limit} questions"):
        DATASET.first(limit)


@pytest.mark.parametrize("key", ["", "D1 :1", "a\tb", "a\u00a0b"])
def test_names_that_would_break_a_run_file_are_refused(key: str) -> None:
    with pytest.raises(InputError, match="no white space"):
        Item(key, "text")
    with pytest.raises(InputError, match="no white space"):
        Question(key, "text", ("k",), "1")


def test_gold_and_answerable_must_agree() -> None:
    with pytest.raises(InputError, match="question q1 has 0 gold keys"):
        Question("q1", "text", (), "1")
    with pytest.raises(InputError, match="question q1 has 1 gold keys"):
        Question("q1", "text", ("k",), "5", answerable=False)
