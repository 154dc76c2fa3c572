from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import DamagedError
from simonides.index.block import Tail, block_arrays, block_of_arrays, join_blocks
from simonides.index.columns import COLUMNS, ERASED, Row
from simonides.index.postings import FIELDS, SealedPostings
from simonides.index.vectors import sign_bits
from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tests.unit.index.conftest import MakeBlock, MakeRow

    from simonides.index.block import Block


def plain(block: Block) -> dict[str, Any]:
    """Everything a block holds, as bytes and lists that can be compared."""
    sealed = join_blocks([block], {}, block.vectors.codes.shape[1])
    arrays: dict[str, NDArray[Any]] = block_arrays(sealed)
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def test_a_tail_holds_what_was_appended(make_row: MakeRow) -> None:
    tail = Tail(5, 3)
    tail.append(make_row(5, "fuse fuse lamp", [1, 0, -1], kind=2, salience=0.25, path=7))
    tail.append(make_row(6, "lamp"))
    block = tail.frozen()
    assert (block.start, block.rows, block.stop) == (5, 2, 7)
    assert {name: column.dtype for name, column in block.columns.items()} == dict(COLUMNS)
    assert block.columns["kind"].tolist() == [2, 0]
    assert block.columns["salience"].tolist() == [0.25, 0.0]
    assert block.vectors.codes.tolist() == [[127, 0, -127], [0, 0, 0]]
    assert block.vectors.scales[0] > 0
    assert block.vectors.scales[1] == 0, "no vector"
    assert block.vectors.bits.tolist() == sign_bits(block.vectors.codes).tolist()
    assert [part.tolist() for part in block.postings["text"].postings("lamp")] == [[0, 1], [1, 1]]
    assert block.postings["text"].lengths.tolist() == [3, 1]
    assert block.postings["context"].lengths.tolist() == [0, 0]


def test_a_gap_is_filled_with_erased_rows(make_row: MakeRow, make_block: MakeBlock) -> None:
    block = make_block([make_row(2, "fuse"), Row(4, None, {}, None, 0.0), make_row(6, "lamp")])
    assert block.rows == 7
    for ordinal in (0, 1, 3, 4, 5):
        assert {name: block.columns[name][ordinal].item() for name in COLUMNS} == pytest.approx(ERASED)
    assert block.postings["text"].lengths.tolist() == [0, 0, 1, 0, 0, 0, 1]


@pytest.mark.fault("V2")
def test_a_vector_of_another_dimension_is_no_vector(make_row: MakeRow, make_block: MakeBlock) -> None:
    block = make_block([make_row(0, "", [1, 1]), make_row(1, "", [1, 1, 1]), make_row(2, "", [1] * 4)])
    assert (block.vectors.scales > 0).tolist() == [False, True, False]


def test_a_frozen_block_does_not_change_when_the_tail_grows(make_row: MakeRow) -> None:
    tail = Tail(0, 3)
    blocks, before = [], []
    for ordinal in range(150):
        tail.append(make_row(ordinal, f"word{ordinal} fuse", [ordinal, 1, 2], kind=ordinal % 7))
        blocks.append(tail.frozen())
        before.append(plain(blocks[-1]))
    for count, (block, earlier) in enumerate(zip(blocks, before, strict=True)):
        assert block.rows == count + 1
        assert plain(block) == earlier


def test_joined_blocks_equal_one_block_of_all_rows(make_row: MakeRow, make_block: MakeBlock) -> None:
    rows = [make_row(n, f"fuse word{n % 3}", [n, 1, -n] if n % 4 else None, kind=n % 7) for n in range(20)]
    whole = join_blocks([make_block(rows)], {}, 3)
    parts = [
        make_block(rows[:7]),
        join_blocks([make_block(rows[7:8], start=7)], {}, 3),
        make_block(rows[8:], start=8),
    ]
    assert plain(join_blocks(parts, {}, 3)) == plain(whole)
    later = join_blocks(parts[1:], {}, 3)
    assert (later.start, later.rows) == (7, 13)


def test_newer_stamps_are_laid_over_and_those_elsewhere_ignored(
    make_row: MakeRow, make_block: MakeBlock
) -> None:
    block = make_block([make_row(n) for n in range(10, 13)], start=10)
    joined = join_blocks([block], {9: 1, 11: 77, 13: 2}, 3)
    assert joined.columns["expired_at"].tolist() == [FOREVER, 77, FOREVER]
    assert block.columns["expired_at"].tolist() == [FOREVER] * 3, "the old block stays as it was"


@pytest.mark.fault("W4")
def test_an_erased_row_keeps_its_place_and_nothing_else(make_row: MakeRow, make_block: MakeBlock) -> None:
    rows = [make_row(n, f"secret{n} lamp", [n, 1, 2], kind=3, path=9, salience=0.5) for n in range(3)]
    joined = join_blocks([make_block(rows)], {1: BEGINNING}, 3)
    without = join_blocks([make_block([rows[0], Row(1, None, {}, None, 0.0), rows[2]])], {}, 3)
    assert plain(joined) == plain(without)
    assert b"secret1" not in b"".join(array.tobytes() for array in block_arrays(joined).values())
    assert b"secret2" in b"".join(array.tobytes() for array in block_arrays(joined).values())
    # Erased in one merge, it stays so in the next.
    assert plain(join_blocks([joined], {}, 3)) == plain(without)


@pytest.mark.fault("V2")
def test_a_block_of_another_dimension_comes_in_without_vectors(
    make_row: MakeRow, make_block: MakeBlock
) -> None:
    old = make_block([make_row(0, "fuse", [1, 2])], dimension=2)
    new = make_block([make_row(1, "lamp", [1, 2, 3])], start=1)
    joined = join_blocks([old, new], {}, 3)
    assert joined.vectors.codes.shape == (2, 3)
    assert (joined.vectors.scales > 0).tolist() == [False, True]
    assert list(joined.postings["text"].postings("fuse")[0]) == [0]


@pytest.mark.parametrize("dimension", [0, 3, 65])
def test_arrays_make_the_block_again(make_row: MakeRow, make_block: MakeBlock, dimension: int) -> None:
    rows = [make_row(n, f"fuse {n}", [1.0] * dimension or None) for n in range(4, 9)]
    block = join_blocks([make_block(rows, start=4, dimension=dimension)], {}, dimension)
    again = block_of_arrays(4, block_arrays(block))
    assert plain(again) == plain(block)
    assert (again.start, again.rows) == (4, 5)
    for field in FIELDS:
        assert isinstance(again.postings[field], SealedPostings)


def test_an_empty_block_goes_to_arrays_and_back(make_block: MakeBlock) -> None:
    block = join_blocks([make_block([])], {}, 3)
    assert block_of_arrays(0, block_arrays(block)).rows == 0


def test_only_a_sealed_block_goes_to_a_file(make_row: MakeRow, make_block: MakeBlock) -> None:
    with pytest.raises(TypeError, match="join_blocks seals"):
        block_arrays(make_block([make_row(0)]))


def test_the_vectors_of_a_tail_are_searched_like_those_of_a_sealed_block(
    make_row: MakeRow, make_block: MakeBlock
) -> None:
    block = make_block(
        [make_row(n, "", np.random.default_rng(n).normal(size=70).tolist()) for n in range(5)], dimension=70
    )
    sealed = join_blocks([block], {}, 70)
    assert block.vectors.bits.tolist() == sealed.vectors.bits.tolist()
    assert block.vectors.bits.shape == sealed.vectors.bits.shape == (2, 5)


@pytest.mark.fault("N81")
@pytest.mark.parametrize("name", [*COLUMNS, "codes", "scales", "bits", "tokens", "sparse", *FIELDS])
def test_arrays_of_unequal_length_are_refused(make_row: MakeRow, name: str) -> None:
    tail = Tail(0, 3)
    tail.extend([make_row(0, "fuse", [1, 0, -1]), make_row(1, "lamp", [0, 1, 0])])
    tail.frozen()
    grown = {
        **tail._columns,
        **tail._lengths,
        "codes": tail._codes,
        "scales": tail._scales,
        "bits": tail._bits,
        "tokens": tail._tokens._offsets,
        "sparse": tail._sparse_scales,
    }
    array = grown[name]
    array.append(np.zeros(array.view().shape[1:], array.view().dtype))
    with pytest.raises(
        DamagedError, match=r"2 rows from row 0 on, but .*: 3|3 rows from row 0 on, but .*: 2"
    ):
        tail.frozen()
