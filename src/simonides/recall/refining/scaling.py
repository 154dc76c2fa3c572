"""Puts a column of numbers on the scale of its own pool (HX-07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(v − min) / (max − min) for each value, in [0, 1], rounded to 1e-9; a constant column is all 0.

    Args:
        values: finite float64, shape (n,), or several columns at once, shape (columns, n).
    """
    if not values.size:
        return values
    # Halved first: the difference of two huge values of different signs would overflow.
    halves = values / 2
    scaled: NDArray[np.float64] = halves - halves.min(axis=-1, keepdims=True)
    spans = scaled.max(axis=-1, keepdims=True)
    spans[spans == 0.0] = 1.0
    scaled /= spans
    return scaled.round(9, out=scaled)
