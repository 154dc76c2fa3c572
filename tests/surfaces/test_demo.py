"""The demo's journal is sound, and the demo tells the truth about what it found."""

from __future__ import annotations

import io
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from simonides.records.kind import RECALLED, Kind
from simonides.retain.items import read_items
from simonides.surfaces.demo import demo
from simonides.surfaces.demo.demo import (
    QUESTIONS,
    Question,
    Summary,
    after_the_journal,
    read_journal,
    run_demo,
)

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.protocols import Embedder

# Measured without an embedder: 8 of 10. The two that need other words than the memory's are out of reach.
LEXICAL_FLOOR = 8
# Measured with all-MiniLM-L6-v2: 10 of 10.
HYBRID_FLOOR = 9


def printing_into(buffer: io.StringIO) -> Console:
    return Console(file=buffer, width=120, color_system=None)


def test_journal_is_accepted_as_retain_takes_it() -> None:
    drafts = read_items(read_journal(), {})
    assert 200 <= len(drafts) <= 260
    assert {draft.kind for draft in drafts} == set(RECALLED) - {Kind.OBSERVATION}


def test_journal_is_a_year_in_order_of_time() -> None:
    times = [datetime.fromisoformat(entry["event_time"]) for entry in read_journal()]
    assert times == sorted(times)
    assert times[-1] - times[0] >= timedelta(days=300)
    assert times[-1] < after_the_journal().replace(tzinfo=None)


def test_journal_repeats_no_text_and_each_can_be_read_alone() -> None:
    texts = [entry["text"] for entry in read_journal()]
    assert len(set(texts)) == len(texts)
    assert all(8 <= len(text.split()) <= 45 for text in texts)


def test_journal_holds_what_exact_recall_needs() -> None:
    everything = "\n".join(entry["text"] for entry in read_journal())
    for pattern in (
        r"E_TIDE_\d{3}",
        r"TG-\d{3}",
        r"`\w+/[\w/]+\.\w+`",
        r"\d+\.\d+\.\d+",
        r"\b(because|so that)\b",
    ):
        assert len(re.findall(pattern, everything)) >= 8, pattern


def test_ten_questions_of_four_sorts() -> None:
    assert len(QUESTIONS) == 10
    sorts = {question.needs.split(":")[0].split(" ")[0] for question in QUESTIONS}
    assert {"exact", "other", "time", "two"} <= sorts
    assert sum(question.traced for question in QUESTIONS) == 1


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_each_expected_memory_is_one_of_the_journal_that_the_question_may_see(question: Question) -> None:
    for words in question.expected:
        (entry,) = [entry for entry in read_journal() if words in entry["text"]]
        start, end = question.window or ("", "9999")
        assert start <= entry["event_time"] < end
        assert entry["event_time"] <= (question.as_of or "9999")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_no_question_gives_its_answer_away(question: Question) -> None:
    assert not any(words.lower() in question.text.lower() for words in question.expected)


def test_demo_without_an_embedder(tmp_path: Path) -> None:
    printed = io.StringIO()
    summary = run_demo(tmp_path / "store", printing_into(printed), embedder=None)
    lines = printed.getvalue().splitlines()

    assert summary.asked == 10
    assert summary.answered >= LEXICAL_FLOOR
    assert lines[-1] == f"10 questions: {summary.answered} found in the top 5, {summary.shown} of them shown"
    # What was found and taken for too unlikely is not counted as an answer.
    unread = sum("taken for too unlikely to be shown" in line for line in lines)
    assert summary.answered - summary.shown <= unread
    assert any(line.startswith("Lexical recall only") for line in lines)
    assert any(line.strip().startswith("in all") for line in lines)


def test_demo_run_twice_answers_the_same_and_stores_nothing_new(tmp_path: Path) -> None:
    def run() -> str:
        printed = io.StringIO()
        run_demo(tmp_path / "store", printing_into(printed), embedder=None)
        # The trace's milliseconds differ, and the width of their column; everything else may not.
        lines = re.sub(r"\b\d+\.\d\b", "0.0", printed.getvalue()).splitlines()
        return "\n".join(" ".join(line.split()) for line in lines)

    assert run() == run()


def test_demo_shows_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "What does error E_TIDE_413 mean?"
    answer = "E_TIDE_413 means"
    questions = (
        Question(asked, "a hit", (answer,)),
        Question(asked, "half a hit", (answer, "the moon is cheese")),
        Question(
            asked,
            "a chain that breaks at its end",
            (answer, "the moon is cheese"),
            bridge=r"Error (\w+) means",
            follow_up="Who fixed {}?",
        ),
        Question("zyzzyva", "a chain that never starts", ("zyzzyva", "no cheese"), bridge="(zyzzyva)"),
    )
    monkeypatch.setattr(demo, "QUESTIONS", questions)
    printed = io.StringIO()
    summary = run_demo(tmp_path / "store", printing_into(printed), embedder=None)

    assert summary == Summary(asked=4, answered=1, shown=1)
    assert printed.getvalue().count("✗ not in the top 5: “the moon is cheese”") == 2
    assert "   Who fixed E_TIDE_413?" in printed.getvalue()
    assert "✗ nothing to ask on with, so not found: “no cheese”" in printed.getvalue()


@pytest.mark.model
def test_demo_with_the_default_embedder(tmp_path: Path, default_embedder: Embedder) -> None:
    printed = io.StringIO()
    summary = run_demo(tmp_path / "store", printing_into(printed), embedder=default_embedder)
    assert summary.answered >= HYBRID_FLOOR, printed.getvalue()
    assert summary.shown < summary.answered or "too unlikely to be shown" not in printed.getvalue()
    assert "Lexical recall only" not in printed.getvalue()
