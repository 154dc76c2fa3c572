"""Raises a memory by the best of its neighbours in the conversation.

score(m) = score(m) + factor · max over neighbours n in the pool of max(0, score(n))

Neighbours are joined by a link of one of ``kinds``: the turn before and the turn after. A turn that answers
("Yes, last summer") stands beside the one that holds the question's words. Scores on the right are those from
before this stage, so nothing travels further than one link. With ``adds``, neighbours of the first so many
candidates that are not in the pool enter it, their own score counted as 0.
Cost: the links of the pool, about 0.2 ms for 150. Weakness: the neighbours of a good hit rise whether they
answer or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score
from simonides.recall.rounding import rounded
from simonides.records.candidate import Candidate
from simonides.records.edges import LINK_KINDS

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query

SCORED_BY = "neighbours"
SIGNAL = "neighbour"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Refiner.

    Attributes:
        factor: what a neighbour hands on of its score, above 0 and at most 1.
        kinds: of links that make neighbours, at least one.
        adds: of how many first candidates the neighbours are added, from 0.
    """

    factor: float
    kinds: tuple[str, ...]
    adds: int

    def __post_init__(self) -> None:
        if not 0 < self.factor <= 1:
            raise InputError("factor", f"{self.factor} is not above 0 and at most 1; 0.3 is usual")
        if not self.kinds:
            raise InputError("kinds", f"names none; give at least one of {', '.join(LINK_KINDS)}")
        for kind in self.kinds:
            if kind not in LINK_KINDS:
                raise UnknownNameError("kinds", kind, LINK_KINDS)
        if self.adds < 0:
            raise InputError("adds", f"{self.adds} is below 0; 0 = none is added")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by its new scores; each candidate carries its best neighbour's as ``neighbour``."""
        if not pool:
            return Refined(pool)
        scores = {candidate.ordinal: candidate.score for candidate in pool}
        links = view.links(np.array(list(scores), np.int64))
        wanted = np.array([kind in self.kinds for kind in LINK_KINDS])
        links = links.keep(wanted[links.kinds])
        head = {candidate.ordinal for candidate in pool[: self.adds]}
        best: dict[int, float] = {}
        added: dict[int, None] = {}
        for first, second in zip(links.first.tolist(), links.second.tolist(), strict=True):
            best[second] = max(best.get(second, 0.0), scores[first])
            if second not in scores and first in head and view.eligible[second]:
                added[second] = None
        pool += tuple([Candidate(row, 0.0, SCORED_BY) for row in added])
        nearest = [best.get(candidate.ordinal, 0.0) for candidate in pool]
        raised = rounded([each.score + self.factor * near for each, near in zip(pool, nearest, strict=True)])
        scored = [
            each.with_signals(score, SCORED_BY, {SIGNAL: near})
            for each, score, near in zip(pool, raised, nearest, strict=True)
        ]
        return Refined(by_score(view, scored))
