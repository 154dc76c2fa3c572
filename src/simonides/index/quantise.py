"""Vectors as int8 with one scale each, and queries as two int8 halves, so that a dot product is exact.

A stored vector ``v`` is kept as ``codes`` (int8, in [-127, 127]) and ``scale`` with ``v ≈ codes · scale``.
A query is kept as a 16-bit integer vector split into a high and a low part; both dot products against
int8 codes stay below 2²⁴ for up to 512 dimensions, so float32 arithmetic returns the exact integer
whatever the order of the additions. That is what makes a score independent of how rows are batched:
deleting and rebuilding the index gives the same bytes (DF-06). Above 512 dimensions float64 is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.index.products import rows_at_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LIMIT = 127
_QUERY_LIMIT = 32_767
_EXACT_IN_FLOAT32 = 512
_LONGEST = 1e19


def quantise(vector: NDArray[np.float32]) -> tuple[NDArray[np.int8], float] | None:
    """Unit-normalise and store as int8.

    Args:
        vector: shape (dimension,), any length above zero and below 1e19 (whose square overflows float32).

    Returns:
        codes int8 and scale, or ``None`` when the vector is not finite, all zero or too long: "no vector".
    """
    # In float64, because squares of small float32 numbers vanish.
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not 0.0 < norm < _LONGEST:
        return None
    unit = vector.astype(np.float64) / norm
    scale = float(np.float32(np.abs(unit).max() / _LIMIT))
    return np.clip(np.rint(unit / scale), -_LIMIT, _LIMIT).astype(np.int8), scale


def quantise_rows(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """``quantise`` of many vectors at once, with the same result for each.

    Args:
        vectors: shape (rows, dimension).

    Returns:
        codes int8, shape (rows, dimension), and scales, shape (rows,); 0 = no vector.
    """
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
    """Integer dot products of rows with a split query, exact.

    Args:
        codes: int8, shape (rows, dimension).
        halves: from ``split_query``.

    Returns:
        float64 holding integers, shape (rows,).
    """
    kind = np.float32 if codes.shape[1] <= _EXACT_IN_FLOAT32 else np.float64
    right = np.ascontiguousarray(halves, kind)
    parts = np.empty((len(codes), 2), kind)
    step = rows_at_once(*right.shape)
    for start in range(0, len(codes), step):
        rows = slice(start, start + step)
        np.matmul(codes[rows].astype(kind), right, out=parts[rows])
    whole: NDArray[np.float64] = parts[:, 0] * np.float64(256.0) + parts[:, 1]
    return whole
