"""Puts a column of numbers on the scale of its own pool (HX-07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(v − min) / (max − min) for each value, in [0, 1], rounded to 1e-9; a constant column is all 0.

    Args:
        values: finite float64, shape (n,).
    """
    if not len(values):
        return values
    lowest, highest = values.min(), values.max()
    if lowest == highest:
        return np.zeros(len(values))
    # Halved first: the difference of two huge values of different signs would overflow.
    scaled: NDArray[np.float64] = (values / 2 - lowest / 2) / (highest / 2 - lowest / 2)
    return scaled.round(9)
