"""Where the members of many runs stand in one array, as CSR adjacency and token codes are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def positions(begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """begins[0], begins[0] + 1, …, so many as counts[0] says; then the same from begins[1], and so on.

    Args:
        begins: int64, shape (runs,).
        counts: int64, shape (runs,), each from 0.
    """
    places: NDArray[np.int64] = (begins + counts - counts.cumsum()).repeat(counts)
    places += np.arange(len(places))
    return places
