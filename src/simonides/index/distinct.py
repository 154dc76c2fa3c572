"""Sets of numbers as sorted arrays, for hot paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def among(values: NDArray[np.int64], ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of *values* are in *ascending*; ``np.isin`` takes several times as long for a few hundred.

    Args:
        values: int64, shape (n,).
        ascending: int64, shape (m,), sorted.
    """
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    there: NDArray[np.bool_] = ascending[at] == values
    return there


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """*values* ascending, each once; ``np.unique`` takes several times as long for a few hundred.

    Args:
        values: int64, shape (n,); given back as they are if they are so already.
    """
    if (values[1:] > values[:-1]).all():
        return values
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    once: NDArray[np.int64] = ordered[first]
    return once


_MARKED = 16
"""To look for marks in so many places takes as long as to order one number."""


def ascending(values: NDArray[np.int64], stop: int) -> NDArray[np.int64]:
    """*values* in order; ``np.sort`` takes several times as long for a few thousand.

    Args:
        values: int64, shape (n,), each once, from 0 and below *stop*.
        stop: how many there could be, at most 2³².
    """
    if stop <= _MARKED * len(values):
        there = np.zeros(stop, np.bool_)
        there[values] = True
        return there.nonzero()[0]
    # By their lower and then their upper halves: of 16 bits, a stable sort counts.
    values = values[np.argsort(values.astype(np.uint16), kind="stable")]
    return values[np.argsort((values >> 16).astype(np.uint16), kind="stable")]
