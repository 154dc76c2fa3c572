"""Merge the tail into sealed blocks: write a new generation and publish it by compare-and-swap.

A merge takes the tail and those last blocks that are no larger than what it has taken so far (as a binary
counter does), so a row is written about log2(65,536 / 2,000) ≈ 5 times before it rests in a full block: the
write amplification. A block that holds an erased row is rewritten without it. The first to publish wins; the
loser deletes its files, and readers keep their tails in memory. A merge that read before something was erased
writes nothing, since a purge may have ended meanwhile.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.backends.embedded.change_log import ERASE, read_meta
from simonides.backends.embedded.connection import write_transaction
from simonides.backends.embedded.purge_lock import joined
from simonides.index.block import LARGEST_BLOCK, Block, Tail, join_blocks
from simonides.index.generation import read_generation, remove_unused, write_generation
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import apsw

    from simonides.backends.embedded.catch_up import Position
    from simonides.backends.embedded.connection import Connections
    from simonides.index.files import FileLayer
    from simonides.index.generation import BlockFile, Generation, Origin
    from simonides.index.graph import Graph
    from simonides.index.snapshot import IndexSnapshot
    from simonides.storage.reader import Meta

SMALLEST_MERGE = 2_000
"""Rows the tail may hold before it is merged, or 2 % of the bank if that is more."""

SMALLEST_EDGE_MERGE = 50_000
"""Mentions and links that may wait, or a tenth of the graph if that is more; recalls look through all."""


def merge_due(position: Position) -> bool:
    """Whether the tail, the newer stamps, an erased row in a file or an unusable index ask for a merge."""
    snapshot = position.snapshot
    allowed = allowed_tail(snapshot)
    waiting = position.tail.rows + sum(block.rows for block in position.rebuilt)
    if waiting > allowed or len(snapshot.expired) > allowed or position.problem:
        return True
    graph = snapshot.graph
    newer = len(graph.newer_links) + len(graph.newer_mentions)
    if newer > max(SMALLEST_EDGE_MERGE, (len(graph.links.ends) + len(graph.by_row.ends)) // 10):
        return True
    sealed = sealed_rows(position)
    return any(ordinal < sealed for ordinal in erased_rows(snapshot))


def sealed_rows(position: Position) -> int:
    """How many rows the files of its generation hold."""
    return position.generation.rows if position.generation else 0


def allowed_tail(snapshot: IndexSnapshot) -> int:
    """How many rows may wait in memory before they are sealed."""
    return max(SMALLEST_MERGE, snapshot.rows // 50)


def merge(
    connections: Connections,
    meta: Meta,
    origin: Origin,
    snapshot: IndexSnapshot,
    generation: Generation | None,
    files: FileLayer,
    index: Path,
    *,
    alone: bool = False,
) -> bool:
    """Publish a generation that holds everything in *snapshot*; whether this merge won the race.

    Args:
        connections: of the bank, outside a transaction.
        meta: as a read transaction saw it.
        origin: of a generation that is made at its change.
        snapshot: at the same change.
        generation: what the snapshot's first blocks were opened from; ``None`` = nothing on disk is usable.
        files: the file layer.
        index: the bank's index folder.
        alone: the caller keeps all others out already (see ``purge_lock``).
    """
    parts = sealed_parts(snapshot, generation)
    expired = stamps_beside(parts, snapshot)
    graph = snapshot.graph.sealed(np.array(erased_rows(snapshot), np.int64))
    with contextlib.nullcontext(enter_result=True) if alone else joined(index.parent) as may_write:
        if not may_write or not is_unchanged(connections.get(), meta, snapshot.sequence):
            return False
        number = free_number(files, index, meta.generation)
        written = write_new(files, index, number, origin, parts, expired, graph)
        won = written and _won(connections, meta, number, files, index)
    if won:
        # The next writer may have published and deleted this generation already; then it cleaned up, too.
        with contextlib.suppress(FileNotFoundError):
            remove_unused(files, index, read_generation(files, index, number))
    return won


def is_unchanged(connection: apsw.Connection, meta: Meta, sequence: int) -> bool:
    """Whether what was read at *meta* and at change *sequence* may still be written to a file.

    Nothing may have been erased since: a purge that has ended in between would have to find it.
    """
    now = read_meta(connection)
    erased = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM changes WHERE sequence > ? AND operation = ?)", (sequence, ERASE)
    ).get
    return (now.epoch, now.analyser) == (meta.epoch, meta.analyser) and not erased


def write_new(
    files: FileLayer,
    index: Path,
    number: int,
    origin: Origin,
    parts: Sequence[BlockFile | Block],
    expired: Mapping[int, int],
    graph: Graph,
) -> bool:
    """Write generation *number*; false where another writer was faster.

    What failed (``OSError``) leaves nothing.
    """
    try:
        write_generation(files, index, number, origin, parts, expired, graph)
    except FileExistsError:
        # Another writer took the number a moment earlier: the folder is theirs, so leave it.
        return False
    except FileNotFoundError:
        # Another writer published a higher number and cleaned up, or someone deleted the index.
        files.remove_folder(index / str(number))
        return False
    except BaseException:
        files.remove_folder(index / str(number))
        raise
    return True


def _won(connections: Connections, meta: Meta, number: int, files: FileLayer, index: Path) -> bool:
    """Publish generation *number*; the loser's files are deleted."""
    won = False
    try:
        won = _publish(connections, meta, number)
    finally:
        if not won:
            files.remove_folder(index / str(number))
    return won


def sealed_parts(snapshot: IndexSnapshot, generation: Generation | None) -> list[BlockFile | Block]:
    """What the new generation is made of, ascending: files that stay, and newly sealed blocks."""
    if generation is None or len(snapshot.expired) > allowed_tail(snapshot):
        return [_joined([block], snapshot) for block in snapshot.blocks]
    files, blocks = list(generation.files), list(generation.blocks)
    group = list(snapshot.blocks[len(blocks) :])
    while blocks and blocks[-1].rows <= _rows(group) and blocks[-1].rows + _rows(group) <= LARGEST_BLOCK:
        group = [blocks.pop(), *group]
        files.pop()
    erased = erased_rows(snapshot)
    parts: list[BlockFile | Block] = [
        _joined([block], snapshot) if any(block.start <= ordinal < block.stop for ordinal in erased) else file
        for file, block in zip(files, blocks, strict=True)
    ]
    return parts + ([_joined(group, snapshot)] if group else [])


def _joined(blocks: Sequence[Block], snapshot: IndexSnapshot) -> Block:
    """One sealed block of *blocks*; what a load made is one already, where nothing in it has ended since."""
    first = blocks[0]
    ended = any(first.start <= ordinal < first.stop for ordinal in snapshot.expired)
    if (
        len(blocks) == 1
        and first.is_sealed
        and first.vectors.codes.shape[1] == snapshot.dimension
        and not ended
    ):
        return first
    return join_blocks(blocks, snapshot.expired, snapshot.dimension)


def stamps_beside(parts: Sequence[BlockFile | Block], snapshot: IndexSnapshot) -> dict[int, int]:
    """The stamps that newly sealed blocks have not taken in."""
    sealed = [part for part in parts if isinstance(part, Block)]
    inside = {o for block in sealed for o in snapshot.expired if block.start <= o < block.stop}
    return {o: stamp for o, stamp in snapshot.expired.items() if o not in inside}


def erased_rows(snapshot: IndexSnapshot) -> list[int]:
    """Rows that were erased and whose terms and vectors may still lie in a file."""
    return [ordinal for ordinal, stamp in snapshot.expired.items() if stamp == BEGINNING]


def _rows(blocks: Sequence[Block]) -> int:
    return sum(block.rows for block in blocks)


def free_number(files: FileLayer, index: Path, current: int) -> int:
    """A number for a new generation, above *current* and every folder there is."""
    taken = [int(name) for name in files.names(index) if name.isdecimal()]
    return max([current, *taken]) + 1


def _publish(connections: Connections, meta: Meta, number: int) -> bool:
    with write_transaction(connections) as transaction:
        now = read_meta(transaction)
        if (now.generation, now.epoch, now.embedder, now.analyser) != (
            meta.generation,
            meta.epoch,
            meta.embedder,
            meta.analyser,
        ):
            return False
        transaction.execute("UPDATE meta SET generation=?", (number,))
        return True


def memory_merge_due(position: Position) -> bool:
    """Whether the tail of a bank without index files is longer than a merge leaves it."""
    return position.tail.rows > allowed_tail(position.snapshot)


def merged_in_memory(position: Position, snapshot: IndexSnapshot) -> Position:
    """The same rows with an empty tail, for a bank that may write no files.

    Each process merges for itself.
    """
    blocks = list(position.rebuilt)
    group = list(snapshot.blocks[len(blocks) :])
    rows = sum(block.rows for block in group)
    while blocks and blocks[-1].rows <= rows and blocks[-1].rows + rows <= LARGEST_BLOCK:
        rows += blocks[-1].rows
        group = [blocks.pop(), *group]
    if group:
        start, stop = group[0].start, group[-1].stop
        blocks.append(join_blocks(group, snapshot.expired, snapshot.dimension))
        stamps = {o: stamp for o, stamp in snapshot.expired.items() if not start <= o < stop}
    else:
        stamps = dict(snapshot.expired)
    graph = snapshot.graph.sealed(np.array(erased_rows(snapshot), np.int64))
    return replace(
        position,
        snapshot=replace(snapshot, blocks=tuple(blocks), expired=stamps, graph=graph),
        rebuilt=tuple(blocks),
        tail=Tail(blocks[-1].stop if blocks else 0, snapshot.dimension),
        graph=graph,
    )
