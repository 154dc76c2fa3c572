"""Ranks by learned sparse terms: what a masked language model reads into the query and into each memory.

score(m) = Σ over vocabulary entries t in both   q_t · w_t(m), above 0, no statistics of other memories, so
what the asker may not see changes no score. Unlike BM25 it finds a memory by words that stand in neither
(group → support, gay); unlike a dense vector it keeps names and numbers apart.
Cost: the query's pass through the model (about 2 ms) and its postings; see ``index.sparse_postings``.
Weakness: the small model is good on short chat turns and weaker than BM25 on long documents.
Source: Formal, Piwowarski and Clinchant, SPLADE (2021); SPEC HX-18.
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
class Sparse:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        budgeted: whether the query's depth takes the place of *depth*.
    """

    depth: int
    budgeted: bool = False

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many rows are wanted")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        """The eligible memories of highest inner product; empty, with the reason, without terms."""
        if query.mode == "bm25":
            return Ranking.empty()
        if query.sparse is None:
            return Ranking.empty(
                "no sparse encoder" if tools.sparse is None else "the query has no sparse terms"
            )
        stored = view.snapshot.sparse
        if not stored.has_any(view.eligible):
            # Retained without an encoder: nothing to compare, and nothing wrong if there is nothing at all.
            return Ranking.empty("no memory to look at has sparse terms" if view.eligible.any() else "")
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        return view.ranking(*stored.scores(query.sparse, view.eligible), depth)
