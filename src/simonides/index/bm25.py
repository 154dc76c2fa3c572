"""BM25 over the postings of several blocks: every row that holds a term, or surely the best of them.

Few postings are added up for all blocks at once. Many, as frequent words have, are gone through in windows of
neighbouring blocks, whose sums stay in the cache; and where only the best are wanted, every window after the
first leaves out what cannot be among them, as MaxScore and block-max WAND do:

    bound(t) = what t gives to a row with the window's highest tf of t and the shortest length
    the terms go by falling bound; a row stays only if what it has so far + Σ bounds of the terms to come
    reaches the depth-th best score of the windows before

Rows that may be are scored in full, in the order of fields and terms, so that every score is the same to the
last bit however many windows there are and whatever was left out.
Cost: the postings of the terms at some 15 ns each; once few rows stay, a search per row and term.
Sources: Turtle and Flood, Query Evaluation: Strategies and Optimizations (1995); Ding and Suel, Faster Top-k
Document Retrieval Using Block-Max Indexes (2011).
Weakness: words that are all about equally frequent leave little out until a window has shown a good score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Postings = tuple[NDArray[np.int32], NDArray[np.uint8]]
    """Rows in a block, ascending, and the frequency in each."""

AT_ONCE = 65_536
"""Postings from which on a window is closed."""

_SLACK = 1e-8
"""Scores are rounded to 1e-9, and small sums in another order differ by less."""

_RELATIVE_SLACK = 1e-12
"""The same for large sums, of some thousand terms at most."""

_SEARCH_COST = 4
"""Of looking one row up in the postings of a term, by the cost of one posting."""


@dataclass(frozen=True, slots=True)
class TermList:
    """One term of the query in one field; what is listed is listed per block.

    Attributes:
        factor: weight · n_t · idf.
        average: length of the field in the visible rows.
        lengths: terms per row.
        shortest: the least length that is not 0.
    """

    factor: float
    average: float
    lengths: Sequence[NDArray[np.int32]]
    shortest: Sequence[int]
    postings: Sequence[Postings]


@dataclass(frozen=True, slots=True)
class Saturation:
    """What a term gives to a row; b and k1 as in ``postings``."""

    k1: float
    b: float

    def of(
        self, found: TermList, frequencies: NDArray[np.uint8], lengths: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Per row: factor · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average))."""
        tf = frequencies.astype(np.float64)
        norm = self.k1 * (1.0 - self.b + self.b * lengths / found.average)
        gives: NDArray[np.float64] = found.factor * tf * (self.k1 + 1.0) / (tf + norm)
        return gives


@dataclass(frozen=True, slots=True)
class _Window:
    """One term in the blocks of a window.

    Attributes:
        rows: counted from the window's first, ascending.
        frequencies: per posting.
        lengths: per row (*by_row*) of the window where it is one block, else per posting.
        shortest: the least length of a row in the window.
    """

    found: TermList
    rows: NDArray[np.int32] | NDArray[np.int64]
    frequencies: NDArray[np.uint8]
    lengths: NDArray[np.int32]
    by_row: bool
    shortest: int

    def gives(self, saturation: Saturation, places: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        """What the postings at *places* give."""
        lengths = self.lengths[self.rows[places]] if self.by_row else self.lengths[places]
        return saturation.of(self.found, self.frequencies[places], lengths)

    def bound(self, saturation: Saturation) -> float:
        """The most that it gives to any row. Rounding keeps the order, so no row gets more."""
        most, least = self.frequencies.max(keepdims=True), np.array([self.shortest], np.int32)
        return float(saturation.of(self.found, most, least)[0])


def score_lists(
    lists: Sequence[TermList],
    starts: Sequence[int],
    eligible: NDArray[np.bool_],
    saturation: Saturation,
    depth: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Eligible rows that hold a term, with their scores.

    Args:
        lists: in the order in which what they give is added up.
        starts: first row of each block, ascending.
        eligible: bool, shape (rows,).
        depth: so many of the best are surely among them, with all ties; ``None`` = all rows.

    Returns:
        ordinals int64 ascending and scores float64 rounded to 1e-9.
    """
    edges = [*starts, len(eligible)]
    ordinals: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    scores: list[NDArray[np.float64]] = [np.empty(0, np.float64)]
    best = scores[0]
    for first, stop in _windows(lists, len(starts)):
        begin, end = edges[first], edges[stop]
        window = [part for part in (_window(each, first, stop, edges) for each in lists) if len(part.rows)]
        mask = eligible[begin:end]
        threshold = float(best.min()) if depth and len(best) == depth else 0.0
        rows, found = _best_rows(window, mask, saturation, threshold)
        ordinals.append(rows + begin)
        scores.append(found)
        if depth:
            best = np.concatenate([best, found])
            best = best if len(best) <= depth else np.partition(best, len(best) - depth)[-depth:]
    every, score = np.concatenate(ordinals), np.concatenate(scores)
    if depth and len(score) > depth:
        kept = score >= best.min()
        return every[kept], score[kept]
    return every, score


def _windows(lists: Sequence[TermList], blocks: int) -> list[tuple[int, int]]:
    """Neighbouring blocks with ``AT_ONCE`` postings or a few more each: first, and the one after the last."""
    found: list[tuple[int, int]] = []
    first = held = 0
    for block in range(blocks):
        held += sum(len(each.postings[block][0]) for each in lists)
        if held >= AT_ONCE or block == blocks - 1:
            if held:
                found.append((first, block + 1))
            first, held = block + 1, 0
    return found


def _window(found: TermList, first: int, stop: int, edges: Sequence[int]) -> _Window:
    held = [block for block in range(first, stop) if len(found.postings[block][0])]
    shortest = min((found.shortest[block] for block in held), default=0)
    if stop == first + 1:
        rows, counts = found.postings[first]
        return _Window(found, rows, counts, found.lengths[first], True, shortest)
    parts = [(edges[block] - edges[first], found.lengths[block], *found.postings[block]) for block in held]
    return _Window(
        found,
        np.concatenate(
            [np.empty(0, np.int64), *(rows.astype(np.int64) + start for start, _, rows, _ in parts)]
        ),
        np.concatenate([np.empty(0, np.uint8), *(counts for _, _, _, counts in parts)]),
        np.concatenate([np.empty(0, np.int32), *(lengths[rows] for _, lengths, rows, _ in parts)]),
        False,
        shortest,
    )


def _best_rows(
    window: Sequence[_Window], eligible: NDArray[np.bool_], saturation: Saturation, threshold: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Eligible rows of a window whose score reaches *threshold*, and their scores, rounded."""
    wanted = threshold - _SLACK - _RELATIVE_SLACK * abs(threshold)
    # Among few eligible rows, adding up their postings alone is cheaper.
    if not wanted > 0.0 or int(np.count_nonzero(eligible)) < len(eligible) // 2:
        rows, scores = _all_rows(window, eligible, saturation)
    else:
        rows = _may_reach(window, eligible, saturation, wanted)
        scores = np.zeros(len(rows))
        for part in window:
            held, places = _places(part, rows)
            scores[held] += part.gives(saturation, places)
    scores = scores.round(9)
    reached = scores >= threshold
    return rows[reached], scores[reached]


def _all_rows(
    window: Sequence[_Window], eligible: NDArray[np.bool_], saturation: Saturation
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    scores = np.zeros(len(eligible))
    touched = np.zeros(len(eligible), np.bool_)
    whole = bool(eligible.all())
    for part in window:
        mine = slice(None) if whole else np.flatnonzero(eligible[part.rows])
        rows = part.rows[mine]
        scores[rows] += part.gives(saturation, mine)
        touched[rows] = True
    ordinals = np.flatnonzero(touched)
    return ordinals, scores[ordinals]


def _may_reach(
    window: Sequence[_Window], eligible: NDArray[np.bool_], saturation: Saturation, wanted: float
) -> NDArray[np.int64]:
    """Eligible rows that may score *wanted*, which is above 0; the terms that can give most come first."""
    ranked = sorted(((part.bound(saturation), place) for place, part in enumerate(window)), reverse=True)
    rest = math.fsum(bound for bound, _ in ranked)
    so_far = np.zeros(len(eligible))
    rows: NDArray[np.int64] | None = None
    for bound, place in ranked:
        part = window[place]
        if rows is not None and len(rows) * _SEARCH_COST < len(part.rows):
            held, places = _places(part, rows)
            so_far[rows[held]] += part.gives(saturation, places)
        else:
            so_far[part.rows] += part.gives(saturation, slice(None))
        rest -= bound
        if rows is not None:
            rows = rows[so_far[rows] >= wanted - rest]
        elif rest < wanted:
            # Whatever no term so far holds cannot reach it any more.
            rows = np.flatnonzero(eligible & (so_far >= wanted - rest))
    return np.empty(0, np.int64) if rows is None else rows


def _places(part: _Window, rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of *rows* hold the term, and where their postings are."""
    places = np.searchsorted(part.rows, rows.astype(part.rows.dtype))
    places[places == len(part.rows)] = 0
    held = np.flatnonzero(part.rows[places] == rows)
    return held, places[held]
