"""Keeps the head of the fused list, so that a reranker's cost does not grow with the search.

The first *most* candidates stay, whatever the search budget was (HI-04); the others leave the pool. Where the
caller asks for more hits than that, the others stay instead, marked as unreranked: they follow in their fused
order behind all that is reranked (SPEC, general settlement 7).
Cost: nothing. Weakness: what fusion ranked below the cut is lost, whatever a reranker would have said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.order import split

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class RerankPrefilter:
    """Refiner.

    Attributes:
        most: candidates that may be reranked, from 1.
    """

    most: int

    def __post_init__(self) -> None:
        if self.most < 1:
            raise InputError("most", f"{self.most} is below 1; give how many candidates may be reranked")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The first *most*, best first, and the marked rest where the caller wants more hits."""
        head, tail = split(pool, self.most)
        if query.limit is not None and query.limit > self.most:
            return Refined(head + tail)
        first_out = self.most + 1
        return Refined(
            head,
            dropped={
                candidate.ordinal: f"was at place {place} after fusion, and only {self.most} are reranked"
                for place, candidate in enumerate(tail, start=first_out)
            },
        )
