"""Rounds a column of scores to 1e-9, each to the same bit as Python's ``round``, in a fifth of the time.

round(x) = rint(x · 1e9) / 1e9

The quotient of two whole numbers is the float nearest to the decimal, which is what ``round`` gives. The
product may be off by 2^−14, for it was itself rounded, and so was a sum. Where it lies so near to a half that
this could matter, the exact value and ``round`` are asked (``numpy.round`` does not look).
Cost: 10 µs for 160 scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

DIGITS = 9

_LARGE = 64.0
_SURE = 0.5 - 2.0**-13


def rounded(values: Collection[float]) -> list[float]:
    """``round(value, 9)`` of each."""
    column = np.fromiter(values, np.float64, len(values))
    return _rounded(column, np.abs(column), column.item)


def rounded_sums(parts: NDArray[np.float64]) -> list[float]:
    """``round(math.fsum(row), 9)`` of each row, but for the sign of a zero.

    Args:
        parts: shape (n, k), of at most eight columns.
    """
    # Seven additions of what is below 64 in all are off by 2^-44 at most, thus by 2^-14 of 1e-9.
    return _rounded(
        parts.sum(axis=1), np.abs(parts).sum(axis=1), lambda place: math.fsum(parts[place].tolist())
    )


def _rounded(
    column: NDArray[np.float64], sizes: NDArray[np.float64], exactly: Callable[[int], float]
) -> list[float]:
    """Args: about each value, what is not below it or any part of it, and the value itself by its place."""
    if not sizes.max(initial=0.0) < _LARGE:
        return [round(exactly(place), DIGITS) for place in range(len(column))]
    scaled = column * 1e9
    whole = np.rint(scaled)
    found: list[float] = (whole / 1e9).tolist()
    doubtful = ~(np.abs(scaled - whole) < _SURE)
    if doubtful.any():
        for place in np.flatnonzero(doubtful).tolist():
            found[place] = round(exactly(place), DIGITS)
    return found
