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


def product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """``left @ right``.

    Args:
        left: float32 or float64, shape (rows, terms).
        right: of the same dtype, shape (terms, columns).
    """
    # A transposed view would wake threads much earlier.
    right = np.ascontiguousarray(right)
    found = np.empty((len(left), right.shape[1]), left.dtype)
    step = rows_at_once(*right.shape)
    for start in range(0, len(left), step):
        np.matmul(left[start : start + step], right, out=found[start : start + step])
    return found
