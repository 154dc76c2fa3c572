"""Seal the tail in memory: what a merge does, without files, for a bank that may write none.

Blocks grow as those of a merge do (see ``merge``): the tail is joined with the last blocks that are no
larger than what has been taken so far. Nobody is told; each process seals for itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.backends.embedded.merge import allowed_tail
from simonides.index.block import LARGEST_BLOCK, Tail, join_blocks
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from simonides.backends.embedded.catch_up import Position
    from simonides.index.snapshot import IndexSnapshot


def is_due(position: Position) -> bool:
    """Whether the tail is longer than a merge would leave it."""
    return position.tail.rows > allowed_tail(position.snapshot)


def sealed(position: Position, snapshot: IndexSnapshot) -> Position:
    """The same rows with an empty tail; *position* is left as it is.

    Args:
        position: of a bank without index files.
        snapshot: that *position* held a moment ago.
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
    erased = np.array([o for o, stamp in snapshot.expired.items() if stamp == BEGINNING], np.int64)
    graph = snapshot.graph.sealed(erased)
    return replace(
        position,
        snapshot=replace(snapshot, blocks=tuple(blocks), expired=stamps, graph=graph),
        rebuilt=tuple(blocks),
        tail=Tail(blocks[-1].stop if blocks else 0, snapshot.dimension),
        graph=graph,
    )
