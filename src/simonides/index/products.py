"""Matrix products of a recall, a few rows at a time, so that BLAS stays on the thread that asks.

A product of some hundred rows ends no sooner on several threads, and each of them then spins for a while and
waits for more: on two cores a recall at 10⁴ memories took twice the CPU that way, and recalls side by side
waited for one another. How many threads BLAS has belongs to the whole process, thus to whoever embeds this
engine; below a number of multiplications it uses none. Small parts also stay in the cache.
"""

from __future__ import annotations

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
    """``rows @ rows.T``: one half of it is reckoned, and the other is its mirror.

    Args:
        rows: float32 or float64, shape (rows, terms).
    """
    count, terms = rows.shape
    # A transposed view would wake threads much earlier.
    columns = np.ascontiguousarray(rows.T)
    found = np.empty((count, count), rows.dtype)
    start = 0
    while start < count:
        stop = min(count, start + rows_at_once(terms, count - start))
        np.matmul(rows[start:stop], columns[:, start:], out=found[start:stop, start:])
        found[stop:, start:stop] = found[start:stop, stop:].T
        start = stop
    return found
