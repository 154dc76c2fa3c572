"""Sorted terms of one field in one block, and the searches for terms that look like a word.

Terms lie in one run of UTF-8 bytes, so a beginning is a range and a filter over all terms is a few array
operations. Cost of ``with_letters``: about 0.1 ms for the 10,000 terms that share a first letter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from simonides.records.letters import Letters


class Vocabulary(Sequence[bytes]):
    """Sorted terms in one run of UTF-8 bytes; a prefix is a range."""

    def __init__(self, joined: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.joined = joined
        self.offsets = offsets
        self._beginnings: NDArray[np.uint64] | None = None

    @classmethod
    def of(cls, terms: Iterable[bytes]) -> Vocabulary:
        listed = list(terms)
        offsets = np.zeros(len(listed) + 1, np.int64)
        np.cumsum([len(term) for term in listed], out=offsets[1:])
        return cls(np.frombuffer(b"".join(listed), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.joined[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        joined, offsets = self.joined.tobytes(), self.offsets.tolist()
        return (joined[start:stop] for start, stop in pairwise(offsets))

    def beginning(self, prefix: bytes) -> range:
        """Positions of the terms that begin with *prefix*."""
        # No byte of UTF-8 is 0xFF, so this sorts behind every term with the prefix.
        return range(bisect_left(self, prefix), bisect_left(self, prefix + b"\xff"))

    def with_letters(self, wanted: Letters) -> list[bytes]:
        """The terms that *wanted* admits, ascending."""
        places = self.beginning(wanted.first)
        if not places:
            return []
        offsets = self.offsets[places.start : places.stop + 1]
        lengths = np.diff(offsets)
        bits = np.uint32(1) << (self.joined[offsets[0] : offsets[-1]] & 31).astype(np.uint32)
        held = np.bitwise_or.reduceat(bits, offsets[:-1] - offsets[0])
        letters = np.uint32(wanted.letters)
        fits = (wanted.shortest <= lengths) & (lengths <= wanted.longest)
        fits &= np.bitwise_count(letters & ~held) <= wanted.missing
        fits &= np.bitwise_count(held & ~letters) <= wanted.extra
        return [self[places.start + int(place)] for place in np.flatnonzero(fits)]

    def with_runs(self, runs: ByteRuns) -> list[bytes]:
        """The terms that hold one of *runs*; a few more where a run lies across two terms."""
        starts, stops = self.offsets[:-1], self.offsets[1:]
        long = stops - starts >= 2
        found = np.zeros(len(self), np.bool_)
        if len(self.joined) >= 3:
            inside = np.flatnonzero(
                np.isin(_codes(self.joined, np.arange(len(self.joined) - 2), 3), runs.inside)
            )
            found[np.searchsorted(self.offsets, inside, side="right") - 1] = True
        found[long] |= np.isin(_codes(self.joined, starts[long], 2), runs.first)
        found[long] |= np.isin(_codes(self.joined, stops[long] - 2, 2), runs.last)
        return [self[int(place)] for place in np.flatnonzero(found)]

    def find(self, term: bytes) -> int | None:
        """Position of *term*, or ``None``."""
        if self._beginnings is None:
            self._beginnings = self._eight_bytes()
        keys = self._beginnings
        key = _first_eight(term)
        place = int(keys.searchsorted(key))
        if place == len(keys) or keys[place] != key:
            return None
        if place + 1 < len(keys) and keys[place + 1] == key:
            place = bisect_left(self, term, place, int(keys.searchsorted(key, side="right")))
        return place if place < len(keys) and self[place] == term else None

    def _eight_bytes(self) -> NDArray[np.uint64]:
        """The first eight bytes of each term as a number, zeros behind short ones, to search in."""
        padded = np.concatenate([self.joined, np.zeros(8, np.uint8)])
        starts, lengths = self.offsets[:-1], np.diff(self.offsets)
        keys = np.zeros(len(self), np.uint64)
        for place in range(8):
            byte = np.where(lengths > place, padded[starts + place], 0).astype(np.uint64)
            keys = (keys << np.uint64(8)) | byte
        return keys


@lru_cache(maxsize=4_096)
def _first_eight(term: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(term[:8].ljust(8, b"\0"), "big"))


@dataclass(frozen=True, slots=True)
class ByteRuns:
    """Runs of bytes as numbers: any three in a row, the first two and the last two of words."""

    inside: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, words: Sequence[bytes]) -> ByteRuns:
        long = [word for word in words if len(word) >= 2]
        triples = {word[at : at + 3] for word in long for at in range(len(word) - 2)}
        return cls(*(_numbers(runs) for runs in (triples, {w[:2] for w in long}, {w[-2:] for w in long})))


def _numbers(runs: Collection[bytes]) -> NDArray[np.int64]:
    return np.array(sorted(int.from_bytes(run, "big") for run in runs), np.int64)


def _codes(joined: NDArray[np.uint8], places: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """The *length* bytes from each place on as one number."""
    codes = np.zeros(len(places), np.int64)
    for offset in range(length):
        codes = (codes << 8) | joined[places + offset]
    return codes
