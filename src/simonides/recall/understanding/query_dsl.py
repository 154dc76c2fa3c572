"""The query as an expression of words, phrases, prefixes and operators (JB-01).

Fills ``query.expression`` from the words, or from ``query.spelled`` where an earlier stage wrote out what
they mean. In the extended syntax the names in ``entity:`` become hints, and phrases that the lexical channel
looks for; the other clauses exclude, so they are taken as filters before anything is read
(``text.query_dsl.clauses``). Cost: linear in the query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.expression import Clause, Token, TokenKind
from simonides.text.query_dsl.parser import parse_query
from simonides.text.query_dsl.spelling import clean_phrase

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class QueryLanguage:
    """Understander without options."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its expression.

        Raises:
            QuerySyntaxError: the extended syntax is asked for and the words break it.
        """
        expression = parse_query(query.spelled or query.text, syntax=query.syntax)
        named = [
            part.value for part in expression.tokens if isinstance(part, Clause) and part.name == "entity"
        ]
        phrases = tuple(Token(TokenKind.PHRASE, clean_phrase(name), written=name) for name in named)
        return replace(
            query,
            expression=replace(expression, tokens=expression.tokens + phrases),
            hints=tuple(dict.fromkeys((*query.hints, *named))),
        )
