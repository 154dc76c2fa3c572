"""Keyword search by an expression, and by words that look alike."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.postings import FIELDS, PREFIX_MARK
from simonides.records.expression import Group, Operator, Token, TokenKind, words_of
from simonides.text.normalise import CLASSES, fold_case, fold_characters
from simonides.text.query_dsl import bare_words
from simonides.text.similarity import jaccard, trigrams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, View
    from simonides.records.expression import Part
    from simonides.records.memory import Memory

    Scored = tuple[NDArray[np.int64], NDArray[np.float64]]


MOST_TERMS = 1_024
"""Different terms of plain words that are searched; 5,000 words of prose are about as many."""

MOST_SEPARATE = 64
"""Phrases, prefixes and words joined by AND or NOT that are searched; each costs a search of its own."""

MOST_CHARACTERS = 2_000_000
"""Of the texts that are read to look a phrase up."""

_SHORTEST_STEM = 3
_WORD_SEARCH_READ_AT_ONCE = 32
_BETWEEN = "\0"  # no term holds it


@dataclass(frozen=True, slots=True)
class Found:
    """What an expression finds.

    Attributes:
        ordinals: int64, ascending.
        scores: float64, rounded to 1e-9.
        notes: what was left undone.
    """

    ordinals: NDArray[np.int64]
    scores: NDArray[np.float64]
    notes: tuple[str, ...] = ()


class WordSearch:
    """Finds memories by an expression: words, phrases, prefixes, and what joins them.

    A memory matches where the expression is true of it, NOT before AND before OR. Its score is the BM25 of
    every word, phrase and prefix that is asked for and stands in it. A word that is one of several ways to
    match matches by each of its terms (``tx_queue.rs`` by ``queue``, too); one that is required or excluded,
    only by all of them. Postings hold no positions, so a phrase is looked up in the text of the best memories
    that hold its words; a prefix that a stem has lost (``policy*``, stem ``polici``) likewise.

    Cost: one BM25 search for all plain words, one for each phrase, prefix and joined word; a phrase reads at
    most ``checks`` memories. Bounds on a huge query are said in the notes.
    Weakness: a phrase's memories are read best first up to the bound; what lies beyond is not found by it.

    Args:
        view: what may be seen.
        analyser: made the terms of the memories.
        fields: weight per lexical field.
        k1, b: of BM25.
        checks: memories that are read at most to look up one phrase or prefix.
    """

    def __init__(
        self, view: View, analyser: Analyser, fields: Mapping[str, float], k1: float, b: float, checks: int
    ) -> None:
        self._view = view
        self._analyser = analyser
        self._weights = fields
        self._fields = [field for field in FIELDS if fields.get(field, 0.0) > 0.0]
        self._k1 = k1
        self._b = b
        self._checks = checks
        self._separate = 0
        self._notes: dict[str, None] = {}

    def search(self, parts: Sequence[Part]) -> Found:
        """The eligible memories of which *parts* is true."""
        self._separate, self._notes = 0, {}
        ordinals, scores = self._any(words_of(parts))
        return Found(ordinals, scores.round(9), tuple(self._notes))

    def commonness(self, word: str) -> int:
        """How many visible memories hold all terms of *word*."""
        terms = tuple(dict.fromkeys(self._analyser.terms(word)))
        return len(self._all_of(terms, self._view.visible)[0])

    def _any(self, words: Sequence[Token | Group]) -> Scored:
        plain: Counter[str] = Counter()
        found: list[Scored] = []
        for required, excluded in _conjunctions(words):
            only = required[0]
            is_term = isinstance(only, Token) and only.kind is TokenKind.TERM
            if len(required) == 1 and not excluded and is_term:
                plain.update(self._analyser.terms(_written(only)))
            else:
                found.append(self._both(required, excluded))
        if plain:
            found.append(self._bm25(self._bounded(plain), self._view.eligible))
        return self._sum(found)

    def _both(self, required: Sequence[Token | Group], excluded: Sequence[Token | Group]) -> Scored:
        ordinals, scores = self._one(required[0])
        for part in required[1:]:
            others, more = self._one(part)
            ordinals, mine, theirs = np.intersect1d(ordinals, others, assume_unique=True, return_indices=True)
            scores = scores[mine] + more[theirs]
        for part in excluded:
            kept = ~np.isin(ordinals, self._one(part)[0])
            ordinals, scores = ordinals[kept], scores[kept]
        return ordinals, scores

    def _one(self, part: Token | Group) -> Scored:
        if isinstance(part, Group):
            return self._any(words_of(part.parts))
        if self._separate == MOST_SEPARATE:
            self._notes[f"only {MOST_SEPARATE} phrases, prefixes and joined words were searched"] = None
            return _nothing()
        self._separate += 1
        if part.kind is TokenKind.PREFIX:
            return self._prefix(_written(part))
        terms = self._analyser.terms(_written(part))
        found = self._all_of(tuple(dict.fromkeys(terms)), self._view.eligible)
        if part.kind is TokenKind.TERM or len(terms) < 2:
            return found
        return self._checked(found, self._holds_phrase(_written(part), terms))

    def _prefix(self, written: str) -> Scored:
        """Rows with a term of this beginning, or with a word of it whose stem has another ending."""
        prefix = fold_case(fold_characters(written))
        if not prefix:
            return _nothing()
        found = self._bm25([(prefix + PREFIX_MARK, 1)], self._view.eligible)
        stem = "".join(self._analyser.terms(written)[:1])
        shared = "".join(
            a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(prefix, stem, strict=False))
        )
        if shared in {prefix, ""} or len(shared) < _SHORTEST_STEM:
            return found
        ordinals, scores = self._bm25([(shared + PREFIX_MARK, 1)], self._view.eligible)
        other = ~np.isin(ordinals, found[0])
        return self._sum([found, self._checked((ordinals[other], scores[other]), self._begins_word(prefix))])

    def _all_of(self, terms: Sequence[str], mask: NDArray[np.bool_]) -> Scored:
        """Rows that hold every one of *terms*."""
        if not terms:
            return _nothing()
        ordinals, scores = self._bm25([(terms[0], 1)], mask)
        for term in terms[1:]:
            others, more = self._bm25([(term, 1)], mask)
            ordinals, mine, theirs = np.intersect1d(ordinals, others, assume_unique=True, return_indices=True)
            scores = scores[mine] + more[theirs]
        return ordinals, scores

    def _bm25(self, terms: Sequence[tuple[str, int]], mask: NDArray[np.bool_]) -> Scored:
        return self._view.snapshot.postings.bm25(
            terms, self._view.visible, mask, field_weights=self._weights, k1=self._k1, b=self._b
        )

    def _bounded(self, terms: Counter[str]) -> list[tuple[str, int]]:
        if len(terms) > MOST_TERMS:
            self._notes[f"only {MOST_TERMS:,} of {len(terms):,} terms were searched"] = None
        return list(terms.items())[:MOST_TERMS]

    def _sum(self, found: Sequence[Scored]) -> Scored:
        """Rows of any, each with the sum of its scores."""
        if len(found) == 1:
            return found[0]
        total = np.zeros(self._view.snapshot.rows)
        there = np.zeros(self._view.snapshot.rows, np.bool_)
        for ordinals, scores in found:
            total[ordinals] += scores
            there[ordinals] = True
        rows = np.flatnonzero(there).astype(np.int64)
        return rows, total[rows]

    def _checked(self, found: Scored, holds: Callable[[str], bool]) -> Scored:
        """Those of *found* with a field of which *holds* is true, the best read first, up to the bound."""
        ordinals, scores = found
        best = self._view.ranking(ordinals, scores.round(9), self._checks).ordinals.tolist()
        kept, read, characters = [], 0, 0
        for memory in self._memories(best):
            if characters > MOST_CHARACTERS:
                break
            texts = [str(getattr(memory, field)) for field in self._fields]
            characters += sum(map(len, texts))
            read += 1
            if any(holds(text) for text in texts):
                kept.append(memory.ordinal)
        if read < len(ordinals):
            self._notes[f"a phrase or prefix was looked up in {read} of {len(ordinals)} memories"] = None
        mask = np.isin(ordinals, np.array(kept, np.int64))
        return ordinals[mask], scores[mask]

    def _memories(self, ordinals: Sequence[int]) -> Iterable[Memory]:
        for start in range(0, len(ordinals), _WORD_SEARCH_READ_AT_ONCE):
            yield from self._view.memories(ordinals[start : start + _WORD_SEARCH_READ_AT_ONCE])

    def _holds_phrase(self, written: str, terms: Sequence[str]) -> Callable[[str], bool]:
        """Whether a text holds the terms one after the other; scripts without spaces, the characters."""
        wanted = _joined(terms)
        folded = fold_case(fold_characters(written))
        unspaced = bool({"H", "h", "k"} & set(folded.translate(CLASSES)))

        def holds(text: str) -> bool:
            if wanted in _joined(self._analyser.terms(text)):
                return True
            return unspaced and folded in fold_case(fold_characters(text))

        return holds

    @staticmethod
    def _begins_word(prefix: str) -> Callable[[str], bool]:
        return lambda text: any(
            fold_case(word).startswith(prefix) for word in bare_words(fold_characters(text))
        )


def _conjunctions(
    words: Sequence[Token | Group],
) -> list[tuple[list[Token | Group], list[Token | Group]]]:
    """What OR joins: in each, what is required (at least one) and what is excluded."""
    joined: list[tuple[list[Token | Group], list[Token | Group]]] = []
    for word in words:
        if word.operator is Operator.AND and joined:
            joined[-1][0].append(word)
        elif word.operator is Operator.NOT and joined:
            joined[-1][1].append(word)
        else:
            joined.append(([word], []))
    return joined


def _written(part: Token | Group) -> str:
    assert isinstance(part, Token)
    return part.written or part.text


def _joined(terms: Sequence[str]) -> str:
    return f"{_BETWEEN}{_BETWEEN.join(terms)}{_BETWEEN}"


def _nothing() -> Scored:
    return np.empty(0, np.int64), np.empty(0, np.float64)


MOST_WORDS = 32
"""Words of the query that are compared."""

_FUZZY_SEARCH_READ_AT_ONCE = 256
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}\Z")


def fuzzy_search(
    view: View,
    analyser: Analyser,
    words: Sequence[str],
    *,
    least: float,
    fields: Mapping[str, float],
    checks: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], str]:
    """Finds memories by words that look alike: for typing slips that no term reaches (JB-07).

    similarity(m) = the largest Jaccard similarity of padded trigrams (``text.trigrams``) between a word of
    the
    query and a word of m: of its text, its context, or the last part of its path. Words are raw, not stemmed.

    With at most ``checks`` eligible memories all are read, so the answer is exact. Of more, those are read
    that hold a term with the most similar trigrams; only a word that shares no trigram with its own stem can
    be missed then, and what lies beyond the bound, which the note says.
    Cost: about 0.4 s CPU per 10⁵ terms of the vocabulary where there are more than ``checks`` memories, and
    the words of the memories read, each different word once.

    Eligible memories with a word like one of *words*.

    Args:
        view: what may be seen.
        analyser: made the terms of the memories.
        words: in lower case; those of fewer than three characters count for nothing.
        least: similarity from which on a word counts, above 0.
        fields: lexical fields by weight, for the choice among many memories.
        checks: memories that are read at most.

    Returns:
        ordinals int64, similarities float64 rounded to 1e-9, and a note when not all were read.
    """
    grams = {word: trigrams(word) for word in words}
    wanted = [gram for gram in grams.values() if gram][:MOST_WORDS]
    ordinals, note = np.flatnonzero(view.eligible).astype(np.int64), ""
    if not wanted:
        ordinals = ordinals[:0]
    elif len(ordinals) > checks:
        total = len(ordinals)
        ordinals = _promising(view, analyser, list(grams)[:MOST_WORDS], fields, checks)
        note = f"similar words were looked for in {len(ordinals)} of {total} memories"
    best = _Best(wanted)
    similarities = [max(map(best.of, memory_words(memory)), default=0.0) for memory in _read(view, ordinals)]
    found = np.array(similarities, np.float64).round(9)
    kept = found >= least
    return ordinals[kept], found[kept], note


def memory_words(memory: Memory) -> set[str]:
    """The raw words of a memory, lower case: text, context, and the last part of its path."""
    name = memory.path.lower().rsplit("/", 1)[-1]
    return {*bare_words(memory.text), *bare_words(memory.context), *bare_words(_SUFFIX.sub("", name))}


class _Best:
    """The largest similarity of a word with any that is wanted; each word is compared once."""

    def __init__(self, wanted: Sequence[frozenset[str]]) -> None:
        self._wanted = wanted
        self._known: dict[str, float] = {}

    def of(self, word: str) -> float:
        found = self._known.get(word)
        if found is None:
            grams = trigrams(word)
            found = self._known[word] = max(jaccard(grams, each) for each in self._wanted)
        return found


def _promising(
    view: View, analyser: Analyser, words: Sequence[str], fields: Mapping[str, float], most: int
) -> NDArray[np.int64]:
    """The eligible rows, *most* at most, whose terms are most like *words* or their stems; ascending."""
    forms = {form for word in words for form in (word, *analyser.terms(word))}
    best = _Best([grams for grams in map(trigrams, sorted(forms)) if grams])
    alike = [(best.of(term), term) for term in view.snapshot.postings.terms_like(sorted(forms), fields)]
    chosen: dict[int, None] = {}
    for similarity, term in sorted(alike, key=lambda pair: (-pair[0], pair[1])):
        if similarity == 0.0 or len(chosen) >= most:
            break
        rows, _ = view.snapshot.postings.bm25(
            [(term, 1)], view.visible, view.eligible, field_weights=fields, k1=1.0, b=0.0
        )
        chosen.update(dict.fromkeys(rows.tolist()))
    return np.array(sorted(list(chosen)[:most]), np.int64)


def _read(view: View, ordinals: NDArray[np.int64]) -> Iterator[Memory]:
    for start in range(0, len(ordinals), _FUZZY_SEARCH_READ_AT_ONCE):
        yield from view.memories(ordinals[start : start + _FUZZY_SEARCH_READ_AT_ONCE].tolist())
