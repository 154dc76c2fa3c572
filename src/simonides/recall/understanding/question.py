"""Understanders of the question itself: its terms, names, vectors, intent, mode and budget."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.protocols import TokenEmbedder
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, Embedder, Tools, View
    from simonides.records.query import Query
    from simonides.records.sparse import SparseTerms


_WORD = re.compile(r"\w+")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class AnalysedTerms:
    """The query's terms, by the same analyser that made the terms of the memories.

    Fills ``query.terms`` with (term, frequency in the query) in first-seen order. A term that the caller
    repeats counts as often as it stands there. Stop-words are left out while another word remains.

    Where nothing but stop-words is asked for ("who was it"), ``stop_words = "any"`` searches for memories
    that hold any of them, which nearly all do. With "all" a memory must hold every one (``query.all_terms``);
    and a word in capitals stays, although it is a stop-word in small letters (IT, US), and is looked for in
    capitals (``query.names``).
    Cost: linear in the query. Weakness: a name in small letters, or one that is a stop-word with one capital
    (Will, May), is told apart from the stop-word only where it stands alone.

    Attributes:
        stop_words: which of the words a memory must hold where all of them are stop-words.
    """

    stop_words: Literal["any", "all"] = "any"

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its terms."""
        terms = tools.analyser.query_terms(query.text)
        if self.stop_words == "any":
            return replace(query, terms=tuple(Counter(terms).items()))
        names = _names(query.text, tools.analyser)
        all_terms = tools.analyser.is_filler(query.text)
        if not all_terms:
            terms += [term for name in names for term in tools.analyser.terms(name)]
        return replace(query, terms=tuple(Counter(terms).items()), all_terms=all_terms, names=names)


def _names(text: str, analyser: Analyser) -> tuple[str, ...]:
    """The words in capitals that are stop-words otherwise; none in a text that is all in capitals."""
    words = _WORD.findall(text)
    if len(words) > 1 and text.upper() == text:
        return ()
    found = (word for word in words if len(word) > 1 and word.isupper() and word not in _OPERATORS)
    return tuple(dict.fromkeys(word for word in found if analyser.is_filler(word)))


NONE_FOUND = "no entity"


@dataclass(frozen=True, slots=True)
class QueryEntities:
    """The entities that the query asks about: the caller's hints first, then the names in its words.

    Fills ``query.entities``, each once, in that order. Only entities that a visible memory mentions are known
    here, so a name tells nobody what others have stored. A hint that names none is noted, and so is a query
    in which nothing was found: graph channels then have only likeness to start from.
    Cost: one look-up per word of the query, see ``KnownNames``. Weakness: "she" and "my manager" name nobody.

    Attributes:
        silent: whether a query that names nothing goes without a note, in a profile that needs no name.
    """

    silent: bool = False

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its entities."""
        hinted = {hint: view.find_entities(hint) for hint in query.hints}
        named = [entity for entities in hinted.values() for entity in entities]
        entities = tuple(dict.fromkeys([*query.entities, *named, *view.find_entities(query.text)]))
        notes = [f"{NONE_FOUND} is named {shown(hint)}" for hint, found in hinted.items() if not found]
        if not entities and not self.silent:
            notes = [NONE_FOUND, *notes]
        return replace(query, entities=entities, notes=(*query.notes, *notes))


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """The query's vector, encoded once for every channel that asks for it.

    Fills ``query.vector`` with encode_query(text) / ‖encode_query(text)‖₂, the norm taken in float64.
    Whatever goes wrong with a model leaves the vector ``None`` and a note: recall answers with the channels
    that need none. A query that asks for words alone (mode bm25) gets none. Vectors of the query's tokens
    come from the same pass, where the embedder offers them.
    Cost: one forward pass of the model; nothing else in the default pipeline costs as much.

    Attributes:
        designed_for: name of the embedder that the profile was made with; another one is noted.
    """

    designed_for: str = ""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with a unit vector, float32, or with a note that says why it has none."""
        if query.mode == "bm25":
            return query
        if tools.embedder is None:
            return _without_vector(query, "no embedder")
        tokens = None
        try:
            if isinstance(tools.embedder, TokenEmbedder):
                both = tools.embedder.encode_query_both(query.rewritten or query.text)
                raw, tokens = np.asarray(both[0], np.float64), np.asarray(both[1], np.float32)
            else:
                raw = np.asarray(tools.embedder.encode_query(query.rewritten or query.text), np.float64)
        except Exception as error:  # noqa: BLE001 - any fault of a plugged-in model must leave lexical recall alive
            return _without_vector(query, f"the embedder failed: {type(error).__name__}: {error}")
        problem = _vector_problem(raw, tools.embedder)
        if problem:
            return _without_vector(query, problem)
        # Scaled by its largest component first: the squares of huge ones would overflow.
        scaled = raw / np.abs(raw).max()
        vector = (scaled / np.linalg.norm(scaled)).astype(np.float32)
        notes = query.notes
        if self.designed_for and tools.embedder.name != self.designed_for:
            notes = (*notes, f"{tools.embedder.name} stands in for {self.designed_for}")
        return replace(query, vector=vector, token_vectors=_usable(tokens, tools.embedder), notes=notes)


def _usable(tokens: NDArray[np.float32] | None, embedder: Embedder) -> NDArray[np.float32] | None:
    """The token vectors where they are such; late interaction is done without where they are not."""
    if tokens is None or tokens.ndim != 2 or not len(tokens) or tokens.shape[1] != embedder.dimension:
        return None
    return tokens if np.isfinite(tokens).all() else None


def _vector_problem(vector: NDArray[np.float64], embedder: Embedder) -> str:
    if vector.shape != (embedder.dimension,):
        return f"the embedder gave shape {vector.shape} for the query, not ({embedder.dimension},)"
    if not np.isfinite(vector).all():
        return "the embedder gave a vector for the query that is not finite"
    if not vector.any():
        return "the embedder gave a zero vector for the query: it knows no word of it"
    return ""


def _without_vector(query: Query, note: str) -> Query:
    return replace(query, vector=None, notes=(*query.notes, note))


@dataclass(frozen=True, slots=True)
class QuerySparseTerms:
    """The query's learned sparse terms, encoded once for every channel that asks for them.

    Fills ``query.sparse`` with encode_query(text). Without a sparse encoder nothing is filled and nothing
    noted: the channel is optional and says why it found nothing. A model that fails leaves a note, and recall
    answers with the channels that need no terms. A query that asks for words alone (mode bm25) gets none.
    Cost: one forward pass of the model, about 2 ms.
    """

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with sparse terms, or with a note that says why it has none."""
        if query.mode == "bm25" or tools.sparse is None:
            return query
        try:
            terms = tools.sparse.encode_query(query.text)
        except Exception as error:  # noqa: BLE001 - any fault of a plugged-in model must leave recall alive
            return _noted(query, f"the sparse encoder failed: {type(error).__name__}: {error}")
        problem = _weights_problem(terms)
        return _noted(query, problem) if problem else replace(query, sparse=terms)


def _weights_problem(terms: SparseTerms) -> str:
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


INTENTS = ("why", "when", "who", "how")
"""In the order of precedence."""

OTHERWISE = "what"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks for: why, when, who or how; anything else is a "what" (EN-01).

    Each intent has a list of words and phrases. The intent with the most occurrences in the query wins; of
    equal ones the first in the order why, when, who, how. No model.
    Cost: one regular expression per intent, linear in the query. Weakness: English only, and "who wrote the
    history of the team" counts three words for who and one for when, whatever is meant.

    Attributes:
        words: for each of ``INTENTS``, the words and phrases that speak for it, in lower case.
    """

    words: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if set(self.words) != set(INTENTS):
            raise InputError("words", f"needs a list for each of {', '.join(INTENTS)}, and no other")
        for intent, words in self.words.items():
            if not words or not all(word.strip() for word in words):
                raise InputError(f"words.{intent}", "is empty or holds a blank; give words or phrases")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its intent."""
        counts = {intent: len(_pattern(self.words[intent]).findall(query.text)) for intent in INTENTS}
        best = max(INTENTS, key=counts.__getitem__)
        return replace(query, intent=best if counts[best] else OTHERWISE)


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # The longest first, so that "how to" is not found as something shorter.
    alternatives = "|".join(
        r"\s+".join(map(re.escape, word.split()))
        for word in sorted(words, key=lambda word: (-len(word), word))
    )
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


FELL_BACK = "fell_back_to_bm25"
MODE_OFF = "mode_off"


@dataclass(frozen=True, slots=True)
class RetrievalMode:
    """Which channels answer: words, meaning, or both (JB-05).

    Settles ``query.mode``: auto becomes hybrid where the query has a vector, else bm25; so does a mode that
    needs a vector where there is none, and then ``query.fell_back_to_bm25`` says so, as does the trace. Who
    asks for bm25 or semantic gets no reranker (``query.skip_rerank``). Runs behind ``embedding``.
    """

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


LEVELS = ("low", "mid", "high")
FUNCTIONS = ("fixed", "adaptive")


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """How far the channels look: a level (low, mid, high) becomes a number of memories.

    fixed:     depth = fixed[level]
    adaptive:  depth = ⌊clamp(max_tokens · ratios[level], least, most)⌋; without a token budget it is ``most``

    The call's level and function win over the options, which stand for the profile's (HI-12, HI-13). With
    "fixed" the token budget changes nothing about the search. Fills ``query.depth``; a channel goes by it
    where its own option ``budgeted`` says so.

    Attributes:
        level: of a call that names none.
        function: of a call that names none.
        fixed: memories per level, from 1.
        ratios: memories per token of ``max_tokens`` and level, above 0.
        least, most: bounds of an adaptive depth, memories, from 1.
    """

    level: Literal["low", "mid", "high"]
    function: Literal["fixed", "adaptive"]
    fixed: Mapping[str, int]
    ratios: Mapping[str, float]
    least: int
    most: int

    def __post_init__(self) -> None:
        for name, table in (("fixed", self.fixed), ("ratios", self.ratios)):
            if sorted(table) != sorted(LEVELS):
                raise InputError(
                    name, f"has {', '.join(table) or 'nothing'}; give a number each for low, mid and high"
                )
        for level, depth in self.fixed.items():
            if depth < 1:
                raise InputError(f"fixed.{level}", f"{depth} is below 1; give how many memories to look at")
        for level, ratio in self.ratios.items():
            if not 0 < ratio < math.inf:
                raise InputError(f"ratios.{level}", f"{ratio} is not a number above 0; mid is usually 0.075")
        if not 1 <= self.least <= self.most:
            raise InputError("least", f"{self.least} is not between 1 and most, which is {self.most}")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its depth.

        Raises:
            UnknownNameError: the call names a level or function that does not exist.
        """
        level, function = query.budget or self.level, query.budget_function or self.function
        if level not in LEVELS:
            raise UnknownNameError("budget", level, LEVELS)
        if function not in FUNCTIONS:
            raise UnknownNameError("budget_function", function, FUNCTIONS)
        depth = self.fixed[level] if function == "fixed" else self._adaptive(level, query.max_tokens)
        return replace(query, depth=depth)

    def _adaptive(self, level: str, max_tokens: int | None) -> int:
        if max_tokens is None:
            return self.most
        # Rounded first: 400 · 0.075 is 30, not a hair less.
        wanted = math.floor(round(max_tokens * self.ratios[level], 6))
        return min(max(wanted, self.least), self.most)
