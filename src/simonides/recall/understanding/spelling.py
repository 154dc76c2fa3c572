"""Rewrites words that no visible memory holds: typing errors, short forms, other ways to join a word.

Tried in this order, for each such word, until one gives terms that a visible memory holds:

    joins          ``e-mail`` ↔ ``email``, ``brakepads`` → ``brake pads``, and a number with or without its
                   separators (``+49 (157) 555-0707``)
    short forms    ``pw`` ↔ ``password``: from a word list (``word_lists.abbreviations``), in both directions
    typing errors  the term nearest in optimal string alignment distance: one error in words of 4 to 6
                   characters, two in longer ones, the first letter right or swapped with the second. A word
                   that is one token of the embedder's vocabulary is spelt right and left alone
    initials       ``GHA`` → ``GitHub Actions``: capitalised words in a row in a memory near the query
    beginnings     ``petro`` → ``petrology``, ``lckr`` → ``locker``: what begins with the word, or holds its
                   letters in order if it has no vowel

The rewritten text is what the embedder reads; ``query.terms`` gets the terms of the rewritten text, those
that the caller did not write with a frequency of ``weight``, below that of a word that stands there. Words
of which memories hold the exact form are never touched, so an exact match is never displaced.
Vocabulary and frequencies are those of the visible rows: what the asker may not see rewrites no word.
Cost: a dictionary look-up per word; for a word that is not there about 0.2 ms at 10⁴ memories.
Sources: Hyyrö, A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances (2003).
Weakness: a real word that the bank lacks can look like another one, where no embedder tells that it is one.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.records.letters import Letters, letter_set
from simonides.text.analyser import abbreviations, short_forms
from simonides.text.normalise import fold_case, fold_characters
from simonides.text.similarity import EditPattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

_FIELDS = ("text", "context")
_FIELD_WEIGHTS = {"text": 1.0, "context": 1.0}
_MOST_WORDS = 32
_MOST_UNKNOWN = 8
_MOST_READ = 48
_MOST_LOOKED_AT = 4
_LONGEST_SUFFIX = 5
_LONGEST_WORD = 40
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*\.?")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]")
_NUMBER = re.compile(r"\+?\d[\d\s().\-/]{4,}\d")
# Possessive, and only from the beginning of a word on: a long word without a hyphen is read once.
_HYPHENATED = re.compile(r"(?<![^\W_-])[^\W\d_]++(?:-[^\W\d_]++)+")
_ANY_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Spelling:
    """Understander; stands after ``terms`` and before ``embedding``.

    Attributes:
        weight: frequency of a term that the caller did not write, above 0 and below 1.
    """

    weight: float

    def __post_init__(self) -> None:
        if not 0 < self.weight < 1:
            raise InputError("weight", f"{self.weight} is not between 0 and 1; 0.7 is usual")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        """The query with rewritten terms, and the text that the embedder reads."""
        if not query.terms or not view.visible.any():
            return query
        changes = _Rewriter(view, query, tools).changes()
        if not changes:
            return query
        parts, last = [], 0
        for change in changes:
            parts += [query.text[last : change.start], change.text]
            last = change.stop
        rewritten = "".join([*parts, query.text[last:]])
        written = dict(query.terms)
        terms = Counter(tools.analyser.query_terms(rewritten))
        weighted = {t: float(n) if t in written else n * self.weight for t, n in terms.items()}
        for change in changes:
            for other in change.others:
                for term in tools.analyser.query_terms(other):
                    weighted.setdefault(term, self.weight / len(change.others))
        told = ", ".join(f"{query.text[c.start : c.stop]!r} read as {c.text!r}" for c in changes)
        return replace(query, terms=tuple(weighted.items()), rewritten=rewritten, notes=(*query.notes, told))


@dataclass(frozen=True, slots=True)
class _Change:
    """One part of the query, by place, what the embedder reads for it, and more words for the search."""

    start: int
    stop: int
    text: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that no visible memory holds.

    Attributes:
        text: folded.
        known: whether the embedder knows it, so that it is hardly misspelt.
        cut: whether it ends with a full stop, as short forms do.
        upper: whether it is written in capitals, as initials are.
    """

    text: str
    known: bool
    cut: bool
    upper: bool


class _Rewriter:
    """Looks words up for one query."""

    def __init__(self, view: View, query: Query, tools: Tools) -> None:
        self._view = view
        self._query = query
        self._tools = tools
        self._postings = view.snapshot.postings

    def changes(self) -> list[_Change]:
        text = self._query.text
        numbers = (self._number(found[0], *found.span()) for found in _NUMBER.finditer(text))
        hyphenated = (self._unhyphenated(found[0], *found.span()) for found in _HYPHENATED.finditer(text))
        found = [each for each in (*islice(numbers, _MOST_WORDS), *islice(hyphenated, _MOST_WORDS)) if each]
        asked = {term for term, _ in self._query.terms}
        looked_up = 0
        for match in islice(_WORD.finditer(text), _MOST_WORDS):
            start, stop = match.span()
            bare = match[0].rstrip(".")
            terms = self._tools.analyser.terms(bare)
            taken = any(each.start < stop and start < each.stop for each in found)
            if taken or not asked.intersection(terms) or self._seen(terms):
                continue
            looked_up += 1
            if looked_up > _MOST_UNKNOWN:
                # Another language, or about other things: nothing is to be mended word by word.
                return []
            if texts := self._read(self._word(bare, match[0])):
                found.append(_Change(start, stop, texts[0], tuple(texts[1:])))
        return sorted(found, key=lambda change: change.start)

    def _word(self, bare: str, written: str) -> _Word:
        text = fold_case(fold_characters(bare))
        known = self._tools.words is not None and self._tools.words.knows(text)
        return _Word(text, known, written != bare, bare.isupper())

    def _read(self, word: _Word) -> list[str]:
        """What the word may mean, the likeliest first; empty = itself."""
        if len(word.text) > _LONGEST_WORD:
            return []
        readings = (self._joined, self._short_form, self._corrected, self._initials, self._longer, _meanings)
        return next((texts for reading in readings if (texts := reading(word))), [])

    def _seen(self, terms: Sequence[str]) -> bool:
        return bool(self._postings.seen(terms, self._view.visible, fields=_FIELDS).any())

    def _all_seen(self, text: str) -> bool:
        terms = self._tools.analyser.terms(text)
        return bool(terms) and bool(self._postings.seen(terms, self._view.visible, fields=_FIELDS).all())

    def _unhyphenated(self, written: str, start: int, stop: int) -> _Change | None:
        """A word with hyphens that memories write without."""
        whole = fold_case(fold_characters(written))
        joined = whole.replace("-", "")
        return None if self._seen([whole]) or not self._all_seen(joined) else _Change(start, stop, joined)

    def _joined(self, word: _Word) -> list[str]:
        """Written with a hyphen or a space, as some memory writes it."""
        texts = _joined_otherwise(word.text, split=not word.known)
        return [text for text in texts if self._all_seen(text)][:1]

    def _short_form(self, word: _Word) -> list[str]:
        """What the word list says it stands for, or is a short form of, as far as a memory holds it."""
        others = (*abbreviations().get(word.text, ()), *short_forms().get(word.text, ()))
        return [other for other in others if self._all_seen(other)]

    def _corrected(self, word: _Word) -> list[str]:
        """The word of a visible memory that is nearest, if it is near enough."""
        text = word.text
        slips = 0 if len(text) < 3 else 1 if len(text) < 7 else 2
        if self._tools.words is None:
            # Nothing tells a typing error from a right word that the bank lacks.
            slips = min(slips, 1) if len(text) > 4 else 0
        if word.known or word.cut or not slips or not text.isalpha():
            return []
        pattern = EditPattern(text)
        scored = []
        for first in dict.fromkeys(text[:2]):
            wanted = Letters(
                first.encode(),
                letter_set(text.encode()),
                missing=32,
                extra=slips + 1,  # see below
                shortest=max(2, len(text) - _LONGEST_SUFFIX - slips),
                longest=len(text.encode()) + 2 * slips,
            )
            for term in self._postings.with_letters(wanted, self._view.visible, fields=_FIELDS):
                # A stem ends with "i" where the word ends with "y".
                as_written = f"{term[:-1]}y" if term.endswith("i") else term
                distance, rest = pattern.to_beginning(as_written)
                if distance <= slips and (first == text[0] or term[:2] == text[1::-1]):
                    scored.append((distance + 0.25 * rest, term))
        best, nearest = "", slips + 1
        for _, term in sorted(scored)[:_MOST_LOOKED_AT]:
            for other in self._surfaces(term):
                distance = pattern.distance(other)
                if distance < nearest and (len(text) > 3 or sorted(other) == sorted(text)):
                    best, nearest = other, distance
        return [best] if best else []

    def _initials(self, word: _Word) -> list[str]:
        """Words of a visible memory that begin with the letters of the word, one after the other."""
        text = word.text
        if not 2 <= len(text) <= 5 or not text.isalpha() or not (word.upper or not word.known):
            return []
        for memory in self._view.memories(self._near()):
            pieces = list(_PIECE.finditer(memory.text))
            letters = "".join(piece[0][0] for piece in pieces).lower()
            place = letters.find(text)
            # Of "go home alone" nobody makes GHA: names begin with capitals.
            if place >= 0 and all(piece[0][0].isupper() for piece in pieces[place : place + len(text)]):
                return [memory.text[pieces[place].start() : pieces[place + len(text) - 1].end()]]
        return []

    def _near(self) -> list[int]:
        """Visible rows that hold other words of the query, the best; all of a small bank."""
        visible = np.flatnonzero(self._view.visible)
        if len(visible) <= _MOST_READ:
            return [int(row) for row in visible]
        return self._best(self._query.terms, _MOST_READ)

    def _best(self, terms: Sequence[tuple[str, float]], most: int) -> list[int]:
        """The *most* best visible rows by words, best first."""
        visible = self._view.visible
        rows, scores = self._postings.bm25(
            terms, visible, visible, field_weights=_FIELD_WEIGHTS, k1=1.2, b=0.5, depth=most
        )
        return [int(row) for row in self._view.ranking(rows, scores, most).ordinals]

    def _longer(self, word: _Word) -> list[str]:
        """Words of visible memories for which it may stand: its continuation, or its vowels added."""
        text = word.text
        unknown = not word.known and self._tools.words is not None
        if len(text) < 3 or not text.isalpha() or not (unknown or word.cut or word.upper):
            return []
        skeleton = not set("aeiou") & set(text)
        wanted = Letters(
            (text[0] if skeleton else text).encode(),
            letter_set(text.encode()),
            missing=0,
            extra=32,
            shortest=len(text) + 1,
            longest=_LONGEST_WORD,
        )
        terms = [
            term
            for term in self._postings.with_letters(wanted, self._view.visible, fields=_FIELDS)
            if term.isalpha() and (term.startswith(text) or (skeleton and _in_order(text, term)))
        ]
        terms.sort(key=lambda term: (not term.startswith(text), len(term), term))
        return list(dict.fromkeys(other for term in terms[:3] for other in self._surfaces(term)[:1]))

    def _surfaces(self, term: str) -> list[str]:
        """The words of one visible memory that have *term* as their stem, in order."""
        words = [
            word
            for memory in self._view.memories(self._best([(term, 1)], 1))
            for word in _ANY_WORD.findall(fold_case(fold_characters(f"{memory.text} {memory.context}")))
        ]
        parts = dict.fromkeys(part for word in words for part in (word, *word.split("-")))
        analyser = self._tools.analyser
        return [part for part in parts if part[0] == term[0] and analyser.terms(part) == [term]] or [term]

    def _number(self, written: str, start: int, stop: int) -> _Change | None:
        """A number whose separators the memories write otherwise."""
        digits = "".join(character for character in written if character.isdigit())
        if not 7 <= len(digits) <= 20:
            return None
        whole = self._seen([digits])
        if digits == written.lstrip("+"):
            if whole:
                return None
            pieces = self._pieces(digits)
            return _Change(start, stop, " ".join(pieces)) if pieces else None
        return _Change(start, stop, digits) if whole else None

    def _pieces(self, digits: str) -> list[str]:
        """*digits* cut into two or more numbers that visible memories hold; empty where none is such."""
        cuts: dict[int, list[str]] = {0: []}
        for stop in range(2, len(digits) + 1):
            for start in range(max(0, stop - 8), stop - 1):
                piece = digits[start:stop]
                if start in cuts and piece != digits and self._seen([piece]):
                    cuts.setdefault(stop, [*cuts[start], piece])
        return cuts.get(len(digits), [])


def _meanings(word: _Word) -> list[str]:
    """What the word list says it stands for, though no memory holds it: the embedder may know it."""
    return list(abbreviations().get(word.text, ()))[:1] if word.upper or not word.known else []


def _joined_otherwise(word: str, *, split: bool) -> Iterator[str]:
    """Other ways to write *word*: with a hyphen and, if *split*, with a space at each place."""
    if word.isalpha() and 4 <= len(word) <= 24:
        for cut in range(1, len(word)):
            if cut in (1, 2) or len(word) - cut > 2 <= cut:
                yield f"{word[:cut]}-{word[cut:]}"
            if split and len(word) - cut > 2 < cut:
                yield f"{word[:cut]} {word[cut:]}"


def _in_order(word: str, term: str) -> bool:
    """Whether the letters of *word* stand in *term* in this order."""
    letters = iter(term)
    return all(letter in letters for letter in word)
