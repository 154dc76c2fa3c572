"""Give the index what a load has just stored, in place of a second look at the stored rows.

    values of the rows + index parts ─► block ─► behind the blocks of the position in memory

The block holds what ``catch_up`` would read of the same rows. Where anything stands between, another writer's
rows or another embedder, nothing is given: the next catch-up reads the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.digest import IMMUTABLE
from simonides.index.block import Block, Tail
from simonides.index.columns import COLUMNS
from simonides.index.part import block_of_parts
from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.kind import KIND_CODES, LAYER_CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simonides.backends.embedded.catch_up import Position
    from simonides.backends.embedded.change_log import Meta
    from simonides.index.part import IndexPart

_READ: Mapping[str, tuple[str, Callable[[Any], int | float] | None]] = {
    "kind": ("kind", KIND_CODES.__getitem__),
    "layer": ("layer", LAYER_CODES.__getitem__),
    "occurred_from": ("occurred_from", lambda value: FOREVER if value is None else value),
    "occurred_to": ("occurred_to", lambda value: BEGINNING if value is None else value),
    "last_access": ("last_access", lambda value: BEGINNING if value is None else value),
    "id_key": ("id", lambda value: int(value, 16)),
}
"""Columns of the index that are read from the row's column of another name, or of values that differ."""


def fed_block(values: Sequence[Sequence[Any]], parts: Sequence[IndexPart]) -> Block:
    """The block of new rows.

    Args:
        values: per row, as ``IMMUTABLE`` names them; at least one.
        parts: of exactly these rows.
    """
    stored = dict(zip(IMMUTABLE, zip(*values, strict=True), strict=True))
    columns = {"expired_at": np.full(len(values), FOREVER, COLUMNS["expired_at"])}
    for name, dtype in COLUMNS.items():
        if name in columns or name in parts[0].columns:
            continue
        source, read = _READ.get(name, (name, None))
        column = stored[source]
        columns[name] = np.array(column if read is None else list(map(read, column)), dtype)
    return block_of_parts(int(stored["ordinal"][0]), columns, parts)


def feed(position: Position | None, before: Meta, after: Meta, block: Block) -> Position | None:
    """The position with the block behind its rows; ``None`` = it does not follow them.

    Args:
        position: of this process; may be moved on.
        before: counters as the transaction found them.
        after: as it left them.
        block: of all rows that it added.
    """
    if position is None or position.epoch != after.epoch or position.analyser != after.analyser:
        return None
    if position.embedder != after.embedder:
        if before.next_ordinal or block.start or position.snapshot.rows or position.embedder is not None:
            return None
        # The very first vectors say of which dimension the index is.
        dimension = block.vectors.codes.shape[1]
        position = replace(
            position,
            snapshot=replace(position.snapshot, dimension=dimension),
            embedder=after.embedder,
            tail=Tail(0, dimension),
        )
    tail = position.tail
    if tail.dimension != block.vectors.codes.shape[1] or tail.start + tail.rows != block.start:
        return None
    position.rebuilt += ((tail.frozen(),) if tail.rows else ()) + (block,)
    position.tail = Tail(block.stop, tail.dimension)
    return position
