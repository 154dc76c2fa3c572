"""However rows are cut into blocks, merged, erased and merged again, the result is the same bytes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.block import Block, Tail, block_arrays, block_of_arrays, join_blocks
from simonides.index.columns import COLUMNS, ERASED, Row
from simonides.index.postings import FIELDS
from simonides.records.interval import BEGINNING, FOREVER

DIMENSION = 9

TERMS = st.dictionaries(
    st.sampled_from(FIELDS), st.dictionaries(st.text("abü🟢", max_size=2), st.integers(1, 300), min_size=1)
)
VALUES = st.fixed_dictionaries(
    {
        name: st.sampled_from([0, 1, 100]) if dtype.itemsize < 8 else st.sampled_from([0, 1, 2**62])
        for name, dtype in COLUMNS.items()
        if name != "expired_at"
    }
)
CODES = st.lists(st.integers(-127, 127), min_size=DIMENSION, max_size=DIMENSION)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Row], dict[int, int], list[int]]:
    """Rows, newer stamps (some of them erasures), and where blocks end."""
    rows = []
    for ordinal in range(draw(st.integers(1, 10))):
        if draw(st.integers(0, 5)) == 0:
            rows.append(Row(ordinal, None, {}, None, 0.0))
            continue
        codes = draw(st.none() | CODES)
        values = {**ERASED, **draw(VALUES), "expired_at": FOREVER}
        array = None if codes is None else np.array(codes, np.int8)
        rows.append(Row(ordinal, values, draw(TERMS), array, 0.0 if codes is None else 0.25))
    live = [row.ordinal for row in rows if row.values is not None]
    stamps = (
        st.dictionaries(st.sampled_from(live), st.sampled_from([5, 6, BEGINNING])) if live else st.just({})
    )
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=3, unique=True).map(sorted))
    return rows, draw(stamps), cuts


def frozen(rows: list[Row], start: int) -> Block:
    tail = Tail(start, DIMENSION)
    for row in rows:
        tail.append(row)
    return tail.frozen()


def plain(block: Block) -> dict[str, Any]:
    return {name: (array.shape, array.tobytes()) for name, array in block_arrays(block).items()}


def rebuilt(rows: list[Row], stamps: dict[int, int]) -> Block:
    """What rows alone give: erased ones come as rows without values, others with their newest stamp."""
    fresh = []
    for row in rows:
        stamp = stamps.get(row.ordinal)
        if row.values is None or stamp == BEGINNING:
            fresh.append(Row(row.ordinal, None, {}, None, 0.0))
        else:
            newest = row.values if stamp is None else {**row.values, "expired_at": stamp}
            fresh.append(Row(row.ordinal, newest, row.terms, row.codes, row.scale))
    return join_blocks([frozen(fresh, 0)], {}, DIMENSION)


@given(histories())
def test_a_merge_equals_a_rebuild_from_rows(history: tuple[list[Row], dict[int, int], list[int]]) -> None:
    rows, stamps, cuts = history
    edges = [0, *cuts, len(rows)]
    blocks = [frozen(rows[a:b], a) for a, b in itertools.pairwise(edges)]
    exact = plain(rebuilt(rows, stamps))
    assert plain(join_blocks(blocks, stamps, DIMENSION)) == exact
    # Each block sealed with its stamps first, written, read, and all joined later.
    sealed = [join_blocks([block], stamps, DIMENSION) for block in blocks]
    read = [block_of_arrays(block.start, block_arrays(block)) for block in sealed]
    assert plain(join_blocks(read, {}, DIMENSION)) == exact
