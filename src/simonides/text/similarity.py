"""How alike two words are: by edit distance, and by trigrams.

**Distance**: optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. One word
is compared with many: its characters' places are bit masks, and one column of the table is a few operations
on whole numbers. Cost: linear in the other word.
Source: Hyyrö, A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances (2003).

**Similarity**: the Jaccard similarity of padded trigrams (JB-07), |A and B| / |A or B|, where A is the runs
of three characters in ``$a$``. A word of fewer than three characters is like nothing.
Source: Ukkonen, Approximate string matching with q-grams and maximal matches (1992).
"""

from __future__ import annotations


class EditPattern:
    """A word that others are compared with."""

    def __init__(self, word: str) -> None:
        self._length = len(word)
        self._all = (1 << self._length) - 1
        self._places: dict[str, int] = {}
        for place, character in enumerate(word):
            self._places[character] = self._places.get(character, 0) | 1 << place

    def distance(self, other: str) -> int:
        """Between the word and *other*."""
        rises, falls = self._column(other)
        return len(other) + rises.bit_count() - falls.bit_count()

    def to_beginning(self, other: str) -> tuple[int, int]:
        """The least distance of *other* from a beginning of the word, and how much of the word is left."""
        rises, falls = self._column(other)
        distance = best = len(other)
        left = self._length
        for place in range(self._length):
            distance += (rises >> place & 1) - (falls >> place & 1)
            if distance <= best:
                best, left = distance, self._length - place - 1
        return best, left

    def _column(self, other: str) -> tuple[int, int]:
        """Where the last column of the table rises and falls by one, from place to place of the word."""
        rises, falls, diagonal, before = self._all, 0, 0, 0
        for character in other:
            here = self._places.get(character, 0)
            swapped = (~diagonal & here) << 1 & before
            diagonal = ((((here & rises) + rises) ^ rises) | here | falls | swapped) & self._all
            right = falls | ~(diagonal | rises)
            down = diagonal & rises
            right = right << 1 | 1
            rises = (down << 1 | ~(diagonal | right)) & self._all
            falls = right & diagonal & self._all
            before = here
        return rises, falls


SHORTEST = 3
"""Characters of a word that has trigrams, at least."""


def trigrams(word: str) -> frozenset[str]:
    """The trigrams of *word* between ``$`` signs; empty for a word of fewer than three characters."""
    if len(word) < SHORTEST:
        return frozenset()
    padded = f"${word}$"
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared trigrams over all trigrams, in [0, 1]; 0 when both are empty."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
