"""The checks for plug-ins pass for what is built in, and each finds the fault it is there for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.protocols import Packed, Refined
from simonides.recall.channels.lexical import Lexical
from simonides.recall.channels.vectors import Dense
from simonides.recall.fusion import Interleave, ReciprocalRank, ScoreSum
from simonides.recall.packing.cited_context import CitedContext
from simonides.recall.packing.outside_in import OutsideIn
from simonides.recall.packing.packers import TokenBudget
from simonides.recall.refining.diversity import MarginalRelevance
from simonides.recall.refining.rerankers import LateInteraction, SyntheticScores
from simonides.recall.understanding.question import AnalysedTerms, Intent, QueryEmbedding
from simonides.records.candidate import Ranking
from simonides.testing.conformance import (
    check_channel,
    check_fuser,
    check_packer,
    check_refiner,
    check_understander,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

LEXICAL = Lexical(depth=4, k1=1.2, b=0.75, fields={"text": 1.0})


@pytest.mark.parametrize("stage", [AnalysedTerms(), QueryEmbedding()], ids=["terms", "embedding"])
def test_understanders(stage: AnalysedTerms) -> None:
    check_understander(stage)


@pytest.mark.parametrize("stage", [Dense(depth=4, rescore=10), LEXICAL], ids=["dense", "lexical"])
def test_channels(stage: Dense) -> None:
    check_channel(stage)


@pytest.mark.parametrize(
    "stage", [ReciprocalRank(k=60), ScoreSum(), Interleave()], ids=["ranks", "scores", "turns"]
)
def test_fusers(stage: ReciprocalRank) -> None:
    check_fuser(stage)


@pytest.mark.parametrize(
    "stage",
    [
        SyntheticScores(highest=1.0, lowest=0.1),
        MarginalRelevance(relevance_weight=0.5, most=3),
        LateInteraction(depth=3, kept=1.0, weight=1.0),
    ],
    ids=["synthetic", "marginal", "late"],
)
def test_refiners(stage: SyntheticScores) -> None:
    check_refiner(stage)


@pytest.mark.parametrize(
    "stage",
    [TokenBudget("rendered", ()), OutsideIn(3, "rendered", ()), CitedContext()],
    ids=["budget", "outside_in", "cited"],
)
def test_packers(stage: TokenBudget) -> None:
    check_packer(stage)


def everything(view: View) -> Ranking:
    rows = np.arange(view.snapshot.rows)
    return view.ranking(rows, np.ones(len(rows)), None)


@dataclass(frozen=True)
class Careless:
    """Does every shape's work wrongly."""

    fault: str

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        good = LEXICAL.search(view, query, tools)
        match self.fault:
            case "ineligible":
                return everything(view)
            case "order":
                return Ranking(good.ordinals[::-1], good.scores[::-1])
            case "twice":
                return Ranking(np.repeat(good.ordinals, 2), np.repeat(good.scores, 2))
            case "unrounded":
                return Ranking(good.ordinals, good.scores + 1e-12)
            case "leak":
                return Ranking(good.ordinals, (good.scores / view.snapshot.rows).round(9))
            case _:
                return Ranking(good.ordinals, good.scores + round(tools.random.random(), 9) * np.nan)

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:
        pool = Interleave().fuse(view, query, rankings)
        if self.fault == "lost":
            return pool[:-1]
        return tuple(replace(each, ranks=dict.fromkeys(each.ranks, 9)) for each in pool)

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        if self.fault == "leak":
            return Refined(tuple(replace(each, score=each.score * view.snapshot.rows) for each in pool))
        return Refined((*pool, *pool))

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed:
        good = TokenBudget("rendered", ()).pack(view, replace(query, max_tokens=None), pool, tools)
        hidden = [row for row in range(view.snapshot.rows) if not view.visible[row]]
        if self.fault == "hidden":
            within = TokenBudget("rendered", ()).pack(view, query, pool, tools)
            return replace(within, context=" ".join(view.stored[row].text for row in hidden))  # type: ignore[attr-defined]
        if self.fault == "count":
            within = TokenBudget("rendered", ()).pack(view, query, pool, tools)
            return replace(within, context="x" * len(hidden))
        return good if self.fault == "budget" else Packed(good.hits[::-1], "", ())

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        if self.fault == "words":
            return replace(query, text="other words")
        return replace(Intent({}).understand(view, query, tools), notes=(str(tools.random.random()),))


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("ineligible", "not eligible|does not see"),
        ("order", "total order"),
        ("twice", "stands twice"),
        ("unrounded", "rounded"),
        ("leak", "does not see"),
        ("nan", "no number"),
    ],
)
def test_a_faulty_channel_is_found(fault: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_channel(Careless(fault))


@pytest.mark.parametrize(("fault", "problem"), [("lost", "is missing"), ("ranks", "lost its rank")])
def test_a_faulty_fuser_is_found(fault: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_fuser(Careless(fault))


@pytest.mark.parametrize(("fault", "problem"), [("leak", "does not see"), ("twice", "stands twice")])
def test_a_faulty_refiner_is_found(fault: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_refiner(Careless(fault))


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("budget", "above"),
        ("ranks", "ranks are"),
        ("hidden", "does not see is printed"),
        ("count", "changed what is packed"),
    ],
)
def test_a_faulty_packer_is_found(fault: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_packer(Careless(fault))


def test_a_faulty_understander_is_found() -> None:
    with pytest.raises(AssertionError, match="became"):
        check_understander(Careless("words"))
