"""The query's terms, by the same analyser that made the terms of the memories.

Fills ``query.terms`` with (term, frequency in the query) in first-seen order. A term that the caller repeats
counts as often as it stands there. Cost: linear in the query.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class AnalysedTerms:
    """Understander without options."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its terms."""
        counted = Counter(tools.analyser.query_terms(query.text))
        return replace(query, terms=tuple(counted.items()))
