"""Terms by row: CSR postings in sealed blocks, a dictionary in the tail, BM25 over both.

score(row) = Σ over fields f, terms t of
             w_f · n_t · idf_f(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average_f))
idf_f(t)   = ln(1 + (N_f − df + ½) / (df + ½)),  always positive

A term that ends in ``*`` stands for every term with that beginning, as one: its frequency is their sum, its
document frequency the rows that hold any.
N_f counts the visible rows that have the field, df and the average length come from the same rows, all at
query time: what the asker may not see changes no score. Term frequencies above 255 count as 255.
Cost: proportional to the postings of the query's terms; see ``bm25``, which adds them up.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
Weakness: no positions, so a phrase scores like its words.
"""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simonides.index.bm25 import Saturation, TermList, score_lists
from simonides.index.vocabulary import ByteRuns, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.bm25 import Postings
    from simonides.records.letters import Letters


FIELDS = ("text", "context", "relation", "expansion")
"""The lexical fields of a memory, indexed apart (SPEC, general settlement 10)."""

PREFIX_MARK = "*"
"""Ends a term that stands for all terms with that beginning; no analysed term holds this character."""

_LARGEST_FREQUENCY = 255


class FieldPostings(Protocol):
    """The postings of one field in one block. Rows are counted from the block's start."""

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Terms per row, int32, shape (rows,)."""
        ...

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Rows that hold *term*, ascending, and its frequency in each."""
        ...

    def beginning(self, prefix: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Rows that hold a term with this beginning, ascending, and the frequency of all such in each."""
        ...

    @property
    def documents(self) -> tuple[int, int]:
        """How many rows have the field, and the terms of all of them."""
        ...

    @property
    def shortest(self) -> int:
        """The fewest terms of a row that has the field; 0 = none has."""
        ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    def with_letters(self, wanted: Letters) -> list[bytes]:
        """The terms that *wanted* admits."""
        ...


def counted(lengths: NDArray[np.int32]) -> tuple[int, int]:
    """How many rows have the field at all, and the terms of all of them."""
    return int(np.count_nonzero(lengths)), int(lengths.sum(dtype=np.int64))


def least(lengths: NDArray[np.int32]) -> int:
    """The fewest terms of a row that has any; 0 = none has."""
    held = lengths[lengths > 0]
    return int(held.min()) if len(held) else 0


_NOTHING = (np.empty(0, np.int32), np.empty(0, np.uint8))


@dataclass(frozen=True, slots=True)
class SealedPostings:
    """CSR by term: rows ``rows[starts[t]:starts[t + 1]]`` hold term ``t`` of the vocabulary."""

    vocabulary: Vocabulary
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    frequencies: NDArray[np.uint8]
    lengths: NDArray[np.int32]
    documents_found: list[tuple[int, int]] = dataclasses.field(
        default_factory=list, repr=False, compare=False
    )
    shortest_found: list[int] = dataclasses.field(default_factory=list, repr=False, compare=False)

    @property
    def documents(self) -> tuple[int, int]:
        # Counted once: a sealed block never changes.
        if not self.documents_found:
            self.documents_found.append(counted(self.lengths))
        return self.documents_found[0]

    @property
    def shortest(self) -> int:
        if not self.shortest_found:
            self.shortest_found.append(least(self.lengths))
        return self.shortest_found[0]

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        place = self.vocabulary.find(term.encode())
        if place is None:
            return _NOTHING
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[part], self.frequencies[part]

    def beginning(self, prefix: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        places = self.vocabulary.beginning(prefix.encode())
        part = slice(int(self.starts[places.start]), int(self.starts[places.stop]))
        return _summed(self.rows[part], self.frequencies[part])

    def with_letters(self, wanted: Letters) -> list[bytes]:
        return self.vocabulary.with_letters(wanted)

    def triples(self) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
        terms = np.repeat(np.arange(len(self.vocabulary), dtype=np.int64), np.diff(self.starts))
        return list(self.vocabulary), terms, self.rows, self.frequencies


class TailPostings:
    """Postings that grow by appending rows; a frozen copy shares the lists and stops at its own length."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[list[int], list[int]]] = {}

    def append(self, row: int, terms: Mapping[str, int]) -> None:
        """Add a row; rows come in ascending order."""
        for term, frequency in terms.items():
            entry = self._entries.get(term)
            if entry is None:
                entry = self._entries[term] = ([], [])
            rows, frequencies = entry
            # The frequency first: a reader cuts by rows, so it never sees a row without its frequency.
            frequencies.append(min(_LARGEST_FREQUENCY, frequency))
            rows.append(row)

    def frozen(self, lengths: NDArray[np.int32]) -> FrozenTail:
        """The postings of the first ``len(lengths)`` rows, whatever is appended later."""
        return FrozenTail(self._entries, lengths)


@dataclass(frozen=True, slots=True)
class FrozenTail:
    """The tail's postings as they were at one moment."""

    entries: Mapping[str, tuple[list[int], list[int]]]
    lengths: NDArray[np.int32]

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        entry = self.entries.get(term)
        if entry is None:
            return _NOTHING
        rows, frequencies = entry
        count = bisect_left(rows, len(self.lengths))
        return np.array(rows[:count], np.int32), np.array(frequencies[:count], np.uint8)

    def beginning(self, prefix: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        found = [self.postings(term) for term in list(self.entries) if term.startswith(prefix)]
        rows, frequencies = zip(_NOTHING, *found, strict=True)
        return _summed(np.concatenate(rows), np.concatenate(frequencies))

    @property
    def documents(self) -> tuple[int, int]:
        return counted(self.lengths)

    @property
    def shortest(self) -> int:
        return least(self.lengths)

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.of(sorted(term.encode() for term in list(self.entries)))

    def with_letters(self, wanted: Letters) -> list[bytes]:
        first = wanted.first.decode()
        terms = (term.encode() for term in list(self.entries) if term.startswith(first))
        return [term for term in terms if wanted.admits(term)]

    def triples(self) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
        """Vocabulary and, per posting, (position in it, row, frequency)."""
        vocabulary: list[bytes] = []
        counts: list[int] = []
        rows: list[int] = []
        frequencies: list[int] = []
        stop = len(self.lengths)
        for term in list(self.entries):
            held, counted = self.entries[term]
            count = bisect_left(held, stop)
            if count:
                vocabulary.append(term.encode())
                counts.append(count)
                rows += held[:count]
                frequencies += counted[:count]
        terms = np.repeat(np.arange(len(counts), dtype=np.int64), np.array(counts, np.int64))
        return vocabulary, terms, np.array(rows, np.int32), np.array(frequencies, np.uint8)


def _summed(
    rows: NDArray[np.int32], frequencies: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Each row once, ascending, with the sum of its frequencies."""
    each, place = np.unique(rows, return_inverse=True)
    sums = np.bincount(place, weights=frequencies, minlength=len(each))
    return each.astype(np.int32), np.minimum(sums, _LARGEST_FREQUENCY).astype(np.uint8)


def seal_terms(terms: Sequence[Mapping[str, int]]) -> SealedPostings:
    """The postings of one field of neighbouring rows, from each row's terms with their frequencies."""
    places: dict[str, int] = {}
    held = [places.setdefault(term, len(places)) for row in terms for term in row]
    frequency = np.array([count for row in terms for count in row.values()], np.int64)
    counts = np.array([len(row) for row in terms], np.int64)
    rows = np.repeat(np.arange(len(terms)), counts)
    encoded = [term.encode() for term in places]
    ascending = sorted(range(len(encoded)), key=encoded.__getitem__)
    renamed = np.empty(len(encoded), np.int64)
    renamed[ascending] = np.arange(len(encoded))
    term = renamed[np.array(held, np.int64)]
    order = np.argsort(term, kind="stable")
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.bincount(term, minlength=len(encoded)), out=starts[1:])
    # The sums of whole numbers below 2⁵³ are exact.
    lengths = np.bincount(rows, weights=frequency, minlength=len(terms))
    return SealedPostings(
        vocabulary=Vocabulary.of(encoded[place] for place in ascending),
        starts=starts,
        rows=rows[order].astype(np.int32),
        frequencies=np.minimum(frequency[order], _LARGEST_FREQUENCY).astype(np.uint8),
        lengths=lengths.astype(np.int32),
    )


def merge_postings(
    parts: Sequence[tuple[int, SealedPostings | FrozenTail]], kept: NDArray[np.bool_]
) -> SealedPostings:
    """Join the postings of neighbouring blocks into one sealed block.

    Args:
        parts: (row offset in the joined block, postings), ascending.
        kept: bool, shape (joined rows,): false for erased rows, which lose their postings.
    """
    vocabularies, terms, rows, frequencies = [], [], [], []
    for offset, part in parts:
        vocabulary, term, row, frequency = part.triples()
        vocabularies.append(vocabulary)
        terms.append(term)
        rows.append(row.astype(np.int64) + offset)
        frequencies.append(frequency)
    joined = sorted({term for vocabulary in vocabularies for term in vocabulary})
    place = {term: i for i, term in enumerate(joined)}
    renamed = [
        np.fromiter(map(place.__getitem__, vocabulary), np.int64, len(vocabulary))[term]
        for vocabulary, term in zip(vocabularies, terms, strict=True)
    ]
    term, row, frequency = np.concatenate(renamed), np.concatenate(rows), np.concatenate(frequencies)
    alive = kept[row]
    term, row, frequency = term[alive], row[alive], frequency[alive]
    # Stable: rows ascend inside each part and the parts ascend, so they ascend under every term.
    order = np.argsort(term, kind="stable")
    counts = np.bincount(term, minlength=len(joined))
    used = np.flatnonzero(counts)
    starts = np.zeros(len(used) + 1, np.int64)
    np.cumsum(counts[used], out=starts[1:])
    lengths = np.concatenate([part.lengths for _, part in parts])
    return SealedPostings(
        vocabulary=Vocabulary.of(joined[i] for i in used),
        starts=starts,
        rows=row[order].astype(np.int32),
        frequencies=frequency[order],
        lengths=np.where(kept, lengths, 0).astype(np.int32),
    )


@dataclass(frozen=True, slots=True)
class BlockPostings:
    """Postings of a whole snapshot: per block, its first ordinal and its fields."""

    blocks: tuple[tuple[int, Mapping[str, FieldPostings]], ...]
    rows: int

    def bm25(
        self,
        terms: Sequence[tuple[str, float]],
        visible: NDArray[np.bool_],
        eligible: NDArray[np.bool_],
        *,
        field_weights: Mapping[str, float],
        k1: float,
        b: float,
        depth: int | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Eligible rows that hold a term, with their scores. See ``protocols.Postings``."""
        lists: list[TermList] = []
        for field in FIELDS:
            weight = field_weights.get(field, 0.0)
            if weight > 0.0:
                lists += self._lists(field, weight, terms, visible)
        starts = [start for start, _ in self.blocks]
        return score_lists(lists, starts, eligible, Saturation(k1, b), depth)

    def _lists(
        self, field: str, weight: float, terms: Sequence[tuple[str, float]], visible: NDArray[np.bool_]
    ) -> list[TermList]:
        """The terms that any row of the field holds, in order."""
        found = [(count, self._postings(field, term)) for term, count in terms]
        found = [(count, parts) for count, parts in found if any(len(rows) for rows, _ in parts)]
        documents, average = self._seen(field, visible) if found else (0, 0.0)
        if documents == 0:
            return []
        held = [fields[field] for _, fields in self.blocks]
        lengths, shortest = [each.lengths for each in held], [each.shortest for each in held]
        everything = bool(visible.all())
        lists = []
        for count, parts in found:
            frequency = (
                sum(len(rows) for rows, _ in parts) if everything else self._visible_holders(parts, visible)
            )
            idf = math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))
            lists.append(TermList(weight * count * idf, average, lengths, shortest, parts))
        return lists

    def _visible_holders(self, parts: Sequence[Postings], visible: NDArray[np.bool_]) -> int:
        """How many visible rows hold a term."""
        return sum(
            int(np.count_nonzero(visible[start:][rows]))
            for (start, _), (rows, _) in zip(self.blocks, parts, strict=True)
        )

    def _seen(self, field: str, visible: NDArray[np.bool_]) -> tuple[int, float]:
        """How many visible rows have the field, and its average length in them."""
        documents = total = 0
        for start, fields in self.blocks:
            held = fields[field]
            mask = visible[start : start + len(held.lengths)]
            some, length = held.documents if mask.all() else counted(held.lengths[mask])
            documents, total = documents + some, total + length
        return documents, total / max(1, documents)

    def _postings(self, field: str, term: str) -> list[Postings]:
        """Per block the rows that hold *term*, and its frequency in each."""
        held = [fields[field] for _, fields in self.blocks]
        if term.endswith(PREFIX_MARK):
            return [each.beginning(term[:-1]) if each.documents[0] else _NOTHING for each in held]
        return [each.postings(term) if each.documents[0] else _NOTHING for each in held]

    def _gather(self, field: str, term: str) -> NDArray[np.int64]:
        """All rows that hold *term*, ascending."""
        parts = [np.empty(0, np.int64)]
        for (start, _), (rows, _) in zip(self.blocks, self._postings(field, term), strict=True):
            if len(rows):
                parts.append(rows.astype(np.int64) + start)
        return np.concatenate(parts)

    def held(
        self,
        terms: Sequence[str],
        visible: NDArray[np.bool_],
        ordinals: NDArray[np.int64],
        *,
        fields: Collection[str],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How many visible rows hold each term in any of *fields*, and which of the rows at *ordinals* do.

        A term that ends in ``*`` stands for all terms with that beginning. Cost: the postings of the terms.

        Returns:
            frequencies int64, shape (len(terms),), and held, bool, shape (len(terms), len(ordinals)).
        """
        frequencies = np.zeros(len(terms), np.int64)
        held = np.zeros((len(terms), len(ordinals)), np.bool_)
        marked = np.zeros(self.rows, np.bool_)
        for place, term in enumerate(terms):
            found = [self._gather(field, term) for field in FIELDS if field in fields]
            for rows in found:
                # A row that another field gave before counts once.
                frequencies[place] += np.count_nonzero(visible[rows] & ~marked[rows])
                marked[rows] = True
            held[place] = marked[ordinals]
            for rows in found:
                marked[rows] = False
        return frequencies, held

    def terms_like(self, words: Sequence[str], fields: Collection[str]) -> set[str]:
        """Terms in *fields* that share three bytes in a row, or the first or last two, with one of *words*.

        Also terms of rows that the asker does not see: for a choice among visible rows, never to be shown.
        """
        runs = ByteRuns.of([word.encode() for word in words])
        return {
            term.decode()
            for _, held in self.blocks
            for field in FIELDS
            if field in fields
            for term in held[field].vocabulary.with_runs(runs)
        }

    def seen(
        self, terms: Sequence[str], visible: NDArray[np.bool_], *, fields: Collection[str]
    ) -> NDArray[np.bool_]:
        """Which of *terms* any visible row holds in any of *fields*; bool, shape (len(terms),)."""
        return np.array([self._is_seen(term, visible, fields) for term in terms], np.bool_)

    def _is_seen(self, term: str, visible: NDArray[np.bool_], fields: Collection[str]) -> bool:
        for field in fields:
            for (start, _), (rows, _) in zip(self.blocks, self._postings(field, term), strict=True):
                # The first rows decide most often; few terms are only held by rows that nobody sees.
                if len(rows) and (visible[start:][rows[:64]].any() or visible[start:][rows[64:]].any()):
                    return True
        return False

    def with_letters(
        self, wanted: Letters, visible: NDArray[np.bool_], *, fields: Collection[str]
    ) -> list[str]:
        """The terms that *wanted* admits and any visible row holds in any of *fields*, ascending."""
        found = {
            term.decode()
            for _, held in self.blocks
            for field in fields
            if held[field].documents[0]
            for term in held[field].with_letters(wanted)
        }
        return [term for term in sorted(found) if self._is_seen(term, visible, fields)]


def positions(begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """begins[0], begins[0] + 1, …, so many as counts[0] says; then the same from begins[1], and so on."""
    places: NDArray[np.int64] = (begins + counts - counts.cumsum()).repeat(counts)
    places += np.arange(len(places))
    return places
