"""Finds memories by words that look alike: for typing slips that no term reaches (JB-07).

similarity(m) = the largest Jaccard similarity of padded trigrams (``text.trigrams``) between a word of the
query and a word of m: of its text, its context, or the last part of its path. Words are raw, not stemmed.

With at most ``checks`` eligible memories all are read, so the answer is exact. Of more, those are read that
hold a term with the most similar trigrams; only a word that shares no trigram with its own stem can be missed
then, and what lies beyond the bound, which the note says.
Cost: about 0.4 s CPU per 10⁵ terms of the vocabulary where there are more than ``checks`` memories, and the
words of the memories read, each different word once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from simonides.text.query_dsl.loosen import bare_words
from simonides.text.trigrams import jaccard, trigrams

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, View
    from simonides.records.memory import Memory

MOST_WORDS = 32
"""Words of the query that are compared."""

_READ_AT_ONCE = 256
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
    """Eligible memories with a word like one of *words*.

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
    for start in range(0, len(ordinals), _READ_AT_ONCE):
        yield from view.memories(ordinals[start : start + _READ_AT_ONCE].tolist())
