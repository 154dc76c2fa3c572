"""Columns of the index: one value per row, for filters, statistics and tie-breaks.

``expired_at`` is the only value that changes after it was written: a snapshot lays newer stamps over it, and
``BEGINNING`` marks an erased row, which no viewpoint sees. An undated row has the empty occurred range
[FOREVER, BEGINNING), which meets no window; an open side is BEGINNING or FOREVER. ``words``, ``asks``,
``utterance`` and ``speaker`` describe a memory without its text (``text.speech``); ``session`` is the key of
its conversation. ``state`` holds the marks of ``records.kind``. ``root`` is the ordinal of a memory's first
version, ``node`` that of its first version in the words of this one: links join nodes.

Sums of moments are made in float64: differences of far int64 moments would overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.records.interval import Interval


COLUMNS: Mapping[str, np.dtype[Any]] = {
    "kind": np.dtype("u1"),
    "layer": np.dtype("u1"),
    "valid_from": np.dtype("i8"),
    "valid_to": np.dtype("i8"),
    "ingested_at": np.dtype("i8"),
    "expired_at": np.dtype("i8"),
    "occurred_from": np.dtype("i8"),
    "occurred_to": np.dtype("i8"),
    "project": np.dtype("i4"),
    "path": np.dtype("i4"),
    "tags": np.dtype("i4"),
    "acl": np.dtype("i4"),
    "id_key": np.dtype("u8"),
    "root": np.dtype("i4"),
    "node": np.dtype("i4"),
    "salience": np.dtype("f4"),
    "confidence": np.dtype("f4"),
    "proof_count": np.dtype("i4"),
    "access_count": np.dtype("i4"),
    "last_access": np.dtype("i8"),
    "words": np.dtype("u2"),
    "asks": np.dtype("u1"),
    "utterance": np.dtype("u1"),
    "speaker": np.dtype("u8"),
    "session": np.dtype("u8"),
    "state": np.dtype("u1"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row as the index takes it in.

    Attributes:
        ordinal: position of the row in every array; never reused.
        values: one value per column; ``None`` for an erased row, which keeps its place.
        terms: per lexical field, term → frequency.
        sparse: packed learned sparse terms (``index.sparse_postings``); empty = none.
        codes, scale: int8 vector and its factor; ``None`` = no vector.
        tokens: codes of the text's tokens (``index.vectors``); empty = none.
    """

    ordinal: int
    values: Mapping[str, int | float] | None
    terms: Mapping[str, Mapping[str, int]]
    codes: NDArray[np.int8] | None
    scale: float
    tokens: bytes = b""
    sparse: bytes = b""


ERASED: Mapping[str, int | float] = {
    name: {
        "expired_at": BEGINNING,
        "occurred_from": FOREVER,
        "occurred_to": BEGINNING,
        "valid_from": FOREVER,
        "valid_to": BEGINNING,
        "ingested_at": BEGINNING,
        "last_access": BEGINNING,
    }.get(name, 0)
    for name in COLUMNS
}


class Growable:
    """An array that grows by appending; earlier views stay valid and unchanged."""

    def __init__(self, dtype: np.dtype[Any], width: tuple[int, ...] = ()) -> None:
        self._buffer = np.zeros((64, *width), dtype)
        self._size = 0

    def append(self, value: Any) -> None:
        if self._size == len(self._buffer):
            larger = np.zeros((2 * self._size, *self._buffer.shape[1:]), self._buffer.dtype)
            larger[: self._size] = self._buffer
            self._buffer = larger
        self._buffer[self._size] = value
        self._size += 1

    def extend(self, values: NDArray[Any]) -> None:
        stop = self._size + len(values)
        if stop > len(self._buffer):
            larger = np.zeros((max(2 * self._size, stop), *self._buffer.shape[1:]), self._buffer.dtype)
            larger[: self._size] = self._buffer[: self._size]
            self._buffer = larger
        self._buffer[self._size : stop] = values
        self._size = stop

    def view(self) -> NDArray[Any]:
        """What was appended so far, read-only."""
        frozen = self._buffer[: self._size]
        frozen.flags.writeable = False
        return frozen


NEUTRAL = 0.5


def meets(first: NDArray[np.int64], last: NDArray[np.int64], time: Interval) -> NDArray[np.bool_]:
    """Whether ranges [*first*, *last*), int64 microseconds, meet *time*; an instant meets what it lies in."""
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
