from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simonides.errors import InputError
from simonides.profiles.loader import load_profile
from simonides.recall.refining.combining import asks_concrete_fact, asks_preference
from simonides.recall.refining.pool import UNRERANKED
from simonides.records.candidate import Candidate
from simonides.records.interval import Interval
from simonides.records.kind import Kind
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

STAGE: Any = next(
    step.stage for step in load_profile("jeffs_brain").refiners if step.name == "intent_reweight"
)
PREFERENCE, FACT = "any tips for tea?", "how many cups did I order?"
BOTH = "how many tips?"


def factor(question: str, text: str = "a plain note", **changes: Any) -> float:
    """What a score of 1 becomes."""
    view = FakeView.of([fake_memory(text, **changes)])
    pool = (Candidate(0, 1.0, "reciprocal_rank"),)
    (candidate,) = STAGE.refine(view, fake_query(question), pool, fake_tools()).pool
    score: float = candidate.score
    return score


@pytest.mark.spec("JB-10")
@pytest.mark.parametrize(
    ("question", "preference", "fact"),
    [
        ("what do I prefer?", True, False),
        ("my favourite X", True, False),
        ("what\u2019s the version of X?", False, True),
        ("when did Y happen?", False, True),
        ("Can you recommend a tea?", True, False),
        ("what should I read", True, False),
        ("Any TIPS?", True, False),
        ("how many cups are there", False, True),
        ("list all cups", False, True),
        ("what are all the cups", False, True),
        ("did I buy a cup", False, True),
        ("have I visited Norrhav", False, True),
        ("did I like the cup", False, False),
        ("she bought a cup", False, False),
        ("how many ideas were there", True, True),
        ("the cup", False, False),
        ("welke thee heb ik besteld", False, False),
        ("tipsy counter", False, False),
    ],
)
def test_what_a_question_asks_for(question: str, preference: bool, fact: bool) -> None:
    assert (asks_preference(question), asks_concrete_fact(question)) == (preference, fact)


@pytest.mark.spec("JB-10")
@pytest.mark.parametrize(
    ("expected", "text", "changes"),
    [
        (2.35, "jasmine", {"kind": Kind.PREFERENCE}),
        (2.35, "jasmine", {"kind": Kind.EPISODIC, "path": "user-preference-tea.md"}),
        (2.1, "Odalys prefers jasmine", {"kind": Kind.EPISODIC}),
        (1.0, "Odalys prefers jasmine", {}),
        (1.0, "jasmine", {"kind": Kind.EPISODIC}),
        (0.82, "a guide to tea", {}),
        (1.0, "a guide to tea", {"kind": Kind.EPISODIC}),
        (0.9, "a summary of tea", {}),
        (0.82 * 0.9, "a guide and a summary", {}),
        (0.9, "tea", {"document": "d"}),
        (0.82 * 0.9 * 0.9, "a guide and a summary", {"document": "d"}),
        (0.9, "Odalys prefers jasmine", {"kind": Kind.EPISODIC, "document": "d"}),
        (2.35 * 0.9, "a recap", {"kind": Kind.PREFERENCE}),
    ],
)
def test_questions_for_preferences(expected: float, text: str, changes: dict[str, Any]) -> None:
    assert factor(PREFERENCE, text, **changes) == pytest.approx(expected, abs=1e-9)


@pytest.mark.spec("JB-10")
@pytest.mark.parametrize(
    ("expected", "text", "changes"),
    [
        (2.2, "six cups", {"path": "notes/user-fact-cups.md"}),
        (2.2, "six cups", {"path": "milestone-cups"}),
        (2.2, "I ordered six cups", {}),
        (2.2 * 1.1, "six cups [date: 2026-03-01]", {}),
        (2.2 * 1.1, "six cups", {"tags": ("[observed on: 2026-03-01]",)}),
        (0.45, "a summary of cups", {}),
        (0.45, "in total I ordered six", {}),
        (0.45 * 0.75, "a summary of ideas", {}),
        (2.2 * 0.45, "a summary of cups", {"path": "user-fact-cups"}),
        (2.2 * 0.45, "a summary of ideas", {"path": "user-fact-cups"}),
        (0.75, "a guide to cups", {}),
        (1.0, "a guide to cups", {"kind": Kind.PREFERENCE}),
        (2.2, "I bought the guide", {}),
        (1.1, "six cups", {"occurred": Interval(0, 1)}),
        (1.0, "cup " * 51, {"occurred": Interval(0, 1)}),
        (1.0, "cup " * 400, {}),
        (0.9, "cup " * 401, {}),
    ],
)
def test_questions_for_facts(expected: float, text: str, changes: dict[str, Any]) -> None:
    assert factor(FACT, text, **changes) == pytest.approx(expected, abs=1e-9)


@pytest.mark.spec("JB-10")
def test_the_published_products() -> None:
    assert factor(FACT, "a summary of ideas") == 0.3375
    assert factor(FACT, "a summary", path="user-fact-cups") == 0.99


@pytest.mark.spec("JB-10")
def test_both_questions_multiply() -> None:
    expected = (0.82 * 0.9) * (0.45 * 0.75)
    assert factor(BOTH, "a summary of ideas") == pytest.approx(expected, abs=1e-9)


@pytest.mark.spec("JB-10")
def test_another_question_passes_unweighted() -> None:
    view, pool = FakeView.of([fake_memory("a guide")]), (Candidate(0, 1.0, "reciprocal_rank"),)
    assert STAGE.refine(view, fake_query("the guide"), pool, fake_tools()).pool == pool
    assert not view.fetched


@pytest.mark.spec("JB-10")
def test_equal_scores_keep_the_fused_order() -> None:
    view = FakeView.of([fake_memory("plain z", path="z"), fake_memory("plain a", path="a")])
    pool = tuple(Candidate(n, 0.5, "reciprocal_rank") for n in (0, 1))
    refined = STAGE.refine(view, fake_query(FACT), pool, fake_tools()).pool
    assert [each.ordinal for each in refined] == [0, 1]


def test_a_raised_memory_passes_and_the_tail_stays() -> None:
    view = FakeView.of([fake_memory("a guide"), fake_memory("I bought six"), fake_memory("I sold six")])
    pool = tuple(Candidate(n, 0.5 - n / 10, "reciprocal_rank") for n in (0, 1, 2))
    pool = (*pool[:2], replace(pool[2], signals={UNRERANKED: 1.0}))
    refined = STAGE.refine(view, fake_query(FACT), pool, fake_tools()).pool
    assert [each.ordinal for each in refined] == [1, 0, 2]
    assert refined[0].signals == {"intent_reweight": 2.2}
    assert refined[2] == pool[2]


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match=r"^generic: 0"):
        replace(STAGE, generic=0)
