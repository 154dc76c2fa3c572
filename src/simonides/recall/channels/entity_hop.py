"""Ranks what mentions the query's entities, then what mentions their neighbours (EN-12).

score(m) = 1.0                             if m mentions an entity of the query
         = 0.5 · min(1, max strength(A, B)) if m mentions B, which stands beside such an entity A somewhere

strength(A, B) = sum of the confidence of the visible memories that mention both
The higher of the two counts, not their sum. The two factors are options.
An entity that more than ``hub_cap`` visible memories mention is neither hopped to nor hopped from, since it
stands beside everything; the trace says so.
Cost: linear in the mentions of the entities asked for and of their neighbours.
Weakness: few distinct scores, so that ties by path and id decide a lot; PageRank tells more apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

NO_ENTITY = "no entity"


@dataclass(frozen=True, slots=True)
class EntityHop:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        named: score of a memory that mentions an entity of the query, above 0.
        hop: what a strength of 1 or more scores one hop further, above 0 and at most ``named``.
        hub_cap: memories that may mention an entity for it to be hopped to or from, from 1.
        silent: whether a query without an entity, and hubs, go without a word in the trace.
    """

    depth: int
    named: float
    hop: float
    hub_cap: int
    silent: bool = False

    def __post_init__(self) -> None:
        for name, value in (("depth", self.depth), ("hub_cap", self.hub_cap)):
            if value < 1:
                raise InputError(name, f"{value} is below 1; give how many memories are wanted")
        if not 0 < self.named < math.inf:
            raise InputError("named", f"{self.named} is not a number above 0")
        if not 0 < self.hop <= self.named:
            raise InputError("hop", f"{self.hop} is not above 0 and at most {self.named}, the score of named")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """Eligible memories within one hop; empty, with the reason, when the query names nothing."""
        if not query.entities:
            return Ranking.empty("" if self.silent else NO_ENTITY)
        asked = np.array(query.entities, np.int64)
        wide = view.mention_counts(asked) > self.hub_cap
        strengths = _strengths(view, asked[~wide], frozenset(query.entities))
        near = np.array(sorted(strengths), np.int64)
        hubs = view.mention_counts(near) > self.hub_cap
        reached = view.mentioning(near[~hubs])
        scores: dict[int, float] = {}
        for entity, row in zip(reached.first.tolist(), reached.second.tolist(), strict=True):
            scores[row] = max(scores.get(row, 0.0), self.hop * min(1.0, strengths[entity]))
        named = view.mentioning(asked)
        scores |= dict.fromkeys(named.second.tolist(), self.named)
        wanted = [(row, round(s, 9)) for row, s in sorted(scores.items()) if view.eligible[row] and s > 0]
        return view.ranking(
            np.array([row for row, _ in wanted], np.int64),
            np.array([score for _, score in wanted], np.float64),
            self.depth,
            "" if self.silent else _said_of(int(wide.sum() + hubs.sum()), self.hub_cap),
        )


def _strengths(view: View, entities: NDArray[np.int64], asked: frozenset[int]) -> dict[int, float]:
    """By entity beside one of *entities*, but for those *asked* for: its strongest tie to one of them."""
    named = view.mentioning(entities)
    others = view.mentions(np.unique(named.second))
    beside: dict[int, list[int]] = {}
    for row, entity in zip(others.first.tolist(), others.second.tolist(), strict=True):
        beside.setdefault(row, []).append(entity)
    confidence = dict(
        zip(named.second.tolist(), view.column("confidence", named.second).tolist(), strict=True)
    )
    ties: dict[tuple[int, int], list[float]] = {}
    for entity, row in zip(named.first.tolist(), named.second.tolist(), strict=True):
        for other in beside[row]:
            ties.setdefault((entity, other), []).append(confidence[row])
    strengths: dict[int, float] = {}
    for (_, other), parts in ties.items():
        strengths[other] = max(strengths.get(other, 0.0), math.fsum(parts))
    return {other: strength for other, strength in strengths.items() if other not in asked}


def _said_of(hubs: int, cap: int) -> str:
    if not hubs:
        return ""
    return f"{hubs} entities that more than {cap} memories mention were not followed"
