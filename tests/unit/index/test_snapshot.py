from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.block import join_blocks
from simonides.index.columns import COLUMNS
from simonides.index.snapshot import IndexSnapshot
from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from tests.unit.index.conftest import MakeBlock, MakeRow

    from simonides.index.block import Block
    from simonides.index.columns import Row


def snapshot_of(
    *blocks: Block, expired: Mapping[int, int] | None = None, dimension: int = 3
) -> IndexSnapshot:
    return IndexSnapshot(1, 0, dimension, blocks, expired or {}, ("",), (frozenset(),), 0)


def stored(row: Row) -> NDArray[np.int8]:
    """The codes of a row that has some."""
    assert row.codes is not None
    return row.codes


@pytest.fixture
def snapshot(make_row: MakeRow, make_block: MakeBlock) -> IndexSnapshot:
    """Two rows sealed, three in the tail, newer stamps for one of each."""
    rows = [make_row(n, f"fuse word{n}", [n, 1, 2], kind=n, path=10 + n) for n in range(5)]
    sealed = join_blocks([make_block(rows[:2])], {}, 3)
    return snapshot_of(sealed, make_block(rows[2:], start=2), expired={1: 50, 3: BEGINNING})


def test_a_column_spans_all_blocks(snapshot: IndexSnapshot) -> None:
    assert snapshot.rows == 5
    assert snapshot.column("kind").tolist() == [0, 1, 2, 3, 4]
    for name, dtype in COLUMNS.items():
        assert snapshot.column(name).dtype == dtype


def test_newer_stamps_are_laid_over_and_leave_the_blocks_alone(snapshot: IndexSnapshot) -> None:
    assert snapshot.column("expired_at").tolist() == [FOREVER, 50, FOREVER, BEGINNING, FOREVER]
    assert snapshot.column("expired_at").tolist() == [FOREVER, 50, FOREVER, BEGINNING, FOREVER]
    for block in snapshot.blocks:
        assert set(block.columns["expired_at"].tolist()) == {FOREVER}


def test_values_are_gathered_in_the_order_asked_for(snapshot: IndexSnapshot) -> None:
    assert snapshot.gather("path", np.array([4, 0, 2, 0], np.int64)).tolist() == [14, 10, 12, 10]
    assert snapshot.gather("id_key", np.array([1], np.int64)).dtype == np.uint64
    assert snapshot.gather("path", np.array([], np.int64)).tolist() == []


def test_vectors_are_gathered_in_the_order_asked_for(make_row: MakeRow, make_block: MakeBlock) -> None:
    rows = [make_row(n, "", [n, 1, 2]) for n in range(6)]
    other = make_block([make_row(2, "", [1, 1]), make_row(3)], start=2, dimension=2)
    snapshot = snapshot_of(make_block(rows[:2]), other, make_block(rows[4:], start=4))
    asked = np.array([5, 2, 0, 5, 4, 1], np.int64)
    codes, scales = snapshot.codes(asked)
    # Another dimension is that of another embedder: no vector.
    assert codes.tolist() == [[0, 0, 0] if row == 2 else stored(rows[row]).tolist() for row in asked.tolist()]
    assert scales.tolist() == [0.0 if row == 2 else np.float32(rows[row].scale) for row in asked.tolist()]
    assert snapshot.codes(np.empty(0, np.int64))[0].shape == (0, 3)


def test_vectors_and_postings_speak_in_ordinals_of_the_whole_bank(snapshot: IndexSnapshot) -> None:
    everything = np.ones(5, np.bool_)
    ordinals, _ = snapshot.vectors.nearest(np.array([1, 1, 1], np.float32), everything, depth=5, rescore=5)
    assert ordinals.tolist() == [0, 1, 2, 3, 4]
    for row in range(5):
        found, _ = snapshot.postings.bm25(
            [(f"word{row}", 1)], everything, everything, field_weights={"text": 1.0}, k1=1.2, b=0.75
        )
        assert found.tolist() == [row]


def test_an_empty_bank_has_columns_vectors_and_postings() -> None:
    empty = snapshot_of(dimension=0)
    nothing = np.empty(0, np.bool_)
    assert empty.rows == 0
    assert empty.column("expired_at").tolist() == []
    assert empty.gather("path", np.array([], np.int64)).tolist() == []
    assert empty.vectors.nearest(np.ones(3, np.float32), nothing, depth=1, rescore=1)[0].tolist() == []
    found, _ = empty.postings.bm25([("a", 1)], nothing, nothing, field_weights={"text": 1.0}, k1=1.2, b=0.75)
    assert found.tolist() == []
