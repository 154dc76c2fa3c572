"""Ranks by the query's expression, and where that finds nothing, by looser and looser forms of the query.

    initial               the expression as read, aliases in
    strongest_term        its longest word that is not filler (ties: rarer, then first)
    force-refresh         nothing: kept for its place in published traces
    refreshed_sanitised   no punctuation, no operators, no filler; aliases in
    refreshed_strongest   the strongest word of that
    trigram_fuzzy         words that look alike: trigram Jaccard of at least *similarity*

The first rung with hits ends the climb (JB-06). Only "no hits" starts the next one: an error is an error.
Scores are BM25 (``lexical``), in the last rung the similarity. Every rung is one bounded search and leaves a
row in the trace, tried or not (JB-11).
Cost: one search where the words are found; six where nothing is, the last of them the dearest
(``fuzzy_search``). Weakness: a wrong hit of an early rung hides a right one of a later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import InputError, UnknownNameError
from simonides.index.postings import FIELDS
from simonides.recall.fuzzy_search import fuzzy_search
from simonides.recall.word_search import WordSearch
from simonides.records.expression import Expression, written_words
from simonides.records.ranking import Ranking
from simonides.records.trace import Attempt
from simonides.text.query_dsl.aliases import expand_aliases
from simonides.text.query_dsl.loosen import sanitise, strongest_term
from simonides.text.query_dsl.parser import parse_query
from simonides.text.query_dsl.printer import compile_match

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

RUNGS = (
    "initial",
    "strongest_term",
    "force-refresh",
    "refreshed_sanitised",
    "refreshed_strongest",
    "trigram_fuzzy",
)


@dataclass(frozen=True, slots=True)
class RetryingLexical:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        k1, b, fields: as in ``lexical``.
        similarity: of two words' trigrams, from which on they are alike; above 0, at most 1.
        phrase_checks: memories read at most to look up one phrase, from 1.
        fuzzy_checks: memories read at most to look for similar words, from 1.
    """

    depth: int
    k1: float
    b: float
    fields: Mapping[str, float]
    similarity: float
    phrase_checks: int
    fuzzy_checks: int

    def __post_init__(self) -> None:
        for name in ("depth", "phrase_checks", "fuzzy_checks"):
            if getattr(self, name) < 1:
                raise InputError(name, f"{getattr(self, name)} is below 1; give how many memories")
        if not 0 <= self.k1 < math.inf:
            raise InputError("k1", f"{self.k1} is not a number from 0; 1.2 is usual")
        if not 0 <= self.b <= 1:
            raise InputError("b", f"{self.b} is not between 0 and 1; 0.75 is usual")
        if not 0 < self.similarity <= 1:
            raise InputError("similarity", f"{self.similarity} is not above 0 and at most 1; 0.3 is usual")
        for field, weight in self.fields.items():
            if field not in FIELDS:
                raise UnknownNameError(f"fields.{field}", field, FIELDS)
            if not 0 <= weight < math.inf:
                raise InputError(f"fields.{field}", f"{weight} is not a number from 0")
        if not any(self.fields.values()):
            raise InputError("fields", "none has a weight above 0; give one to at least one field")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        """What the first rung with hits finds; nothing where the mode is semantic or no word is left."""
        if query.mode == "semantic":
            return Ranking.empty()
        expression = query.expression
        if expression is None:
            return Ranking.empty("the query was not read as an expression; add query_dsl to the profile")
        if not compile_match(expression):
            return Ranking.empty("the query has no words to search by")
        return _Climb(self, view, query, tools, expression).climb()


class _Climb:
    """One walk up the ladder."""

    def __init__(
        self, stage: RetryingLexical, view: View, query: Query, tools: Tools, expression: Expression
    ) -> None:
        self.stage = stage
        self.view = view
        self.query = query
        self.tools = tools
        self.expression = expression
        self.words = WordSearch(view, tools.analyser, stage.fields, stage.k1, stage.b, stage.phrase_checks)
        self.notes: dict[str, None] = {}

    def climb(self) -> Ranking:
        rungs: Mapping[str, Callable[[], tuple[str, Ranking] | None]] = {
            "initial": lambda: self._find(self.expression),
            "strongest_term": self._strongest_term,
            "refreshed_sanitised": self._sanitised,
            "refreshed_strongest": lambda: self._word(self._strongest(sanitise(self._asked()))),
            "trigram_fuzzy": self._fuzzy,
        }
        attempts: list[Attempt] = []
        found = Ranking.empty()
        for strategy in RUNGS:
            if strategy not in rungs:
                attempts.append(Attempt(strategy, "", 0, "no_op"))
                continue
            tried = None if len(found) else rungs[strategy]()
            if tried is None:
                attempts.append(Attempt(strategy, "", 0, "skipped"))
                continue
            searched, found = tried
            attempts.append(Attempt(strategy, searched, len(found), "hit" if len(found) else "zero"))
        return replace(found, reason="; ".join(self.notes), attempts=tuple(attempts))

    def _asked(self) -> str:
        """The caller's words, in the extended syntax without its clauses."""
        return (
            self.query.text
            if self.query.syntax == "plain"
            else " ".join(written_words(self.expression.tokens))
        )

    def _strongest_term(self) -> tuple[str, Ranking] | None:
        term = self._strongest(self._asked())
        return None if term == self.query.text.strip().lower() else self._word(term)

    def _strongest(self, text: str) -> str:
        return strongest_term(text, self.words.commonness)

    def _sanitised(self) -> tuple[str, Ranking] | None:
        cleaned = sanitise(self._asked())
        expression = expand_aliases(parse_query(cleaned), self.query.aliases)
        if not expression.tokens:
            return None
        _, found = self._find(expression)
        return cleaned, found

    def _word(self, word: str) -> tuple[str, Ranking] | None:
        if not word:
            return None
        _, found = self._find(parse_query(word, stop_words=()))
        return word, found

    def _find(self, expression: Expression) -> tuple[str, Ranking]:
        found = self.words.search(expression.tokens)
        self.notes.update(dict.fromkeys(found.notes))
        return compile_match(expression), self._ranked(found.ordinals, found.scores)

    def _fuzzy(self) -> tuple[str, Ranking] | None:
        words = sanitise(self._asked()).split()
        if not words:
            return None
        ordinals, similarities, note = fuzzy_search(
            self.view,
            self.tools.analyser,
            words,
            least=self.stage.similarity,
            fields=self.stage.fields,
            checks=self.stage.fuzzy_checks,
        )
        if note:
            self.notes[note] = None
        return " ".join(words), self._ranked(ordinals, similarities)

    def _ranked(self, ordinals: NDArray[np.int64], scores: NDArray[np.float64]) -> Ranking:
        return self.view.ranking(ordinals, scores, self.stage.depth)
