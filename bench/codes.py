"""Kinds of codes that a scan could read, each with its search for candidates; ``run_codes`` measures them.

    hamming             one bit per dimension, the differing signs counted: the engine's own
    asymmetric          the same bits, q̂ = w · sign(q) with w of four bits: Σ 2^b · popcount(x ⊕ q ∧ w_b)
    asymmetric_rotated  the same after a random rotation, divided by ‖v‖₁: the estimator of RaBitQ
    two_bits            signs and, as a second plane, which magnitudes are large, against w of two bits
    staged              hamming keeps 16/3 as many, asymmetric with w of three bits chooses among them
    prefix              hamming over the first half of the dimensions keeps 16 times as many, then over all
    turbovec_2, _4      the library's scan of 2- and 4-bit codes, one index over all rows
    turbovec_2_blocks   an index per block, as a merge leaves blocks

Sources: Gao and Long, RaBitQ (2024); Zandieh et al., TurboQuant (2025); Kusupati et al., Matryoshka
Representation Learning (2022). Nothing but ``hamming`` is part of the engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.index.vectors import sign_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Search = Callable[[NDArray[np.float32], int], NDArray[np.int64]]
    """Query and how many candidates → their rows."""

BLOCK = 65_536
WIDE = 16 / 3
_PREFIX_WIDE = 16
_PEAK = 0.8
"""Of the largest magnitude of a query: what is above it gets the highest weight."""
_LARGE = 0.98
"""Of the root mean square: where the two levels of a normal variable part."""


@dataclass(frozen=True)
class Rows:
    """What a search is prepared from.

    Attributes:
        codes: int8, shape (rows, dimension).
        scales: float32, shape (rows,).
        bits: per block of ``BLOCK`` rows, from ``sign_bits``.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    bits: tuple[NDArray[np.uint64], ...]

    @classmethod
    def of(cls, codes: NDArray[np.int8], scales: NDArray[np.float32]) -> Rows:
        firsts = range(0, len(codes), BLOCK)
        return cls(codes, scales, tuple(sign_bits(codes[first : first + BLOCK]) for first in firsts))

    def floats(self, first: int) -> NDArray[np.float32]:
        """One block as float32."""
        rows = slice(first, first + BLOCK)
        return self.codes[rows].astype(np.float32) * self.scales[rows, np.newaxis]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of codes.

    Attributes:
        name: as in the module docstring.
        bytes_per_vector: that a scan reads, or keeps in memory for it.
        kept: numbers of candidates that are measured, for a million rows.
        search: finds them.
    """

    name: str
    bytes_per_vector: float
    kept: tuple[int, ...]
    search: Search


def kinds(rows: Rows, turbovec: Any | None) -> list[Kind]:
    """All kinds but the engine's own, ready to search; those of *turbovec* where it is installed."""
    dimension = rows.codes.shape[1]
    bits, fewer, usual = dimension / 8, (1_024, 2_048, 4_096), (2_048, 3_072, 4_096)
    found = [
        Kind("asymmetric", bits, fewer, _asymmetric(rows.bits, 4)),
        Kind("asymmetric_rotated", bits + 4, fewer, _rotated(rows)),
        Kind("two_bits", 2 * bits + 4, (512, 1_024, 2_048), _two_bits(rows)),
        Kind("staged", bits, usual, _staged(rows.bits)),
        Kind("prefix", bits, (4_096, 8_192, 16_384), _prefix(rows.bits)),
    ]
    if turbovec is not None:
        for width in (2, 4):
            index, size = _turbovec(turbovec, rows, width, len(rows.codes))
            found.append(Kind(f"turbovec_{width}", size, (200, 400, 800), _library(index)))
        index, size = _turbovec(turbovec, rows, 2, BLOCK)
        found.append(Kind("turbovec_2_blocks", size, (200, 400, 800), _library(index)))
    return found


def plane(mask: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Which dimensions, as words in the order of ``sign_bits``."""
    return sign_bits(np.where(mask, 1, -1).astype(np.int8)[np.newaxis, :])[:, 0]


def _weights(query: NDArray[np.float32], planes: int) -> list[NDArray[np.uint64]]:
    """Magnitudes as whole numbers of so many bits, a plane per bit, the lowest first."""
    most = 2**planes - 1
    sizes = np.abs(query)
    whole = np.minimum(np.rint(sizes / (_PEAK * sizes.max()) * most), most).astype(np.int64)
    return [plane((whole >> place & 1).astype(np.bool_)) for place in range(planes)]


def _weighted(
    words: NDArray[np.uint64], signs: NDArray[np.uint64], planes: list[NDArray[np.uint64]]
) -> NDArray[np.uint16]:
    """Weighted differing signs per row."""
    distance = np.zeros(words.shape[1], np.uint16)
    for word, sign, *mine in zip(words, signs, *planes, strict=True):
        differing = word ^ sign
        for place, weight in enumerate(mine):
            distance += np.bitwise_count(differing & weight).astype(np.uint16) << np.uint16(place)
    return distance


def _hamming(words: NDArray[np.uint64], signs: NDArray[np.uint64]) -> NDArray[np.uint16]:
    distance = np.zeros(words.shape[1], np.uint16)
    for word, sign in zip(words, signs, strict=True):
        distance += np.bitwise_count(word ^ sign)
    return distance


def _nearest(distance: NDArray[Any], kept: int) -> NDArray[np.int64]:
    """Rows within the smallest distance that leaves *kept*, by the engine's way: a guess, then a count."""
    if kept >= len(distance):
        return np.arange(len(distance))
    sample = distance[::64]
    enough = int(kept / 64 * 1.2) + 64
    near = np.arange(len(distance))
    if enough < len(sample):
        guessed = np.flatnonzero(distance <= np.partition(sample, enough)[enough])
        near = guessed if len(guessed) >= kept else near
    threshold = np.partition(distance[near], kept - 1)[kept - 1]
    chosen: NDArray[np.int64] = near[distance[near] <= threshold]
    return chosen


def _asymmetric(bits: tuple[NDArray[np.uint64], ...], planes: int) -> Search:
    def search(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        signs, weights = plane(query > 0), _weights(query, planes)
        return _nearest(np.concatenate([_weighted(words, signs, weights) for words in bits]), kept)

    return search


def _rotated(rows: Rows) -> Search:
    dimension = rows.codes.shape[1]
    noise = np.random.default_rng(0).standard_normal((dimension, dimension))
    rotation = np.linalg.qr(noise)[0].astype(np.float32)
    bits, sizes = [], []
    for first in range(0, len(rows.codes), BLOCK):
        turned = rows.floats(first) @ rotation
        bits.append(sign_bits(np.where(turned > 0, 1, -1).astype(np.int8)))
        sizes.append(np.abs(turned).sum(axis=1))

    def search(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        turned = query @ rotation
        signs, weights = plane(turned > 0), _weights(turned, 4)
        whole = sum(int(np.bitwise_count(each).sum()) << place for place, each in enumerate(weights))
        found = [
            (2 * _weighted(words, signs, weights).astype(np.float32) - whole) / size
            for words, size in zip(bits, sizes, strict=True)
        ]
        return _nearest(np.concatenate(found), kept)

    return search


def _two_bits(rows: Rows) -> Search:
    large, factors = [], []
    for first in range(0, len(rows.codes), BLOCK):
        sizes = np.abs(rows.floats(first))
        high = sizes > _LARGE * np.sqrt((sizes**2).mean(axis=1, keepdims=True))
        large.append(sign_bits(np.where(high, 1, -1).astype(np.int8)))
        # What the code has in common with its own row, as in RaBitQ.
        factors.append((np.where(high, 3.0, 1.0) * sizes).sum(axis=1).astype(np.float32))

    def search(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        signs, weights = plane(query > 0), _weights(query, 2)
        none = np.zeros_like(signs)
        found = []
        for words, high, factor in zip(rows.bits, large, factors, strict=True):
            alike = _weighted(words, signs, weights).astype(np.float32)
            both = _weighted((words ^ signs[:, np.newaxis]) & high, none, weights).astype(np.float32)
            held = _weighted(high, none, weights).astype(np.float32)
            # Levels 1 and 3: Σ w · (1 + 2 · large) over agreeing signs less the same over differing ones.
            whole = sum(int(np.bitwise_count(each).sum()) << place for place, each in enumerate(weights))
            found.append(-(whole - 2 * alike + 2 * (held - 2 * both)) / factor)
        return _nearest(np.concatenate(found), kept)

    return search


def _staged(bits: tuple[NDArray[np.uint64], ...]) -> Search:
    def search(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        signs, weights = plane(query > 0), _weights(query, 3)
        near = _nearest(np.concatenate([_hamming(words, signs) for words in bits]), math.ceil(kept * WIDE))
        return near[_nearest(_weighted(_gathered(bits, near), signs, weights), kept)]

    return search


def _prefix(bits: tuple[NDArray[np.uint64], ...]) -> Search:
    half = len(bits[0]) // 2

    def search(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        signs = plane(query > 0)
        first = [_hamming(words[:half], signs[:half]) for words in bits]
        near = _nearest(np.concatenate(first), kept * _PREFIX_WIDE)
        return near[_nearest(_hamming(_gathered(bits, near), signs), kept)]

    return search


def _gathered(bits: tuple[NDArray[np.uint64], ...], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Words of *rows*, which ascend."""
    edges = np.searchsorted(rows, np.arange(len(bits) + 1) * BLOCK)
    parts = [words.take(rows[edges[n] : edges[n + 1]] - n * BLOCK, axis=1) for n, words in enumerate(bits)]
    return np.concatenate(parts, axis=1)


def _turbovec(library: Any, rows: Rows, width: int, step: int) -> tuple[list[tuple[int, Any]], float]:
    """Indexes over *step* rows each with their first rows, and their bytes per vector."""
    made = []
    for start in range(0, len(rows.codes), step):
        index = library.TurboQuantIndex(dim=rows.codes.shape[1], bit_width=width)
        for first in range(start, min(start + step, len(rows.codes)), BLOCK):
            index.add(rows.floats(first))
        index.prepare()
        made.append((start, index))
    return made, sum(len(index.to_bytes()) for _, index in made) / len(rows.codes)


def _library(indexes: list[tuple[int, Any]]) -> Search:
    def search(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        # Of several indexes each gives twice its share, so that neighbours may lie together.
        each = kept if len(indexes) == 1 else math.ceil(2 * kept / len(indexes))
        found = [(start, *index.search(query[np.newaxis, :], k=each)) for start, index in indexes]
        scores = np.concatenate([scores[0] for _, scores, _ in found])
        rows = np.concatenate([places[0] + start for start, _, places in found])
        if len(rows) <= kept:
            return np.sort(rows)
        return np.sort(rows[np.argpartition(-scores, kept - 1)[:kept]])

    return search
