from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.recall.understanding.question import SearchBudget
from simonides.testing.fakes import FakeView, fake_query, fake_tools

BUDGET = SearchBudget(
    level="mid",
    function="fixed",
    fixed={"low": 100, "mid": 300, "high": 1000},
    ratios={"low": 0.025, "mid": 0.075, "high": 0.25},
    least=20,
    most=2000,
)


def depth(stage: SearchBudget = BUDGET, /, **query: Any) -> int | None:
    return stage.understand(FakeView.of([]), fake_query("q", **query), fake_tools()).depth


def test_the_profile_decides_where_the_call_does_not() -> None:
    assert depth() == 300
    assert depth(replace(BUDGET, level="low")) == 100
    assert depth(replace(BUDGET, level="low"), budget="high") == 1000
    assert depth(replace(BUDGET, function="adaptive"), max_tokens=8000) == 600
    assert depth(replace(BUDGET, function="adaptive"), max_tokens=8000, budget_function="fixed") == 300


@pytest.mark.parametrize("max_tokens", [0, 1, 4096, None])
def test_a_fixed_budget_ignores_tokens(max_tokens: int | None) -> None:
    assert depth(max_tokens=max_tokens) == 300


@pytest.mark.parametrize(
    ("max_tokens", "level", "expected"),
    [
        (4096, "mid", 307),
        (4102, "mid", 307),  # 307.65 memories are 307
        (512, "low", 20),
        (8192, "high", 2000),
        (400, "mid", 30),
        (80, "high", 20),
        (84, "high", 21),
        (8000, "high", 2000),
        (7996, "high", 1999),
        (0, "high", 20),
        (None, "low", 2000),
    ],
)
def test_an_adaptive_budget_follows_tokens_within_its_bounds(
    max_tokens: int | None, level: str, expected: int
) -> None:
    assert depth(max_tokens=max_tokens, budget=level, budget_function="adaptive") == expected


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"budget": "middle"}, "budget"), ({"budget_function": "adaptiv"}, "budget_function")],
)
def test_an_unknown_level_or_function_is_refused(changes: dict[str, str], field: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        depth(**changes)
    assert caught.value.field == field
    assert "did you mean" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "field", "told"),
    [
        (
            {"fixed": {"low": 1, "mid": 2}},
            "fixed",
            "has low, mid; give a number each for low, mid and high",
        ),
        ({"fixed": {}}, "fixed", "has nothing; give a number each for low, mid and high"),
        (
            {"fixed": {"low": 1, "mid": 2, "high": 0}},
            "fixed.high",
            "0 is below 1; give how many memories to look at",
        ),
        (
            {"ratios": {"low": 1.0, "mid": 2.0, "top": 3.0}},
            "ratios",
            "has low, mid, top; give a number each for low, mid and high",
        ),
        (
            {"ratios": {"low": 0.0, "mid": 2.0, "high": 3.0}},
            "ratios.low",
            "0.0 is not a number above 0; mid is usually 0.075",
        ),
        (
            {"ratios": {"low": 1.0, "mid": 2.0, "high": math.inf}},
            "ratios.high",
            "inf is not a number above 0; mid is usually 0.075",
        ),
        ({"least": 0}, "least", "0 is not between 1 and most, which is 2000"),
        ({"least": 2001}, "least", "2001 is not between 1 and most, which is 2000"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(BUDGET, **changes)
    assert caught.value.field == field
    assert told in str(caught.value)


def test_the_smallest_options_are_allowed() -> None:
    least = replace(BUDGET, fixed=dict.fromkeys(BUDGET.fixed, 1), least=1, most=1)
    assert depth(least) == depth(least, budget_function="adaptive", max_tokens=10**6) == 1
