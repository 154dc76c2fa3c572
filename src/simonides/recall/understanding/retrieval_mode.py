"""Which channels answer: words, meaning, or both (JB-05).

Settles ``query.mode``: auto becomes hybrid where the query has a vector, else bm25; so does a mode that needs
a vector where there is none, and then ``query.fell_back_to_bm25`` says so, as does the trace. Who asks for
bm25 or semantic gets no reranker (``query.skip_rerank``). Runs behind ``embedding``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query

FELL_BACK = "fell_back_to_bm25"
MODE_OFF = "mode_off"


@dataclass(frozen=True, slots=True)
class RetrievalMode:
    """Understander without options."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with the mode that it can have."""
        if query.mode in {"bm25", "semantic"}:
            query = replace(query, skip_rerank=MODE_OFF)
        if query.mode == "bm25":
            return query
        if query.vector is not None:
            return replace(query, mode="hybrid") if query.mode == "auto" else query
        if query.mode == "auto" and tools.embedder is None:
            return replace(query, mode="bm25")
        return replace(query, mode="bm25", fell_back_to_bm25=True, notes=(*query.notes, FELL_BACK))
