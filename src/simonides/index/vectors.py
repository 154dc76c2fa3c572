"""Exact cosine search: a 1-bit scan chooses who is rescored from int8; small sets are scored whole.

scan:    Hamming distance between the signs of query and row, one 64-bit word of every row at a time
select:  the smallest distance that leaves at least *rescore* · ∛(eligible rows / 10⁶) rows (*rescore* from
         10⁶ on); every row within it survives, ties too
rescore: exact integer dot products of the int8 codes with a 16-bit query, times both scales

Any mask is exact: rows outside it are never counted. With at most max(rescore, 4,096) eligible rows all of
them are scored (SPEC, general settlement 10; EN-11). Nothing is learned from the data, so no row changes
another row's score. Cost at 10⁶ × 384 on one core: about 7 ms for the scan, 2 ms per 8,000 rescored.
Weakness: a row whose sign code is far from the query's is lost although its cosine is high; *rescore* sets
how often (bench/stages reports recall against float32).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.quantise import exact_dot, split_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALL_SCORED = 4_096
"""Up to so many eligible rows, every one is scored."""

FULL_SIZE = 1_000_000
"""Eligible rows from which as many are rescored as was asked for."""

_SAMPLED = 64
_WORDS_IN_A_BYTE = 3
"""Words whose differing bits, 64 each at most, are counted together in one byte."""
_GATHER_BELOW = 16
"""With fewer than 1/16 of a block eligible, picking their codes is cheaper than scanning the block."""


def sign_bits(codes: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Signs as bits by column: uint64, shape (⌈dimension / 64⌉, rows)."""
    rows, dimension = codes.shape
    words = -(-dimension // 64)
    packed = np.zeros((rows, words * 8), np.uint8)
    packed[:, : -(-dimension // 8)] = np.packbits(codes > 0, axis=1)
    return np.ascontiguousarray(packed.view("<u8").T).astype(np.uint64, copy=False)


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """The vectors of neighbouring rows.

    Attributes:
        codes: int8, shape (rows, dimension).
        scales: float32, shape (rows,); 0 = the row has no vector.
        bits: from ``sign_bits(codes)``.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    bits: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class BlockVectors:
    """Vectors of a whole snapshot: per block, its first ordinal and its vectors."""

    blocks: tuple[tuple[int, VectorBlock], ...]
    dimension: int

    def nearest(
        self, query: NDArray[np.float32], eligible: NDArray[np.bool_], *, depth: int, rescore: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """At least the *depth* nearest eligible rows, unordered. See ``protocols.Vectors``."""
        here = [
            (start, block, eligible[start : start + len(block.scales)] & (block.scales > 0))
            for start, block in self.blocks
            if block.codes.shape[1] == self.dimension
        ]
        rows = sum(int(np.count_nonzero(mask)) for _, _, mask in here)
        wanted = max(survivors(rescore, rows), depth)
        chosen = (
            _scan(here, query, wanted)
            if rows > max(wanted, ALL_SCORED)
            else [(start, block, np.flatnonzero(mask)) for start, block, mask in here]
        )
        halves, scale = split_query(query)
        ordinals: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        scores: list[NDArray[np.float64]] = [np.empty(0, np.float64)]
        for start, block, picked in chosen:
            if len(picked):
                dots = exact_dot(block.codes.take(picked, axis=0), halves)
                ordinals.append(picked.astype(np.int64) + start)
                scores.append(dots * (block.scales[picked].astype(np.float64) * scale))
        rounded: NDArray[np.float64] = np.concatenate(scores).round(9)
        return np.concatenate(ordinals), rounded


def survivors(rescore: int, rows: int) -> int:
    """How many of *rows* are rescored: all up to *rescore*, and beyond in proportion to ∛rows up to 10⁶.

    What is lost of the 100 nearest depends on how many others lie between them, which grows far more slowly
    than the rows; ``bench/scale.py`` reports recall@100 against float32 at each size.
    """
    if rescore >= rows:
        return rows
    return min(rescore, math.ceil(rescore * math.cbrt(rows / FULL_SIZE)))


_Eligible = list[tuple[int, VectorBlock, "NDArray[np.bool_]"]]
_Chosen = list[tuple[int, VectorBlock, "NDArray[np.intp]"]]


def _scan(here: _Eligible, query: NDArray[np.float32], wanted: int) -> _Chosen:
    """Keep the rows within the smallest Hamming distance that leaves at least *wanted*."""
    code = sign_bits(np.where(query > 0, 1, -1).astype(np.int8)[np.newaxis, :])[:, 0]
    found = [_distances(block, mask, code) for _, block, mask in here]
    near = _within(found, _guess([distance for _, distance in found], wanted))
    if sum(len(distance) for _, distance in near) < wanted:
        near = found
    histogram = sum((np.bincount(distance, minlength=len(query) + 1) for _, distance in near), _NO_COUNTS)
    threshold = int(np.searchsorted(np.cumsum(histogram), wanted))
    chosen: _Chosen = []
    for (start, block, _), (rows, distance) in zip(here, near, strict=True):
        kept = np.flatnonzero(distance <= threshold)
        chosen.append((start, block, kept if rows is None else rows[kept]))
    return chosen


_NO_COUNTS = np.zeros(1, np.int64)
_Distances = list[tuple["NDArray[np.intp] | None", "NDArray[np.uint16]"]]
"""Per block its rows and their distances; no rows = all of them."""


def _guess(distances: list[NDArray[np.uint16]], wanted: int) -> int:
    """A distance that most likely leaves *wanted* rows and not many more, from a sample.

    Only to look at few: whoever guesses too low is told by the count, and the threshold itself is exact.
    """
    sample = np.concatenate([distance[::_SAMPLED] for distance in distances])
    enough = int(wanted / _SAMPLED * 1.2) + _SAMPLED
    if enough >= len(sample):
        return int(sample.max(initial=0))
    return int(np.partition(sample, enough)[enough])


def _within(found: _Distances, threshold: int) -> _Distances:
    kept: _Distances = []
    for rows, distance in found:
        near = np.flatnonzero(distance <= threshold)
        kept.append((near if rows is None else rows[near], distance[near]))
    return kept


def _distances(
    block: VectorBlock, mask: NDArray[np.bool_], code: NDArray[np.uint64]
) -> tuple[NDArray[np.intp] | None, NDArray[np.uint16]]:
    """The rows of *mask* (``None`` = all) and their Hamming distances."""
    rows = None if mask.all() else np.flatnonzero(mask)
    sparse = rows is not None and len(rows) * _GATHER_BELOW < len(mask)
    distance = np.zeros(len(rows) if sparse and rows is not None else len(mask), np.uint16)
    for first in range(0, len(code), _WORDS_IN_A_BYTE):
        words = slice(first, first + _WORDS_IN_A_BYTE)
        differing = np.zeros(len(distance), np.uint8)
        for word, mine in zip(block.bits[words], code[words], strict=True):
            differing += np.bitwise_count((word[rows] if sparse else word) ^ mine)
        distance += differing
    return rows, distance if sparse or rows is None else distance[rows]
