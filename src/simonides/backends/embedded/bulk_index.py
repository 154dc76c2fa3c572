"""Build the index of a load from its values, instead of reading the stored rows again.

    values of the rows + index parts ─► block ─► generation on disk, named by the commit that stores the rows
                                              └► few rows: behind the blocks of the position in memory

The block equals what ``catch_up`` would build. A reader in any process finds the rows and their block
together, or neither. A crash before the commit leaves a folder that nothing names; the next writer of a
generation deletes it. Where other rows, another embedder or an erasure stand between, the block goes to the
position, or nowhere, and then rows are read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.catch_up import origin_of
from simonides.backends.embedded.checksums import IMMUTABLE
from simonides.backends.embedded.merge import (
    allowed_tail,
    erased_rows,
    free_number,
    sealed_parts,
    sealed_rows,
    stamps_beside,
)
from simonides.index.block import LARGEST_BLOCK, Block, Tail, block_of_parts
from simonides.index.columns import COLUMNS
from simonides.index.generation import write_generation
from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.kind import KIND_CODES, LAYER_CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import apsw

    from simonides.backends.embedded.catch_up import Position
    from simonides.index.block import IndexPart
    from simonides.index.files import FileLayer
    from simonides.index.snapshot import IndexSnapshot
    from simonides.storage.reader import Meta

SMALLEST_PUBLISHED = 256
"""Rows from which a load writes its block itself: to read fewer costs a reader no more than a recall does."""

_READ: Mapping[str, tuple[str, Callable[[Any], int | float] | None]] = {
    "kind": ("kind", KIND_CODES.__getitem__),
    "layer": ("layer", LAYER_CODES.__getitem__),
    "occurred_from": ("occurred_from", lambda value: FOREVER if value is None else value),
    "occurred_to": ("occurred_to", lambda value: BEGINNING if value is None else value),
    "last_access": ("last_access", lambda value: BEGINNING if value is None else value),
    "id_key": ("id", lambda value: int(value, 16)),
    "node": ("ordinal", None),
}
"""Columns of the index that are read from the row's column of another name, or of values that differ."""


def fed_block(values: Sequence[Sequence[Any]], parts: Sequence[IndexPart]) -> Block:
    """The block of new rows: of their *values*, as ``IMMUTABLE`` names them, and their *parts*."""
    stored = dict(zip(IMMUTABLE, zip(*values, strict=True), strict=True))
    columns = {"expired_at": np.full(len(values), FOREVER, COLUMNS["expired_at"])}
    for name, dtype in COLUMNS.items():
        if name in columns or name in parts[0].columns:
            continue
        source, read = _READ.get(name, (name, None))
        column = stored[source]
        columns[name] = np.array(column if read is None else list(map(read, column)), dtype)
    return block_of_parts(int(stored["ordinal"][0]), columns, parts)


def publish(
    connection: apsw.Connection,
    position: Position,
    snapshot: IndexSnapshot,
    after: Meta,
    block: Block,
    files: FileLayer,
    index: Path,
) -> int:
    """Write the generation that ends with *block*, and name it in the transaction that stores its rows.

    What no generation holds yet of older rows goes to disk with it; newer mentions and links do not.

    Args:
        connection: in that transaction, after everything else was written.
        position: of this process, caught up inside it.
        snapshot: the position's, before the rows of the block.
        after: counters as the transaction leaves them.
        block: of all rows that it added.
        files: the file layer.
        index: the bank's index folder.

    Returns:
        the generation's number; 0 = it cannot be written like this, and nothing was.

    Raises:
        OSError: it could not be written; nothing of it is left.
    """
    generation = position.generation
    dimension = _dimension(position, after, block)
    if dimension is None or snapshot.rows != block.start or not _is_small(position, snapshot, block):
        return 0
    whole = replace(snapshot, blocks=(*snapshot.blocks, block), dimension=dimension)
    parts = sealed_parts(whole, generation)
    erased = np.array(erased_rows(snapshot), np.int64)
    graph = generation.graph_at if generation else snapshot.graph.sealed(erased)
    origin = origin_of(connection, after, sequence=after.sequence)
    number = free_number(files, index, after.generation)
    try:
        write_generation(files, index, number, origin, parts, stamps_beside(parts, whole), graph)
        connection.execute("UPDATE meta SET generation=?", (number,))
    except FileExistsError:
        # A merge elsewhere took the number a moment earlier: the folder is theirs.
        return 0
    except BaseException:
        files.remove_folder(index / str(number))
        raise
    return number


def _is_small(position: Position, snapshot: IndexSnapshot, block: Block) -> bool:
    """Whether a block is worth a generation, and writing one so little work that other writers can wait.

    Blocks with erased or ended rows are left to a merge, which holds up nobody.
    """
    sealed = sealed_rows(position)
    return (
        block.rows >= SMALLEST_PUBLISHED
        and snapshot.rows - sealed <= LARGEST_BLOCK
        and len(snapshot.expired) <= allowed_tail(snapshot)
        and all(ordinal >= sealed for ordinal in erased_rows(snapshot))
    )


def _dimension(position: Position, after: Meta, block: Block) -> int | None:
    """The dimension of an index that the block can follow; ``None`` = it cannot. The first vectors set it."""
    dimension = block.vectors.codes.shape[1]
    if (position.epoch, position.analyser) != (after.epoch, after.analyser):
        return None
    if position.embedder == after.embedder:
        return dimension if position.tail.dimension == dimension else None
    fresh = position.embedder is None and not position.snapshot.rows and not block.start
    return dimension if fresh else None


def feed(position: Position | None, after: Meta, block: Block) -> Position | None:
    """The position with the block behind its rows; ``None`` = it does not follow them."""
    dimension = None if position is None else _dimension(position, after, block)
    if position is None or dimension is None:
        return None
    if position.embedder != after.embedder:
        position = replace(
            position,
            snapshot=replace(position.snapshot, dimension=dimension),
            embedder=after.embedder,
            tail=Tail(0, dimension),
        )
    tail = position.tail
    if tail.start + tail.rows != block.start:
        return None
    added = ((tail.frozen(),) if tail.rows else ()) + (block,)
    return replace(position, rebuilt=position.rebuilt + added, tail=Tail(block.stop, tail.dimension))
