"""Cuts the pool to what the search budget lets a packer consider: *per_depth* × the query's depth (HI-12).

Without a depth (no understander settled one) nothing is cut.
Cost: nothing. Weakness: under a small budget a large token budget is not filled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class Considered:
    """Refiner.

    Attributes:
        per_depth: candidates per unit of the query's depth, from 1.
    """

    per_depth: int

    def __post_init__(self) -> None:
        if self.per_depth < 1:
            raise InputError("per_depth", f"{self.per_depth} is below 1; 2 is usual")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The best candidates, in their order."""
        if query.depth is None:
            return Refined(pool)
        most = self.per_depth * query.depth
        dropped = {
            candidate.ordinal: f"was at place {place}, and only {most} are considered at this budget"
            for place, candidate in enumerate(pool[most:], start=most + 1)
        }
        return Refined(pool[:most], dropped=dropped)
