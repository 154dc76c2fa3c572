"""The query's learned sparse terms, encoded once for every channel that asks for them.

Fills ``query.sparse`` with encode_query(text). Without a sparse encoder nothing is filled and nothing noted:
the channel is optional and says why it found nothing. A model that fails leaves a note, and recall answers
with the channels that need no terms. A query that asks for words alone (mode bm25) gets none.
Cost: one forward pass of the model, about 2 ms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query
    from simonides.records.sparse import SparseTerms


@dataclass(frozen=True, slots=True)
class QuerySparseTerms:
    """Understander."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with sparse terms, or with a note that says why it has none."""
        if query.mode == "bm25" or tools.sparse is None:
            return query
        try:
            terms = tools.sparse.encode_query(query.text)
        except Exception as error:  # noqa: BLE001 - any fault of a plugged-in model must leave recall alive
            return _noted(query, f"the sparse encoder failed: {type(error).__name__}: {error}")
        problem = _problem(terms)
        return _noted(query, problem) if problem else replace(query, sparse=terms)


def _problem(terms: SparseTerms) -> str:
    if not len(terms):
        return "the sparse encoder gave no terms for the query"
    if (
        len(terms.ids) != len(terms.weights)
        or not np.isfinite(terms.weights).all()
        or (terms.weights <= 0).any()
    ):
        return "the sparse encoder gave weights for the query that are not finite or not above 0"
    return ""


def _noted(query: Query, note: str) -> Query:
    return replace(query, notes=(*query.notes, note))
