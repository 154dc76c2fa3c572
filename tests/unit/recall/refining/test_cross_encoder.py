from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from simonides.errors import InputError, ModelError
from simonides.protocols import Refined
from simonides.recall.refining.pool import UNRERANKED
from simonides.recall.refining.rerankers import CrossEncoder, relevances
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.protocols import Reranker

ENCODER = CrossEncoder(depth=10)


@dataclass(frozen=True, slots=True)
class Table:
    """A reranker that looks scores up by text, and notes what it was asked."""

    scores: dict[str, float]
    gives: Literal["logits", "probabilities", "unknown"] = "logits"
    name: str = "table"
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((query, tuple(texts)))
        return [self.scores[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Broken:
    """A reranker that raises, or gives what it is told to."""

    answer: Any
    gives: Literal["logits", "probabilities", "unknown"] = "logits"
    name: str = "broken"

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if isinstance(self.answer, Exception):
            raise self.answer
        given: Sequence[float] = self.answer
        return given


def pool_of(texts: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(n, 1 / (61 + n), "reciprocal_rank") for n, _ in enumerate(texts))


def refine(reranker: Reranker | None, texts: str = "abc", stage: CrossEncoder = ENCODER) -> Refined:
    view = FakeView.of([fake_memory(text) for text in texts])
    tools = replace(fake_tools(), reranker=reranker)
    return stage.refine(view, fake_query("q"), pool_of(texts), tools)


def order(refined: Refined) -> list[int]:
    return [candidate.ordinal for candidate in refined.pool]


@pytest.mark.spec("HI-05")
def test_logits_become_probabilities_and_the_order() -> None:
    table = Table({"a": -2.0, "b": 3.0, "c": 0.0})
    refined = refine(table)
    assert order(refined) == [1, 2, 0]
    assert [candidate.score for candidate in refined.pool] == pytest.approx(
        [1 / (1 + math.exp(-3)), 0.5, 1 / (1 + math.exp(2))], abs=1e-9
    )
    assert {candidate.scored_by for candidate in refined.pool} == {"cross_encoder"}
    assert all(candidate.signals["cross_encoder"] == candidate.score for candidate in refined.pool)
    assert table.asked == [("q", ("a", "b", "c"))]
    assert refined.reason == ""


@pytest.mark.spec("HI-05")
@pytest.mark.parametrize(
    ("raw", "gives", "expected"),
    [
        ([0.0, 1.0], "logits", [0.5, 0.731058579]),
        ([0.2, 1.0], "probabilities", [0.2, 1.0]),
        ([-0.5, 1.5], "probabilities", [0.0, 1.0]),
        ([0.0, 1.0], "unknown", [0.0, 1.0]),
        ([0.0, 1.000001], "unknown", [0.5, 0.731058775]),
        ([-0.1, 0.5], "unknown", [0.475020813, 0.622459331]),
        ([math.nan, 0.3], "unknown", [0.0, 0.3]),
        ([math.nan, 2.0], "logits", [0.0, 0.880797078]),
        ([1e9, -1e9], "logits", [1.0, 0.0]),
        ([math.inf, -math.inf], "logits", [1.0, 0.0]),
        ([], "unknown", []),
    ],
)
def test_every_scale_ends_between_0_and_1(raw: list[float], gives: str, expected: list[float]) -> None:
    assert relevances(np.array(raw, np.float64), gives).tolist() == pytest.approx(expected, abs=2e-9)


def test_a_score_that_is_no_number_counts_as_nothing_and_is_reported() -> None:
    refined = refine(Table({"a": math.nan, "b": -9.0, "c": math.nan}))
    assert order(refined) == [1, 0, 2]
    assert refined.reason == "the reranker gave no number for 2 of 3 texts, which count as 0"


@pytest.mark.parametrize(
    ("reranker", "reason"),
    [
        (None, "no reranker; the fused order stands"),
        (Broken(ModelError("down")), "the reranker failed: ModelError: down; the fused order stands"),
        (Broken(TimeoutError("slow")), "the reranker failed: TimeoutError: slow; the fused order stands"),
        (Broken([1.0]), "the reranker gave scores of shape (1,) for 3 texts; the fused order stands"),
        (
            Broken([[1.0, 2.0, 3.0]]),
            "the reranker gave scores of shape (1, 3) for 3 texts; the fused order stands",
        ),
        (Broken(["x", "y", "z"]), "the reranker failed: ValueError: "),
    ],
)
def test_without_an_answer_the_fused_order_stands(reranker: Reranker | None, reason: str) -> None:
    refined = refine(reranker)
    assert refined.pool == pool_of("abc")
    assert refined.reason.startswith(reason)


def test_the_tail_follows_unchanged_and_marked() -> None:
    table = Table({"a": 0.0, "b": 1.0, "c": 9.0, "d": 9.0})
    refined = refine(table, "abcd", CrossEncoder(depth=2))
    assert order(refined) == [1, 0, 2, 3]
    assert [UNRERANKED in candidate.signals for candidate in refined.pool] == [False, False, True, True]
    assert [candidate.score for candidate in refined.pool[2:]] == [1 / 63, 1 / 64]
    assert table.asked == [("q", ("a", "b"))]


def test_equal_scores_go_by_id() -> None:
    assert order(refine(Table({"c": 1.0, "b": 1.0, "a": 1.0}), "cba")) == [2, 1, 0]


def test_an_empty_pool_asks_nobody() -> None:
    assert refine(Broken(ModelError("down")), "") == Refined(())


def test_a_stand_in_and_the_cost_are_named() -> None:
    stage = CrossEncoder(depth=10, designed_for="real", cpu_ms_per_pair=500.0, warned_above=2)
    table = Table({"a": 0.0, "b": 0.0, "c": 0.0})
    assert refine(table, "abc", stage).reason == (
        "table stands in for real; 3 pairs were read, which takes about 1.5 s on a CPU"
    )
    assert refine(replace(table, name="real"), "ab", stage).reason == ""


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"depth": 0}, "depth"),
        ({"depth": 31, "most_on_cpu": 30}, "depth"),
        ({"depth": 1, "cpu_ms_per_pair": 0.0, "warned_above": 1}, "cpu_ms_per_pair"),
        ({"depth": 1, "warned_above": 1}, "warned_above"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        CrossEncoder(**options)
    assert caught.value.field == field
