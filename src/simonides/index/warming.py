"""Read what a snapshot has mapped once, so that no recall waits for the disk (HX-19).

One byte of every page is read. Cost: nothing that lies in memory already takes long (about 1 ms per 100 MB);
what does not is read from the disk at its speed.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.index.block import block_arrays
from simonides.index.graph import graph_arrays
from simonides.index.postings import FIELDS, SealedPostings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot


def touch(snapshot: IndexSnapshot) -> int:
    """Read every page of the sealed arrays; returns their size in bytes."""
    size = 0
    for array in _sealed(snapshot):
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        # The sum is asked for, so that the pages are.
        int(raw[:: mmap.PAGESIZE].sum(dtype=np.uint64))
        size += raw.nbytes
    return size


def _sealed(snapshot: IndexSnapshot) -> Iterator[NDArray[Any]]:
    for block in snapshot.blocks:
        # The tail lies in memory as it is.
        if all(isinstance(block.postings[field], SealedPostings) for field in FIELDS):
            yield from block_arrays(block).values()
    yield from graph_arrays(snapshot.graph).values()
