"""Raises candidates of the kinds and the project that the router took the query to ask for.

score(m) = score(m) × factor if m is of a routed kind and of the routed project, as far as each was routed

For a router in the mode "boost": what the words suggest may raise, and excludes nothing (HX-03).
Cost: nothing. Weakness: one factor for a sure guess and for an unsure one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query

SCORED_BY = SIGNAL = "routed_boost"


@dataclass(frozen=True, slots=True)
class RoutedBoost:
    """Refiner.

    Attributes:
        factor: from 1; 1 changes nothing.
    """

    factor: float

    def __post_init__(self) -> None:
        if not 1 <= self.factor < math.inf:
            raise InputError("factor", f"{self.factor} is not a number from 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by raised scores; unchanged when nothing was routed."""
        if not query.routed_kinds and query.routed_project is None:
            return Refined(pool)
        memories = view.memories([candidate.ordinal for candidate in pool])
        raised = []
        for candidate, memory in zip(pool, memories, strict=True):
            factor = self.factor if _is_meant(memory, query) else 1.0
            raised.append(
                candidate.rescored(round(candidate.score * factor, 9), SCORED_BY, **{SIGNAL: factor})
            )
        return Refined(by_score(view, raised))


def _is_meant(memory: Memory, query: Query) -> bool:
    return (not query.routed_kinds or memory.kind in query.routed_kinds) and (
        query.routed_project in {None, memory.project}
    )
