"""Vectors in any number, grown from some real ones, and the exact twin of a search among them.

    v = unit( (1 − t) · b + t · n + r · (m − o) + ε )

b is a real vector, n, m and o are near neighbours of it (so m − o is a difference as it occurs around b),
t ∈ [0.1, 0.6], and ε is white noise. Grown vectors lie where real ones lie and are as hard to tell apart:
``bench scale`` prints how well a plain 1-bit scan with 1,000 rescored does, which on a million vectors of a
real sentence encoder is near .85; data that is easier than that would flatter every approximate search.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from simonides.evaluation.scale_texts import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

HELD_OUT = 600
"""Real vectors that nothing is grown from: the queries."""

NEIGHBOURS = 24
# Of a million rows a plain 1-bit scan with 1,000 (2,000; 8,192) rescored keeps .846 (.923; .985) of the best.
_RESIDUAL = 0.9
_NOISE = 0.9
_STEP = 1_024


@dataclass(frozen=True)
class VectorMaker:
    """Grows the vectors of a bank.

    Attributes:
        real: unit vectors of an encoder, float32, shape (real ones, dimension); the last ``HELD_OUT`` are
            kept for queries.
        seed: of everything.
    """

    real: NDArray[np.float32]
    seed: int

    @property
    def queries(self) -> NDArray[np.float32]:
        """Held-out real vectors."""
        return self.real[-HELD_OUT:]

    @cached_property
    def _bases(self) -> NDArray[np.float32]:
        return self.real[:-HELD_OUT]

    @cached_property
    def _near(self) -> NDArray[np.int64]:
        """The nearest others of each base, int64, shape (bases, NEIGHBOURS)."""
        found = np.empty((len(self._bases), NEIGHBOURS), np.int64)
        for start in range(0, len(self._bases), _STEP):
            cosines = self._bases[start : start + _STEP] @ self._bases.T
            cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -2.0
            found[start : start + _STEP] = np.argpartition(-cosines, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        return found

    def block(self, number: int, rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Vectors of block *number*, and the base that each was grown from."""
        source = np.random.default_rng([self.seed, 4, number])
        bases = source.integers(0, len(self._bases), rows)
        near = self._near[bases[:, None], source.integers(0, NEIGHBOURS, (rows, 3))]
        share = source.uniform(0.1, 0.6, (rows, 1)).astype(np.float32)
        noise = source.standard_normal((rows, self.real.shape[1]), np.float32)
        grown = (1 - share) * self._bases[bases] + share * self._bases[near[:, 0]]
        grown += _RESIDUAL * (self._bases[near[:, 1]] - self._bases[near[:, 2]])
        grown += noise * np.float32(_NOISE / np.sqrt(self.real.shape[1]))
        return grown / np.linalg.norm(grown, axis=1, keepdims=True), bases

    def blocks(self, count: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All vectors of a bank of *count*: first row and vectors of each block."""
        for number in range(-(-count // BLOCK)):
            first = number * BLOCK
            yield first, self.block(number, min(BLOCK, count - first))[0]


def exact_nearest(
    queries: NDArray[np.float32],
    eligible: Iterable[NDArray[np.bool_]],
    blocks: Iterable[tuple[int, NDArray[np.float32]]],
    depth: int,
) -> list[NDArray[np.int64]]:
    """The *depth* eligible rows of highest cosine for each query, in float32: what a search is held against.

    Args:
        queries: unit vectors, shape (queries, dimension).
        eligible: per query, bool, shape (rows,).
        blocks: first row and unit vectors of neighbouring rows, ascending.
        depth: rows at most.

    Returns:
        per query, rows, best first.
    """
    masks = np.stack(list(eligible))
    rows = np.empty((len(queries), 0), np.int64)
    cosines = np.empty((len(queries), 0), np.float32)
    for first, vectors in blocks:
        stop = first + len(vectors)
        found = np.where(masks[:, first:stop], queries @ vectors.T, -np.inf)
        numbers = np.broadcast_to(np.arange(first, stop), found.shape)
        rows, cosines = np.hstack([rows, numbers]), np.hstack([cosines, found])
        if rows.shape[1] > depth:
            best = np.argpartition(-cosines, depth - 1, axis=1)[:, :depth]
            rows, cosines = np.take_along_axis(rows, best, 1), np.take_along_axis(cosines, best, 1)
    order = np.lexsort((rows, -cosines), axis=1)
    rows, cosines = np.take_along_axis(rows, order, 1), np.take_along_axis(cosines, order, 1)
    return [mine[np.isfinite(scores)] for mine, scores in zip(rows, cosines, strict=True)]


def plain_scan_recall(
    queries: NDArray[np.float32], exact: list[NDArray[np.int64]], signs: NDArray[np.uint8], rescored: int
) -> float:
    """Share of the exact rows that are among the *rescored* nearest by Hamming distance of signs alone.

    Args:
        queries: unit vectors, shape (queries, dimension).
        exact: from ``exact_nearest`` over all rows.
        signs: packed signs of all rows, shape (rows, dimension / 8).
        rescored: how many survive the scan.
    """
    words = signs.view(np.uint64)
    kept = []
    for query, wanted in zip(queries, exact, strict=True):
        mine = np.packbits(query > 0).view(np.uint64)
        distances = np.bitwise_count(words ^ mine).sum(axis=1, dtype=np.int64)
        # Whatever else lies at the distance of the last one counts as found.
        last = np.partition(distances, min(rescored, len(distances)) - 1)[min(rescored, len(distances)) - 1]
        kept.append(float((distances[wanted] <= last).mean()))
    return float(np.mean(kept))
