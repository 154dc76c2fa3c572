"""When memories happened, as columns: which of them meet a time, and how near its centre they lie.

An undated row has the empty range [FOREVER, BEGINNING); an open side is BEGINNING or FOREVER. Sums are made
in float64: differences of far int64 moments would overflow, and half a microsecond tells nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.records.interval import Interval

NEUTRAL = 0.5


def meets(first: NDArray[np.int64], last: NDArray[np.int64], time: Interval) -> NDArray[np.bool_]:
    """Whether ranges ``[first, last)`` meet *time*; an instant, on either side, meets what it lies in.

    The ranges are two int64 columns, shape (n,), microseconds UTC.
    """
    end = time.end if time.end > time.start else time.start + 1
    lasting, at_once = last > time.start, (first == last) & (first >= time.start)
    found: NDArray[np.bool_] = (first < end) & (lasting | at_once)
    return found


def middles(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle of each range, microseconds; its one end where the other is open, NaN where undated."""
    starts = np.where(first == BEGINNING, np.nan, first.astype(np.float64))
    ends = np.where(last == FOREVER, np.nan, last.astype(np.float64))
    middle = np.where(np.isnan(starts), ends, np.where(np.isnan(ends), starts, starts / 2 + ends / 2))
    dated: NDArray[np.float64] = np.where(first > last, np.nan, middle)
    return dated


def proximity(
    first: NDArray[np.int64], last: NDArray[np.int64], time: Interval | None
) -> NDArray[np.float64]:
    """1 at the centre of *time*, 0 at its edges and beyond: 1 − min(distance / half its length, 1).

    Neutral (0.5) without a time, for an undated row, and where *time* is open to a side: it has no centre.
    A time without length counts every dated row as near (1).

    Returns:
        float64, shape (n,), in [0, 1], rounded to 1e-9.
    """
    if time is None or time.start == BEGINNING or time.end == FOREVER:
        return np.full(len(first), NEUTRAL)
    middle = middles(first, last)
    half = (time.end - time.start) / 2
    if half == 0:
        near = np.ones(len(first))
    else:
        near = 1.0 - np.minimum(np.abs(middle - (time.start + half)) / half, 1.0)
    scaled: NDArray[np.float64] = np.where(np.isnan(middle), NEUTRAL, near).round(9)
    return scaled
