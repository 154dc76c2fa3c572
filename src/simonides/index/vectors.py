"""Exact cosine search: a 1-bit scan chooses who is rescored from int8; small sets are scored whole.

scan:    Hamming distance between the signs of query and row, one 64-bit word of every row at a time
select:  the smallest distance that leaves at least *rescore* rows; every row within it survives, ties too
rescore: exact integer dot products of the int8 codes with a 16-bit query, times both scales

Any mask is exact: rows outside it are never counted. With at most max(rescore, 4,096) eligible rows all of
them are scored (SPEC, general settlement 10; EN-11). Nothing is learned from the data, so no row changes
another row's score. Cost at 10⁶ × 384 on one core: about 7 ms for the scan, 2 ms per 8,000 rescored.
Weakness: a row whose sign code is far from the query's is lost although its cosine is high; *rescore* sets
how often (bench/stages reports recall against float32).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.quantise import exact_dot, split_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALL_SCORED = 4_096
"""Up to so many eligible rows, every one is scored."""

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
        chosen = [
            (start, block, np.flatnonzero(eligible[start : start + len(block.scales)] & (block.scales > 0)))
            for start, block in self.blocks
            if block.codes.shape[1] == self.dimension
        ]
        wanted = max(rescore, depth)
        if sum(len(rows) for _, _, rows in chosen) > max(wanted, ALL_SCORED):
            chosen = _scan(chosen, query, wanted)
        halves, scale = split_query(query)
        ordinals: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        scores: list[NDArray[np.float64]] = [np.empty(0, np.float64)]
        for start, block, rows in chosen:
            if len(rows):
                dots = exact_dot(block.codes[rows], halves)
                ordinals.append(rows.astype(np.int64) + start)
                scores.append(dots * (block.scales[rows].astype(np.float64) * scale))
        rounded: NDArray[np.float64] = np.concatenate(scores).round(9)
        return np.concatenate(ordinals), rounded


_Chosen = list[tuple[int, VectorBlock, "NDArray[np.intp]"]]


def _scan(chosen: _Chosen, query: NDArray[np.float32], wanted: int) -> _Chosen:
    """Keep the rows within the smallest Hamming distance that leaves at least *wanted*."""
    code = sign_bits(np.where(query > 0, 1, -1).astype(np.int8)[np.newaxis, :])[:, 0]
    distances = [_distances(block, rows, code) for _, block, rows in chosen]
    histogram = np.zeros(len(query) + 1, np.int64)
    for distance in distances:
        histogram += np.bincount(distance, minlength=len(histogram))
    threshold = int(np.searchsorted(np.cumsum(histogram), wanted))
    return [
        (start, block, rows[distance <= threshold])
        for (start, block, rows), distance in zip(chosen, distances, strict=True)
    ]


def _distances(block: VectorBlock, rows: NDArray[np.intp], code: NDArray[np.uint64]) -> NDArray[np.uint16]:
    total = len(block.scales)
    sparse = len(rows) * _GATHER_BELOW < total
    distance = np.zeros(len(rows) if sparse else total, np.uint16)
    for word, mine in zip(block.bits, code, strict=True):
        distance += np.bitwise_count((word[rows] if sparse else word) ^ mine)
    if sparse or len(rows) == total:
        return distance
    picked: NDArray[np.uint16] = distance[rows]
    return picked
