"""Matrix products of a recall, a few rows at a time, so that BLAS stays on the thread that asks.

A product of some hundred rows ends no sooner on several threads, and each of them then spins for a while and
waits for more: on two cores a recall at 10⁴ memories took twice the CPU that way, and recalls side by side
waited for one another. How many threads BLAS has belongs to the whole process, thus to whoever embeds this
engine; below a number of multiplications it uses none. Small parts also stay in the cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MULTIPLICATIONS = 400_000
"""Of one part; OpenBLAS 0.3 wakes threads from about 10⁶."""


def rows_at_once(terms: int, columns: int) -> int:
    """How many rows of so many *terms* go into one part against so many *columns*; at least 1."""
    return max(1, _MULTIPLICATIONS // max(1, terms * columns))


def products_of(rows: NDArray[Any]) -> NDArray[Any]:
    """``rows @ rows.T``, in squares: one half of it is reckoned, and the other is its mirror.

    Args:
        rows: float32 or float64, shape (rows, terms).
    """
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
