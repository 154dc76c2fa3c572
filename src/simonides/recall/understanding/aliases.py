"""Other words for the words of the query, as its caller names them (JB-02).

Puts the alternatives of ``query.aliases`` in the place of the expression's terms; phrases and prefixes are
meant literally. Runs behind ``query_dsl``. Cost: linear in the query and the alternatives used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.text.query_dsl.aliases import expand_aliases

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class Aliases:
    """Understander without options."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its expression expanded; unchanged without aliases or expression."""
        if query.expression is None or not query.aliases:
            return query
        return replace(query, expression=expand_aliases(query.expression, query.aliases))
