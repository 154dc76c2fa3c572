"""Channels that find memories by their words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.postings import FIELDS
from simonides.recall.word_search import WordSearch, fuzzy_search
from simonides.records.candidate import Ranking
from simonides.records.explanation import Attempt
from simonides.records.expression import Expression, written_words
from simonides.text.query_dsl import compile_match, expand_aliases, parse_query, sanitise, strongest_term

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query


NAME_CHECKS = 300
"""Memories that are read at most to find a name in capitals."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """Ranks by the query's terms: BM25 over weighted fields.

    score(m) = Σ over fields f, terms t of
               weight_f · n_t · idf_f(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average_f))
    with n_t the frequency of t in the query; idf, lengths and averages come from the visible rows at query
    time. Of a query of stop-words alone (``query.all_terms``) only memories that hold all of them are ranked,
    or those that hold a name. A name in capitals that is a stop-word otherwise (``query.names``) finds no
    memory by itself that does not hold it in capitals; the texts of the best ``NAME_CHECKS`` that hold the
    word are read for that.
    Cost: proportional to the postings of the query's terms, 2 to 6 ms at 10⁶ rows.
    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
    Weakness: blind to paraphrase and to the order of words.

    Attributes:
        depth: hits at most, from 1.
        k1: how slowly repeats of a term saturate, from 0 (a term counts once).
        b: how much long fields pay, 0 to 1.
        fields: weight per field (text, context, relation, expansion), from 0; a field at 0 or left out is not
            searched, and at least one is.
        budgeted: whether the query's depth takes the place of *depth*.
        obeys_mode: whether who asks for meaning alone gets no words (HX-04: not in ``helix``).
    """

    depth: int
    k1: float
    b: float
    fields: Mapping[str, float]
    budgeted: bool = False
    obeys_mode: bool = True

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many memories are wanted")
        if not 0 <= self.k1 < math.inf:
            raise InputError("k1", f"{self.k1} is not a number from 0; 1.2 is usual")
        if not 0 <= self.b <= 1:
            raise InputError("b", f"{self.b} is not between 0 and 1; 0.75 is usual")
        for field, weight in self.fields.items():
            if field not in FIELDS:
                raise UnknownNameError(f"fields.{field}", field, FIELDS)
            if not 0 <= weight < math.inf:
                raise InputError(f"fields.{field}", f"{weight} is not a number from 0")
        if not any(self.fields.values()):
            raise InputError("fields", "none has a weight above 0; give one to at least one field")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        """Eligible memories that hold a term of the query; empty, with the reason, when it has no terms."""
        if self.obeys_mode and query.mode == "semantic":
            return Ranking.empty()
        if not query.terms:
            return Ranking.empty("the query has no terms")
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        among = self._named(view, query, tools) if query.names else None
        if among is None:
            among = view.eligible
            for term in query.terms if query.all_terms else ():
                among = self._holding(view, [term], among)
        if query.all_terms and not among.any():
            words = ", ".join(term for term, _ in query.terms)
            return Ranking.empty(f"the query has only stop-words, and no memory holds all of {words}")
        ordinals, scores = self._bm25(view, query.terms, among, depth)
        return view.ranking(ordinals, scores, depth)

    def _bm25(
        self, view: View, terms: Sequence[tuple[str, float]], among: NDArray[np.bool_], depth: int | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return view.snapshot.postings.bm25(
            terms, view.visible, among, field_weights=self.fields, k1=self.k1, b=self.b, depth=depth
        )

    def _holding(
        self, view: View, terms: Sequence[tuple[str, float]], among: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which rows of *among* hold any of *terms*."""
        found = np.zeros_like(among)
        if terms and among.any():
            found[self._bm25(view, terms, among, None)[0]] = True
        return found

    def _named(self, view: View, query: Query, tools: Tools) -> NDArray[np.bool_] | None:
        """Eligible rows that hold a name as it is written, or a term that belongs to no name.

        ``None`` where a query of stop-words alone finds no name so written: then it is a stop-word, too.
        """
        own = {term for name in query.names for term in tools.analyser.terms(name)}
        holders = self._bm25(view, [(term, 1) for term in sorted(own)], view.eligible, None)
        best = view.ranking(*holders, NAME_CHECKS).ordinals.tolist()
        written = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, query.names))})(?!\w)")
        fields = [field for field in FIELDS if self.fields.get(field)]
        found = np.zeros_like(view.eligible)
        for memory in view.memories(best):
            if any(written.search(str(getattr(memory, field))) for field in fields):
                found[memory.ordinal] = True
        if query.all_terms:
            return found if found.any() else None
        others = [term for term in query.terms if term[0] not in own]
        return found | self._holding(view, others, view.eligible)


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
    """Ranks by the query's expression, and where that finds nothing, by looser and looser forms of the query.

        initial               the expression as read, aliases in
        strongest_term        its longest word that is not filler (ties: rarer, then first)
        force-refresh         nothing: kept for its place in published traces
        refreshed_sanitised   no punctuation, no operators, no filler; aliases in
        refreshed_strongest   the strongest word of that
        trigram_fuzzy         words that look alike: trigram Jaccard of at least *similarity*

    The first rung with hits ends the climb (JB-06). Only "no hits" starts the next one: an error is an error.
    Scores are BM25 (``lexical``), in the last rung the similarity. Every rung is one bounded search and
    leaves a row in the trace, tried or not (JB-11).
    Cost: one search where the words are found; six where nothing is, the last of them the dearest
    (``fuzzy_search``). Weakness: a wrong hit of an early rung hides a right one of a later.

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


@dataclass(frozen=True, slots=True)
class Sparse:
    """Ranks by learned sparse terms: what a masked language model reads into the query and into each memory.

    score(m) = Σ over vocabulary entries t in both of q_t · w_t(m), above 0

    It takes no statistics of other memories, so what the asker may not see changes no score. Unlike BM25 it
    finds a memory by words that stand in neither (group → support, gay); unlike a dense vector it keeps names
    and numbers apart.
    Cost: the query's pass through the model (about 2 ms) and its postings; see ``index.sparse_postings``.
    Weakness: the small model is good on short chat turns and weaker than BM25 on long documents.
    Source: Formal, Piwowarski and Clinchant, SPLADE (2021); SPEC HX-18.

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
