"""The whole bank at one sequence number: sealed blocks, the frozen tail, and newer expiry stamps."""

from __future__ import annotations

import mmap
import threading
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simonides.index.accesses import Accesses
from simonides.index.block import block_arrays
from simonides.index.columns import COLUMNS
from simonides.index.graph import Graph, graph_arrays
from simonides.index.postings import FIELDS, BlockPostings, SealedPostings
from simonides.index.sparse_postings import BlockSparse
from simonides.index.vectors import BlockVectors, gather_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.block import Block


Value = TypeVar("Value")

MOST = 16
"""Values of one maker that are kept at once."""


class Kept:
    """A cache of what stages made of a snapshot, for the next recall; thread-safe.

    Any write replaces the snapshot, so nothing here can be out of date. A key names all that a value depends
    on beside the snapshot, above all the rows that were looked at, since other principals see others. When
    there are too many values of one maker, the least recently used key goes first.
    """

    def __init__(self) -> None:
        self._values: dict[str, dict[Hashable, object]] = {}
        self._lock = threading.Lock()

    def get(self, maker: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """What *make* gives, or gave before for the same *maker* and *key*; nobody may change it."""
        with self._lock:
            values = self._values.setdefault(maker, {})
            if key in values:
                # The one used last goes last.
                found: Value = values.pop(key)  # type: ignore[assignment]
                values[key] = found
                return found
        made = make()
        with self._lock:
            values[key] = made
            while len(values) > MOST:
                del values[next(iter(values))]
        return made


_NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class IndexSnapshot:
    """Immutable; a recall holds one for as long as it runs. Implements ``protocols.Snapshot``.

    Attributes:
        sequence: the last change that is in it.
        generation: of the segments it was opened from; 0 = none.
        dimension: of the vectors; 0 = none yet.
        blocks: ascending, without gaps, the tail last.
        expired: ``expired_at`` stamps newer than the blocks, by ordinal; ``BEGINNING`` = erased.
        labels, label_sets: names and sets of names behind the codes in the columns. Shared and only ever
            appended to, so codes in the blocks stay valid.
        last_ingested: the newest ``ingested_at``, microseconds UTC.
        accesses: who said when that a memory was of use.
    """

    sequence: int
    generation: int
    dimension: int
    blocks: tuple[Block, ...]
    expired: Mapping[int, int]
    labels: Sequence[str]
    label_sets: Sequence[frozenset[str]]
    last_ingested: int
    graph: Graph = field(default_factory=Graph.empty)
    accesses: Accesses = field(default_factory=Accesses.empty)

    @property
    def rows(self) -> int:
        return self.blocks[-1].stop if self.blocks else 0

    @cached_property
    def kept(self) -> Kept:
        return Kept()

    @cached_property
    def vectors(self) -> BlockVectors:
        return BlockVectors(tuple((block.start, block.vectors) for block in self.blocks), self.dimension)

    @cached_property
    def postings(self) -> BlockPostings:
        return BlockPostings(tuple((block.start, block.postings) for block in self.blocks), self.rows)

    @cached_property
    def sparse(self) -> BlockSparse:
        return BlockSparse(tuple((block.start, block.sparse) for block in self.blocks))

    def column(self, name: str) -> NDArray[Any]:
        """A whole column, shape (rows,), with the newer expiry stamps laid over ``expired_at``."""
        parts = [block.columns[name] for block in self.blocks] or [np.empty(0, COLUMNS[name])]
        whole = np.concatenate(parts)
        if name == "expired_at" and self.expired:
            whole[list(self.expired)] = list(self.expired.values())
        return whole

    @cached_property
    def newer_stamps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows whose ``expired_at`` is newer than their block, ascending, and the stamps."""
        rows = sorted(self.expired)
        return np.array(rows, np.int64), np.array([self.expired[row] for row in rows], np.int64)

    @cached_property
    def later_versions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows that are not the first version in their words, and their nodes, by node, then row."""
        # The first version in other words is a node of its own.
        rows = self.later_of_memories[0]
        nodes = self.gather("node", rows).astype(np.int64)
        rows, nodes = rows[nodes != rows], nodes[nodes != rows]
        order = np.argsort(nodes, kind="stable")
        return rows[order], nodes[order]

    @cached_property
    def later_of_memories(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows that are not the first version of their memory, in whatever words, and the first ones."""
        rows = np.concatenate([_NO_ROWS, *(block.start + block.later_versions for block in self.blocks)])
        return rows, self.gather("root", rows).astype(np.int64)

    def gather(self, name: str, ordinals: NDArray[np.int64]) -> NDArray[Any]:
        """Values of a column at *ordinals* (``expired_at`` without the newer stamps)."""
        if len(self.blocks) == 1:
            whole: NDArray[Any] = self.blocks[0].columns[name][ordinals - self.blocks[0].start]
            return whole
        picked = np.empty(len(ordinals), COLUMNS[name])
        for block, places, rows in self._by_block(ordinals):
            picked[places] = block.columns[name][rows]
        return picked

    def token_codes(self, ordinals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """How many token codes the rows at *ordinals* have, and all of them, one after the other."""
        blocks = [(block.start, block.tokens) for block in self.blocks]
        return gather_tokens(blocks, ordinals, self.dimension)

    def codes(self, ordinals: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Int8 vectors and scales at *ordinals*; zero where a row has none."""
        codes = np.zeros((len(ordinals), self.dimension), np.int8)
        scales = np.zeros(len(ordinals), np.float32)
        for block, places, rows in self._by_block(ordinals):
            if block.vectors.codes.shape[1] == self.dimension:
                codes[places] = block.vectors.codes[rows]
                scales[places] = block.vectors.scales[rows]
        return codes, scales

    def _by_block(
        self, ordinals: NDArray[np.int64]
    ) -> Iterator[tuple[Block, NDArray[np.int64] | slice, NDArray[np.int64]]]:
        """Each block that holds some of *ordinals*, the places of these, and their rows in it."""
        if len(self.blocks) == 1:
            yield self.blocks[0], slice(None), ordinals - self.blocks[0].start
            return
        order = np.argsort(ordinals)
        ascending = ordinals[order]
        cuts = [*np.searchsorted(ascending, self._starts).tolist(), len(order)]
        for block, (start, stop) in zip(self.blocks, pairwise(cuts), strict=True):
            if start < stop:
                yield block, order[start:stop], ascending[start:stop] - block.start

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.array([block.start for block in self.blocks], np.int64)


def touch(snapshot: IndexSnapshot) -> int:
    """Read a byte of every mapped page, so that no recall waits for the disk (HX-19); returns their size.

    Cost: about 1 ms per 100 MB that lie in memory already.
    """
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
