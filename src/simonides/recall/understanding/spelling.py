"""Rewrites words that no visible memory holds: typing errors, short forms, other ways to join a word.

Tried in this order, for each such word, until one gives terms that a visible memory holds:

    joins          ``e-mail`` ↔ ``email``, ``brakepads`` → ``brake pads``, ``time zone`` → ``timezone``, and a
                   number with or without its separators (``+49 (157) 555-0707``)
    short forms    ``pw`` ↔ ``password``: from a word list (``word_lists.abbreviations``), in both directions
    typing errors  the term nearest in optimal string alignment distance: one error in words of 4 to 6
                   characters, two in longer ones, the first letter right or swapped with the second. A word
                   that is one token of the embedder's vocabulary is spelt right and left alone
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

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.index.vocabulary import Letters, letter_set
from simonides.text.edit_distance import EditPattern
from simonides.text.normalise import fold_case, fold_characters
from simonides.text.word_lists import abbreviations, short_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

_FIELDS = ("text", "context")
_FIELD_WEIGHTS = {"text": 1.0, "context": 1.0}
_MOST_WORDS = 32
_MOST_LOOKED_AT = 4
_LONGEST_SUFFIX = 5
_LONGEST_WORD = 40
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*\.?")
_NUMBER = re.compile(r"\+?\d[\d\s().\-/]{4,}\d")
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
        """The query with rewritten terms and the text that the embedder reads; unchanged where all is known."""
        if not query.terms or not view.visible.any():
            return query
        rewriter = _Rewriter(view, tools)
        changes = rewriter.changes(query)
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
    """One word of the query, by place, with what the embedder reads for it and further words for the search."""

    start: int
    stop: int
    text: str
    others: tuple[str, ...] = ()


class _Rewriter:
    """Looks words up for one query."""

    def __init__(self, view: View, tools: Tools) -> None:
        self._view = view
        self._tools = tools
        self._postings = view.snapshot.postings

    def changes(self, query: Query) -> list[_Change]:
        found: list[_Change] = []
        for number in _NUMBER.finditer(query.text):
            if change := self._number(number[0], number.start(), number.end()):
                found.append(change)
        asked = {term for term, _ in query.terms}
        taken = [(change.start, change.stop) for change in found]
        for match in _words(query.text):
            start, stop = match
            if any(first < stop and start < last for first, last in taken):
                continue
            word = query.text[start:stop]
            bare = word.rstrip(".")
            terms = self._tools.analyser.terms(bare)
            if not terms or not asked.intersection(terms) or self._seen(terms):
                continue
            if change := self._word(fold_case(fold_characters(bare)), word, start, stop):
                found.append(change)
        return sorted(found, key=lambda change: change.start)

    def _seen(self, terms: Sequence[str]) -> bool:
        return bool(self._postings.seen(terms, self._view.visible, fields=_FIELDS).any())

    def _all_seen(self, text: str) -> bool:
        terms = self._tools.analyser.terms(text)
        return bool(terms) and bool(self._postings.seen(terms, self._view.visible, fields=_FIELDS).all())

    def _word(self, word: str, written: str, start: int, stop: int) -> _Change | None:
        if len(word) > _LONGEST_WORD:
            return None
        known = self._tools.words is not None and self._tools.words.knows(word)
        for text in _joined_otherwise(word, split=not known):
            if self._all_seen(text):
                return _Change(start, stop, text)
        meanings, forms = abbreviations().get(word, ()), short_forms().get(word, ())
        held = [meaning for meaning in (*meanings, *forms) if self._all_seen(meaning)]
        if held:
            return _Change(start, stop, held[0], tuple(held[1:]))
        if not word.isalpha():
            return None
        cut = written.endswith(".")
        if not (known or cut) and (text := self._nearest(word)):
            return _Change(start, stop, text)
        if ((not known and self._tools.words) or cut or written.isupper()) and (texts := self._longer(word)):
            return _Change(start, stop, texts[0], tuple(texts[1:]))
        if meanings and (not known or written.isupper()):
            return _Change(start, stop, meanings[0])
        return None

    def _nearest(self, word: str) -> str:
        """The word of a visible memory that is nearest to *word*, if it is near enough; else empty."""
        slips = 0 if len(word) < 3 else 1 if len(word) < 7 else 2
        if self._tools.words is None:
            # Nothing tells a typing error from a right word that the bank lacks.
            slips = min(slips, 1) if len(word) > 4 else 0
        if not slips:
            return ""
        pattern = EditPattern(word)
        scored = []
        for first in dict.fromkeys(word[:2]):
            wanted = Letters(
                first.encode(),
                letter_set(word.encode()),
                missing=32,
                extra=slips,
                shortest=max(2, len(word) - _LONGEST_SUFFIX - slips),
                longest=len(word.encode()) + 2 * slips,
            )
            for term in self._postings.with_letters(wanted, self._view.visible, fields=_FIELDS):
                distance, rest = pattern.to_beginning(term)
                if distance <= slips and (first == word[0] or term[:2] == word[1::-1]):
                    scored.append((distance + 0.25 * rest, term))
        best = ("", math.inf)
        for _, term in sorted(scored)[:_MOST_LOOKED_AT]:
            for text in self._surfaces(term):
                distance = pattern.distance(text)
                if (
                    distance <= slips
                    and (distance < best[1])
                    and (len(word) > 3 or sorted(text) == sorted(word))
                ):
                    best = (text, distance)
        return best[0]

    def _longer(self, word: str) -> list[str]:
        """Words of visible memories for which *word* may stand: its continuation, or its vowels added."""
        if len(word) < 3:
            return []
        skeleton = not set("aeiou") & set(word)
        wanted = Letters(
            (word[0] if skeleton else word).encode(),
            letter_set(word.encode()),
            missing=0,
            extra=32,
            shortest=len(word) + 1,
            longest=_LONGEST_WORD,
        )
        terms = [
            term
            for term in self._postings.with_letters(wanted, self._view.visible, fields=_FIELDS)
            if term.isalpha() and (term.startswith(word) or (skeleton and _in_order(word, term)))
        ]
        terms.sort(key=lambda term: (not term.startswith(word), len(term), term))
        texts = [text for term in terms[:3] for text in self._surfaces(term)[:1]]
        return list(dict.fromkeys(texts))

    def _surfaces(self, term: str) -> list[str]:
        """The words of one visible memory that have *term* as their stem, in order."""
        rows, _ = self._postings.bm25(
            [(term, 1)],
            self._view.visible,
            self._view.visible,
            field_weights=_FIELD_WEIGHTS,
            k1=1.2,
            b=0.5,
            depth=1,
        )
        if not len(rows):
            return []
        [memory] = self._view.memories(rows[:1].tolist())
        words = _ANY_WORD.findall(fold_case(fold_characters(f"{memory.text} {memory.context}")))
        parts = dict.fromkeys(part for word in words for part in (word, *word.split("-")))
        return [
            part for part in parts if part[:1] == term[:1] and self._tools.analyser.terms(part) == [term]
        ] or [term]

    def _number(self, written: str, start: int, stop: int) -> _Change | None:
        """A number whose separators the memories write otherwise."""
        digits = "".join(character for character in written if character.isdigit())
        if not 7 <= len(digits) <= 20:
            return None
        whole = self._postings.seen([digits], self._view.visible, fields=_FIELDS)[0]
        if digits == written.lstrip("+"):
            if whole:
                return None
            pieces = self._pieces(digits)
            return _Change(start, stop, written, (" ".join(pieces),)) if pieces else None
        return _Change(start, stop, written, (digits,)) if whole else None

    def _pieces(self, digits: str) -> list[str]:
        """*digits* cut into two or more numbers that visible memories hold; empty where there is no such cut."""
        cuts: dict[int, list[str]] = {0: []}
        for stop in range(2, len(digits) + 1):
            for start in range(max(0, stop - 8), stop - 1):
                piece = digits[start:stop]
                if start in cuts and piece != digits and self._seen([piece]):
                    cuts.setdefault(stop, [*cuts[start], piece])
        return cuts.get(len(digits), [])


def _words(text: str) -> Iterator[tuple[int, int]]:
    for place, match in enumerate(_WORD.finditer(text)):
        if place == _MOST_WORDS:
            return
        yield match.span()


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
