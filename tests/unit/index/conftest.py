"""Index rows and blocks, made from a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest

from simonides.index.block import Tail
from simonides.index.columns import ERASED, Row
from simonides.index.vectors import quantise
from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.index.block import Block


class MakeRow(Protocol):
    def __call__(
        self, ordinal: int, text: str = "", vector: Sequence[float] | None = None, **values: float
    ) -> Row: ...


class MakeBlock(Protocol):
    def __call__(self, rows: Sequence[Row], *, start: int = 0, dimension: int = 3) -> Block: ...


@pytest.fixture
def make_row() -> MakeRow:
    """A live row that is valid and known from ever to ever; *values* sets columns."""

    def make(ordinal: int, text: str = "", vector: Sequence[float] | None = None, **values: float) -> Row:
        live = {"valid_from": BEGINNING, "valid_to": FOREVER, "ingested_at": 0, "expired_at": FOREVER}
        stored = None if vector is None else quantise(np.array(vector, np.float32))
        codes, scale = stored or (None, 0.0)
        words = text.split()
        terms = {"text": {word: words.count(word) for word in words}} if words else {}
        return Row(ordinal, {**ERASED, "id_key": ordinal, **live, **values}, terms, codes, scale)

    return make


@pytest.fixture
def make_block() -> MakeBlock:
    """A frozen tail of *rows*."""

    def make(rows: Sequence[Row], *, start: int = 0, dimension: int = 3) -> Block:
        tail = Tail(start, dimension)
        for row in rows:
            tail.append(row)
        return tail.frozen()

    return make
