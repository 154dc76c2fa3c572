"""One value per row: what filters, statistics and tie-breaks need without a look at the rows.

``expired_at`` is the only value that changes after it was written: a snapshot lays newer stamps over it. A
row that was erased has ``expired_at = BEGINNING``, so no viewpoint ever sees it. An undated row has the
empty occurred range [FOREVER, BEGINNING), which meets no window. ``words``, ``asks``, ``utterance`` and
``speaker`` say what a memory looks like without its text: how many words, whether it ends with a question,
what it does (``records.utterance``), and the key of who says it (``text.speech``). ``state`` holds the marks
of ``records.state``. ``root`` is the ordinal of a memory's first version, ``node`` that of its first version
with the words of this one: what links join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

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
    "state": np.dtype("u1"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row as the index takes it in: replayed from the store, nothing re-encoded or re-tokenised.

    Attributes:
        ordinal: position of the row in every array; ordinals are never reused.
        values: one value per column; ``None`` for an erased row, which keeps its place and holds nothing.
        terms: per lexical field, term → frequency.
        sparse: packed learned sparse terms (``index.sparse_postings``); empty = none.
        codes, scale: int8 vector and its factor; ``None`` = no vector.
        tokens: codes of the text's tokens (``index.token_codes``); empty = none.
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
        """Add one row."""
        if self._size == len(self._buffer):
            larger = np.zeros((2 * self._size, *self._buffer.shape[1:]), self._buffer.dtype)
            larger[: self._size] = self._buffer
            self._buffer = larger
        self._buffer[self._size] = value
        self._size += 1

    def extend(self, values: NDArray[Any]) -> None:
        """Add several rows."""
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
