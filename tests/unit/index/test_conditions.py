from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.block import Tail
from simonides.index.columns import ERASED, Row
from simonides.index.conditions import above, at_most, listed, narrow, without
from simonides.records.interval import BEGINNING, FOREVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.index.block import Block


def block_of(start: int, name: str, values: Sequence[int]) -> Block:
    tail = Tail(start, 0)
    for place, value in enumerate(values):
        tail.append(Row(start + place, {**ERASED, name: value}, {}, None, 0.0))
    return tail.frozen()


def blocks_of(name: str, *parts: Sequence[int]) -> list[Block]:
    starts = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    return [block_of(start, name, part) for start, part in zip(starts, parts, strict=False)]


PARTS: tuple[list[int], ...] = ([1, 2, 3], [], [5, 5], [7, 1, 9], [BEGINNING, FOREVER])
VALUES = [value for part in PARTS for value in part]


@pytest.mark.parametrize("limit", [BEGINNING, 0, 1, 2, 3, 5, 8, 9, FOREVER - 1, FOREVER])
def test_bounds_say_what_the_column_says(limit: int) -> None:
    blocks = blocks_of("valid_from", *PARTS)
    low, high = np.ones(len(VALUES), np.bool_), np.ones(len(VALUES), np.bool_)
    narrow(low, blocks, [at_most("valid_from", limit)])
    narrow(high, blocks, [above("valid_from", limit)])
    assert low.tolist() == [value <= limit for value in VALUES]
    assert high.tolist() == [value > limit for value in VALUES]


@pytest.mark.parametrize("wanted", [[], [3], [0, 1, 2, 3, 4, 5], [1, 4]])
def test_codes_are_looked_up(wanted: list[int]) -> None:
    blocks = blocks_of("tags", [1, 2, 3], [4, 4], [0, 5])
    mask = np.ones(7, np.bool_)
    narrow(mask, blocks, [listed("tags", np.isin(np.arange(6), wanted))])
    assert mask.tolist() == [code in wanted for code in (1, 2, 3, 4, 4, 0, 5)]


def test_bits_keep_rows_out() -> None:
    blocks = blocks_of("state", [0, 0], [1, 2, 3, 0])
    mask = np.ones(6, np.bool_)
    narrow(mask, blocks, [without("state", 2)])
    assert mask.tolist() == [True, True, True, False, False, True]


def test_what_was_out_before_stays_out() -> None:
    blocks = blocks_of("valid_to", [1, 2], [3, 4])
    mask = np.array([True, False, False, True])
    narrow(mask, blocks, [at_most("valid_to", 3), above("valid_to", 0)])
    assert mask.tolist() == [True, False, False, False]


def test_a_block_that_its_bounds_settle_is_not_read() -> None:
    (block,) = blocks_of("valid_to", [3, 4])
    assert at_most("valid_to", 4)(block) is True
    assert at_most("valid_to", 2)(block) is False
    assert above("valid_to", 4)(block) is False
    assert listed("valid_to", np.ones(5, np.bool_))(block) is True
    assert without("state", 1)(block) is True
