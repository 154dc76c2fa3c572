"""How much two words look alike: the Jaccard similarity of their padded trigrams (JB-07).

similarity(a, b) = |A and B| / |A or B|,  A = the runs of three characters in ``$a$``

A word of fewer than three characters has no trigrams worth comparing and is like nothing.
Source: Ukkonen, Approximate string matching with q-grams and maximal matches (1992).
"""

from __future__ import annotations

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
