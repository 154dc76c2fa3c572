"""Cosine search over quantised vectors, MaxSim over token codes, and their matrix products.

**Products** take a few rows at a time, so that BLAS stays on the thread that asks: of some hundred rows, a
product ends no sooner on several threads, which then spin and wait for more (on two cores a recall at 10⁴
memories took twice the CPU), and the number of BLAS threads belongs to the whole process.

**Vectors** are kept as ``codes`` (int8, in [-127, 127]) and ``scale`` with ``v ≈ codes · scale``. A query is
a 16-bit integer vector split into a high and a low part; both dot products against int8 codes stay below 2²⁴
for up to 512 dimensions, so float32 arithmetic returns the exact integer whatever the order of the additions.
So a score does not depend on how rows are batched: deleting and rebuilding the index gives the same bytes
(DF-06). Above 512 dimensions float64 is used.

**Search**: a 1-bit scan chooses who is rescored from int8; small sets are scored whole.

scan:    Hamming distance between the signs of query and row, one 64-bit word of every row at a time
select:  the smallest distance that leaves at least *rescore* · ∛(eligible rows / 10⁶) rows (*rescore* from
         10⁶ on); every row within it survives, ties too
rescore: exact integer dot products of the int8 codes with a 16-bit query, times both scales

Any mask is exact: rows outside it are never counted. With at most max(rescore, 4,096) eligible rows all of
them are scored (SPEC, general settlement 10; EN-11). Nothing is learned from the data, so no row changes
another row's score. Cost at 10⁶ × 384 on one core: about 7 ms for the scan, 2 ms per 8,000 rescored.
Weakness: a row whose sign code is far from the query's is lost although its cosine is high; *rescore* sets
how often (bench/stages reports recall against float32).

**MaxSim**: a memory's token vectors in one bit per dimension, and how well each answers a query's tokens.

    code(t)      the signs of t − mean, 48 bytes for 384 dimensions; *mean* is a constant of the embedder
    MaxSim(q, m) = mean over the query's tokens i of max over the memory's tokens t of  qᵢ · sign(t) / √d

The query's tokens are rounded to int8, so every product is a whole number below 2²⁴ and exact in float32: a
memory's score depends neither on the memories beside it nor on the order of summing.
Cost: 100 memories of 36 tokens against 15 query tokens of 384 dimensions take 3 to 4.5 ms of CPU.
Source: Khattab and Zaharia, ColBERT (2020); one bit per dimension keeps recall@10 at .702 of .703 on LoCoMo.
Weakness: signs forget lengths; short function words count as much as names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.index.columns import Growable
from simonides.index.postings import positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_MULTIPLICATIONS = 400_000
"""Of one part; OpenBLAS 0.3 wakes threads from about 10⁶."""


def rows_at_once(terms: int, columns: int) -> int:
    """How many rows of so many *terms* go into one part against so many *columns*; at least 1."""
    return max(1, _MULTIPLICATIONS // max(1, terms * columns))


def products_of(rows: NDArray[Any]) -> NDArray[Any]:
    """``rows @ rows.T`` of float rows, in squares: one half is computed, the other is its mirror."""
    count, terms = rows.shape
    # Of all parts that are as large, a square reads the least.
    side = max(1, math.isqrt(_MULTIPLICATIONS // max(1, terms)))
    found = np.empty((count, count), rows.dtype)
    for start in range(0, count, side):
        stop = start + side
        # A transposed view would wake threads much earlier.
        columns = np.ascontiguousarray(rows[start:stop].T)
        for first in range(0, stop, side):
            np.matmul(rows[first : first + side], columns, out=found[first : first + side, start:stop])
        found[start:stop, :start] = found[:start, start:stop].T
    return found


_LIMIT = 127
_QUERY_LIMIT = 32_767
_EXACT_IN_FLOAT32 = 512
_LONGEST = 1e19


def quantise(vector: NDArray[np.float32]) -> tuple[NDArray[np.int8], float] | None:
    """Unit-normalise and store as int8: codes and scale.

    ``None`` = no vector: it is not finite, all zero, or 1e19 long or longer (whose square overflows float32).
    """
    # In float64, because squares of small float32 numbers vanish.
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not 0.0 < norm < _LONGEST:
        return None
    unit = vector.astype(np.float64) / norm
    scale = float(np.float32(np.abs(unit).max() / _LIMIT))
    return np.clip(np.rint(unit / scale), -_LIMIT, _LIMIT).astype(np.int8), scale


def quantise_rows(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """``quantise`` of each of *vectors*: codes int8, shape (rows, dimension), and scales; 0 = no vector."""
    exact = vectors.astype(np.float64)
    # In the order of additions of a single row, so that the last bit is the same, too.
    norms = np.array([np.linalg.norm(row) for row in exact], np.float64)
    sound = (norms > 0.0) & (norms < _LONGEST)
    units = exact / np.where(sound, norms, 1.0)[:, np.newaxis]
    scales = (np.abs(units).max(axis=1, initial=0.0) / _LIMIT).astype(np.float32).astype(np.float64)
    scales[~sound] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.rint(units / scales[:, np.newaxis])
    codes = np.where(sound[:, np.newaxis], np.clip(whole, -_LIMIT, _LIMIT), 0.0).astype(np.int8)
    return codes, scales


def split_query(vector: NDArray[np.float32]) -> tuple[NDArray[np.float64], float]:
    """A unit query as 16-bit integers in two columns (high, low), shape (dimension, 2), and their scale."""
    peak = float(np.abs(vector).max())
    if peak == 0.0 or not np.isfinite(peak):
        return np.zeros((len(vector), 2)), 0.0
    scale = peak / _QUERY_LIMIT
    whole = np.rint(vector.astype(np.float64) / scale).astype(np.int32)
    high, low = whole >> 8, whole & 0xFF
    return np.stack([high, low], axis=1).astype(np.float64), scale


def exact_dot(codes: NDArray[np.int8], halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exact integer dot products of int8 rows with a query of ``split_query``, as float64."""
    kind = np.float32 if codes.shape[1] <= _EXACT_IN_FLOAT32 else np.float64
    right = np.ascontiguousarray(halves, kind)
    parts = np.empty((len(codes), 2), kind)
    step = rows_at_once(*right.shape)
    for start in range(0, len(codes), step):
        rows = slice(start, start + step)
        np.matmul(codes[rows].astype(kind), right, out=parts[rows])
    whole: NDArray[np.float64] = parts[:, 0] * np.float64(256.0) + parts[:, 1]
    return whole


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

    It only saves work: the count shows when it is too low, and the threshold itself is exact.
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


MOST_TOKENS = 38
"""Tokens of a memory that are kept, the first ones: at most 1.8 kB for 384 dimensions."""

_LEVELS = 127

_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32) * 2 - 1
"""The eight signs of each byte, shape (256, 8)."""


def pack_tokens(centred: NDArray[np.float32]) -> bytes:
    """Codes of a memory's tokens, token after token.

    Args:
        centred: token vectors less the embedder's mean, shape (tokens, dimension); a row that is not finite
            has no code and is left out.
    """
    usable = centred[np.isfinite(centred).all(axis=1)][:MOST_TOKENS]
    return np.packbits(usable > 0, axis=1).tobytes()


def max_similarities(
    query: NDArray[np.float32], codes: NDArray[np.uint8], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """MaxSim of each memory, about in [-1, 1], rounded to 1e-9; 0 for one without tokens.

    Args:
        query: token vectors of the query, shape (tokens, dimension), not empty.
        codes: of all memories, uint8, shape (sum of counts, dimension / 8 rounded up).
        counts: tokens of each memory, shape (memories,).
    """
    scores = np.zeros(len(counts), np.float64)
    there = np.flatnonzero(counts)
    if not len(there):
        return scores
    dimension = query.shape[1]
    scales = np.abs(query).max(axis=1).astype(np.float64) / _LEVELS
    scales[scales == 0] = 1.0
    levels = np.rint(query / scales[:, None]).astype(np.float32)
    products = _products(codes, np.ascontiguousarray(levels.T))
    starts = np.concatenate([[0], np.cumsum(counts[there])[:-1]])
    best = np.maximum.reduceat(products, starts, axis=0).astype(np.float64)
    # In one order, whatever the memories: numpy sums each row alone along its last axis.
    scores[there] = ((best * scales) / np.sqrt(dimension)).mean(axis=1)
    return scores.round(9)


def _products(codes: NDArray[np.uint8], levels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Signs of each code against each column of *levels*, shape (codes, query tokens)."""
    dimension = len(levels)
    products = np.empty((len(codes), levels.shape[1]), np.float32)
    step = rows_at_once(*levels.shape)
    for start in range(0, len(codes), step):
        some = slice(start, start + step)
        signs = _SIGNS.take(codes[some], axis=0).reshape(-1, codes.shape[1] * 8)
        np.matmul(signs[:, :dimension], levels, out=products[some])
    return products


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """The token codes of neighbouring rows.

    Attributes:
        offsets: int64, shape (rows + 1,); row r has the codes from offsets[r] up to offsets[r + 1].
        codes: uint8, shape (tokens, bytes per token).
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.uint8]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Tokens of each row, shape (rows,)."""
        return np.diff(self.offsets)


class TailTokens:
    """Token codes of the newest rows; appending leaves earlier frozen blocks as they were."""

    def __init__(self, dimension: int) -> None:
        self._width = -(-dimension // 8)
        self._offsets = Growable(np.dtype("i8"))
        self._offsets.append(0)
        self._codes = Growable(np.dtype("u1"), (self._width,))
        self._tokens = 0

    def append(self, tokens: bytes) -> None:
        """Add the next row's codes; those of another width are left out."""
        if tokens and self._width and len(tokens) % self._width == 0:
            codes = np.frombuffer(tokens, np.uint8).reshape(-1, self._width)
            self._codes.extend(codes)
            self._tokens += len(codes)
        self._offsets.append(self._tokens)

    def frozen(self) -> TokenBlock:
        return TokenBlock(self._offsets.view(), self._codes.view())


def join_tokens(blocks: Sequence[TokenBlock], kept: NDArray[np.bool_], dimension: int) -> TokenBlock:
    """Join neighbouring blocks.

    Args:
        blocks: ascending, at least one.
        kept: bool, shape (all rows,); the other rows lose their codes.
        dimension: of the vectors; a block of another width loses its codes.
    """
    width = -(-dimension // 8)
    same = [block.codes.shape[1] == width for block in blocks]
    counts = np.concatenate(
        [block.counts * fits for block, fits in zip(blocks, same, strict=True)]  # none of another width
    )
    parts = [block.codes for block, fits in zip(blocks, same, strict=True) if fits]
    codes = np.concatenate([np.empty((0, width), np.uint8), *parts])[np.repeat(kept, counts)]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(kept, counts, 0))])
    return TokenBlock(offsets, codes)


def gather_tokens(
    blocks: Sequence[tuple[int, TokenBlock]], ordinals: NDArray[np.int64], dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Codes of the rows at *ordinals*, in that order.

    Args:
        blocks: per block, its first ordinal and its codes.
        ordinals: int64, shape (rows,).
        dimension: of the vectors; a block of another width holds none.

    Returns:
        counts int64, shape (rows,), and codes uint8, shape (sum of counts, bytes per token).
    """
    width = -(-dimension // 8)
    counts = np.zeros(len(ordinals), np.int64)
    found: list[tuple[NDArray[np.intp], NDArray[np.int64], TokenBlock]] = []
    for start, block in blocks:
        if block.codes.shape[1] == width:
            stop = start + len(block.offsets) - 1
            places = np.flatnonzero((ordinals >= start) & (ordinals < stop))
            rows = ordinals[places] - start
            counts[places] = block.offsets[rows + 1] - block.offsets[rows]
            found.append((places, rows, block))
    begins = np.cumsum(counts) - counts
    codes = np.empty((int(counts.sum()), width), np.uint8)
    for places, rows, block in found:
        of_each = counts[places]
        codes[positions(begins[places], of_each)] = block.codes[positions(block.offsets[rows], of_each)]
    return counts, codes
