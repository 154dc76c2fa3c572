"""Ranks by cosine between the query's vector and each memory's.

score(m) = cos(q, m), in [-1, 1], no floor: a negative cosine is still a place in the ranking.
The snapshot scans 1-bit codes and rescores the survivors from int8, so any mask is exact and no graph index
is needed (about 9 ms per 10⁶ rows of 384 dimensions on one core); few eligible rows are all scored.
Weakness: names, numbers and identifiers that the model never saw are only spelling to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class Dense:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        rescore: rows that survive the 1-bit scan, from 1; more costs time and loses less.
        budgeted: whether the query's depth takes the place of *depth*.
        overfetch, least_fetched: max(overfetch × depth, least_fetched) rows are fetched before the cut, each
            from 1; ``None`` = 1.
    """

    depth: int
    rescore: int
    budgeted: bool = False
    overfetch: int | None = None
    least_fetched: int | None = None

    def __post_init__(self) -> None:
        for name in ("depth", "rescore", "overfetch", "least_fetched"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(name, f"{value} is below 1; give how many rows are wanted")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """The nearest eligible memories; empty, with the reason, without vectors to compare."""
        if query.mode == "bm25":
            return Ranking.empty()
        if query.vector is None:
            return Ranking.empty("the query has no vector")
        vectors = view.snapshot.vectors
        if vectors.dimension == 0:
            # A bank before its first vector: nothing to compare, and nothing wrong if it is empty.
            return Ranking.empty("the bank holds no vectors" if view.eligible.any() else "")
        if vectors.dimension != len(query.vector):
            return Ranking.empty(
                f"the query has {len(query.vector)} dimensions, the bank {vectors.dimension}: "
                "open the bank with the embedder that filled it, or re-embed it"
            )
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        fetched = max((self.overfetch or 1) * depth, self.least_fetched or 1)
        ordinals, cosines = vectors.nearest(query.vector, view.eligible, depth=fetched, rescore=self.rescore)
        return view.ranking(ordinals, cosines, depth)
