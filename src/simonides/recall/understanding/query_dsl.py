"""Understanders that read the query as an expression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.expression import Clause, Token, TokenKind
from simonides.records.hygiene import shown
from simonides.text.query_dsl import clean_phrase, dropped_words, expand_aliases, parse_query

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query


_MOST_SAID = 10
"""Dropped words that the trace names at most."""


@dataclass(frozen=True, slots=True)
class QueryLanguage:
    """The query as an expression of words, phrases, prefixes and operators (JB-01).

    Fills ``query.expression`` from the words, or from ``query.spelled`` where an earlier stage wrote out what
    they mean. In the extended syntax the names in ``entity:`` become hints, and phrases that the lexical
    channel looks for; the other clauses exclude, so they are taken as filters before anything is read
    (``text.query_dsl.clauses``). What a plain query loses although it may have been asked for, such as C# or
    all of "who was it", is said in the trace (``parser.dropped_words``). Cost: linear in the query.
    """

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its expression.

        Raises:
            QuerySyntaxError: the extended syntax is asked for and the words break it.
        """
        text = query.spelled or query.text
        expression = parse_query(text, syntax=query.syntax)
        dropped = () if expression.has_operators else dropped_words(text)
        if dropped:
            words = ", ".join([*map(shown, dropped[:_MOST_SAID]), *(["…"] if dropped[_MOST_SAID:] else [])])
            note = f"not searched, as filler or too short: {words}; put words in quotes to search for them"
            query = replace(query, notes=(*query.notes, note))
        named = [
            part.value for part in expression.tokens if isinstance(part, Clause) and part.name == "entity"
        ]
        phrases = tuple(Token(TokenKind.PHRASE, clean_phrase(name), written=name) for name in named)
        return replace(
            query,
            expression=replace(expression, tokens=expression.tokens + phrases),
            hints=tuple(dict.fromkeys((*query.hints, *named))),
        )


@dataclass(frozen=True, slots=True)
class Aliases:
    """Other words for the words of the query, as its caller names them (JB-02).

    Puts the alternatives of ``query.aliases`` in the place of the expression's terms; phrases and prefixes
    are meant literally. Runs behind ``query_dsl``. Cost: linear in the query and the alternatives used.
    """

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its expression expanded; unchanged without aliases or expression."""
        if query.expression is None or not query.aliases:
            return query
        return replace(query, expression=expand_aliases(query.expression, query.aliases))
