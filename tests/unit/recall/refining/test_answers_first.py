from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.recall.refining.answers_first import REPEATED, SIGNAL, AnswersFirst
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Refined
    from simonides.records.memory import Memory

pytestmark = pytest.mark.fault("N3")

STAGE = AnswersFirst(relevant_share=0.3, question_share=0.5, tool_share=0.8, most=20)
DAY = 86_400_000_000
FACT = fake_memory("the shed opens with 8821")
QUESTION = fake_memory("What does the shed open with?")
TOOL = fake_memory("shed: 8821, 4 tries", trust=0.6)
REPEAT = fake_memory("assistant: it opens with 8821", trust=0.7, speaker="assistant", ingested_at_micros=DAY)


def refine(*pairs: tuple[Memory, float], stage: AnswersFirst = STAGE, query: str = "shed") -> Refined:
    view = FakeView.of([memory for memory, _ in pairs])
    pool = tuple(Candidate(n, score, "x") for n, (_, score) in enumerate(pairs))
    return stage.refine(view, fake_query(query), pool, fake_tools())


def order(*pairs: tuple[Memory, float], **options: Any) -> list[int]:
    return [candidate.ordinal for candidate in refine(*pairs, **options).pool]


def test_a_statement_passes_questions_that_match_no_better_than_twice_as_well() -> None:
    assert order((QUESTION, 2.0), (FACT, 1.0)) == [1, 0]
    assert order((QUESTION, 2.0), (FACT, 0.99)) == [0, 1]


def test_a_statement_passes_the_output_of_tools() -> None:
    assert order((TOOL, 1.0), (FACT, 0.8)) == [1, 0]
    assert order((TOOL, 1.0), (FACT, 0.79)) == [0, 1]


def test_what_belongs_to_a_document_is_no_output_of_a_tool() -> None:
    of_a_document: tuple[dict[str, Any], ...] = ({"document": "manual"}, {"path": "notes/manual.md"})
    for filed in of_a_document:
        assert order((replace(TOOL, **filed), 1.0), (FACT, 0.9)) == [0, 1]


def test_the_users_own_words_stand_before_an_assistants_repeat() -> None:
    refined = refine((REPEAT, 2.0), (FACT, 1.5))
    assert [each.ordinal for each in refined.pool] == [1, 0]
    assert refined.pool[0].signals == {SIGNAL: 1.0, REPEATED: 1.0}


@pytest.mark.parametrize(
    "other",
    [
        replace(REPEAT, text="assistant: it opens with 8822"),  # another number
        replace(REPEAT, text="assistant: figs grow well near the coast"),  # another matter
        replace(REPEAT, ingested_at_micros=-DAY),  # said before
    ],
)
def test_an_assistants_turn_that_repeats_nothing_stays(other: Memory) -> None:
    assert order((other, 2.0), (FACT, 1.5)) == [0, 1]


def test_an_assistant_passes_questions_and_no_statement() -> None:
    assert order((QUESTION, 2.0), (REPEAT, 1.5), (fake_memory("figs"), 0.1)) == [1, 0, 2]
    assert order((FACT, 2.0), (REPEAT, 1.9)) == [0, 1]


def test_nothing_else_moves() -> None:
    rows = (QUESTION, 3.0), (TOOL, 2.9), (fake_memory("figs"), 2.8), (QUESTION, 2.7), (FACT, 2.6), (TOOL, 1.0)
    refined = refine(*rows)
    assert [each.ordinal for each in refined.pool] == [2, 4, 0, 1, 3, 5]
    assert [each.score for each in refined.pool] == [2.8, 2.6, 3.0, 2.9, 2.7, 1.0]


def test_what_was_moved_says_why() -> None:
    refined = refine((QUESTION, 3.0), (TOOL, 2.9), (QUESTION, 2.8), (FACT, 2.7))
    assert refined.notes == {3: "moved before what only asks (2), is a tool's output (1)"}
    assert refined.pool[0].signals[SIGNAL] == 3.0
    assert all(not each.signals for each in refined.pool[1:])


def test_only_the_best_statements_move() -> None:
    rows = ((QUESTION, 3.0), (FACT, 2.9), (fake_memory("figs"), 2.8))
    assert order(*rows, stage=replace(STAGE, most=1)) == [1, 0, 2]


def test_a_query_about_questions_leaves_all_where_they_are() -> None:
    assert order((QUESTION, 2.0), (FACT, 1.9), query="what did I ask about the shed") == [0, 1]
    assert order() == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"relevant_share": 1.5}, "relevant_share"),
        ({"question_share": 1.1}, "question_share"),
        ({"tool_share": -0.1}, "tool_share"),
        ({"most": 0}, "most"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(STAGE, **options)
    assert caught.value.field == field


def test_what_is_far_behind_the_best_statement_stays() -> None:
    stage = replace(STAGE, question_share=0.0)
    rows = ((FACT, 2.0), (QUESTION, 1.9), (fake_memory("figs"), 0.6), (fake_memory("ferry"), 0.59))
    assert order(*rows, stage=stage) == [0, 2, 1, 3]


def test_a_lead_that_the_graph_gave_is_no_hindrance() -> None:
    view = FakeView.of([QUESTION, FACT])
    pool = (Candidate(0, 3.0, "x", signals={"fused": 1.0}), Candidate(1, 1.0, "x", signals={"fused": 0.5}))
    refined = STAGE.refine(view, fake_query("shed"), pool, fake_tools())
    assert [each.ordinal for each in refined.pool] == [1, 0]


def test_a_statement_matches_as_well_as_its_best_repeat() -> None:
    assert order((REPEAT, 2.0), (QUESTION, 1.9), (FACT, 0.1)) == [2, 0, 1]
