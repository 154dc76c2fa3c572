from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError, UnavailableError
from simonides.evaluation.results import MEASURES, QualityReport, QuestionResult, measure_each

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = (
    QuestionResult("q1", "2", True, ("a",), ("a", "b"), 0.9),
    QuestionResult("q2", "1", True, ("a", "b"), ("c", "a"), 0.8),
    QuestionResult("q3", "1", True, ("a",), (), None, no_match=True),
    QuestionResult("q4", "5", False, (), ("b",), 0.5),
    QuestionResult("q5", "5", False, (), ("c",), 0.25),
    QuestionResult("q6", "5", False, (), (), None, no_match=True),
)


def report(results: tuple[QuestionResult, ...] = RESULTS) -> QualityReport:
    answerable = [result for result in results if result.answerable]
    return QualityReport(
        dataset="invented",
        profile="lexical",
        window=2,
        embedder=None,
        version="1.2.3",
        results=results,
        scores=measure_each(
            {result.qid: result.gold for result in answerable},
            {result.qid: result.ranked for result in answerable},
        ),
        ignored_evidence=3,
        unscored_questions=2,
        seconds=1.23456,
    )


def test_the_summary_holds_means_in_all_and_per_category() -> None:
    summary = report().to_dict()
    # q1: all right. q2: one of two, at rank 2; ndcg (1/log2(3)) / (1 + 1/log2(3)) = 0.386853. q3: nothing.
    assert summary["questions"] == 3
    assert summary["metrics"] == {
        "recall@5": 0.5,
        "recall@10": 0.5,
        "recall@20": 0.5,
        "ndcg@10": 0.462284,
        "mrr": 0.5,
        "all@10": 0.333333,
    }
    assert summary["by_category"] == {
        "1": {
            "questions": 2,
            "recall@5": 0.25,
            "recall@10": 0.25,
            "recall@20": 0.25,
            "ndcg@10": 0.193426,
            "mrr": 0.25,
            "all@10": 0.0,
        },
        "2": {"questions": 1, **dict.fromkeys(MEASURES, 1.0)},
    }


def test_unanswerable_questions_are_reported_apart() -> None:
    assert report().to_dict()["unanswerable"] == {"questions": 3, "no_match": 1, "mean_top_score": 0.375}
    assert report(RESULTS[:3]).to_dict()["unanswerable"] == {
        "questions": 0,
        "no_match": 0,
        "mean_top_score": None,
    }


def test_the_summary_is_json_and_says_what_was_measured() -> None:
    summary = json.loads(json.dumps(report().to_dict(), allow_nan=False))
    names = ("dataset", "profile", "window", "embedder", "version", "seconds")
    told = {name: summary[name] for name in names}
    assert told == {
        "dataset": "invented",
        "profile": "lexical",
        "window": 2,
        "embedder": None,
        "version": "1.2.3",
        "seconds": 1.235,
    }
    assert (summary["ignored_evidence"], summary["unscored_questions"]) == (3, 2)


def test_the_metrics_of_a_category_that_nobody_asked_are_refused() -> None:
    with pytest.raises(InputError, match="no questions"):
        report().metrics("9")


def test_a_run_file_has_one_line_per_hit_of_answerable_questions(tmp_path: Path) -> None:
    file = tmp_path / "out.run"
    report().write_run(file)
    assert file.read_text(encoding="utf-8").splitlines() == [
        "q1 Q0 a 1 2 simonides",
        "q1 Q0 b 2 1 simonides",
        "q2 Q0 c 1 2 simonides",
        "q2 Q0 a 2 1 simonides",
    ]


def test_a_run_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be written"):
        report().write_run(tmp_path / "missing" / "out.run")
