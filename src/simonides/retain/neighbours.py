"""The stored memories nearest to each item of a batch, and the links made to them.

Exact: the same scan and rescore as recall, on the rows a new row may be compared with. Inside the batch one
integer matrix product compares all pairs.

Links of a new memory to stored ones, made at the write:

    semantic  the nearest by meaning, cosine ≥ 0.7, weight = cosine (HI-03)
    causal    from a stated effect to the memory that tells its cause, weight of the cue (HI-03); it must hold
              most of the cause's words, among the nearest by meaning and the one before it in the session
    temporal  what happened within 24 hours, weight max(0.3, 1 − hours / 24), the 10 nearest in time
    session   the memory before it in the same conversation, weight 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.view import comparable
from simonides.records.interval import DAY_MICROS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.draft import Prepared
    from simonides.records.extraction import Cause


RESCORE = 512
AT_ONCE = 32_768
"""Up to so many stored rows, a matrix product compares items with all of them."""

GROUP = 32
"""Items compared in one product: what it holds in memory is this times the rows."""

FEW = 16
"""A batch of fewer items is compared one by one."""

# Below 2²⁴ every partial sum of int8 products is exact in float32.
_EXACT_DIMENSIONS = 1_024


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near to an item: row ordinal in the snapshot, or position in the batch; cosine in [-1, 1]."""

    ordinal: int | None
    position: int | None
    cosine: float


class Neighbourhood:
    """Nearest rows and items of each item of one batch.

    Keeps one mask per set of readers. *now*: microseconds UTC.
    """

    def __init__(self, snapshot: IndexSnapshot, items: Sequence[Prepared], now: int) -> None:
        self._snapshot = snapshot
        self._items = items
        self._now = now
        self._masks: dict[tuple[str, ...], NDArray[np.bool_]] = {}
        self.nodes: NDArray[np.int64] = snapshot.column("node")
        self._cosines = _pairwise(items)
        self._together = _together(items)
        self._group: tuple[int, NDArray[np.float64]] | None = None
        self._written = np.zeros(len(items), np.bool_)

    def wrote(self, position: int) -> None:
        """Note that the item at *position* became a row; an item that did not is nobody's neighbour."""
        self._written[position] = True

    def mask(self, readers: tuple[str, ...]) -> NDArray[np.bool_]:
        """Rows that an item with these readers may be compared with."""
        if readers not in self._masks:
            self._masks[readers] = comparable(self._snapshot, readers, self._now)
        return self._masks[readers]

    def nearest(self, position: int, most: int) -> list[Neighbour]:
        """The *most* nearest to the item at *position*, nearest first; empty when it has no vector."""
        item = self._items[position]
        if item.codes is None:
            return []
        ordinals, cosines = self._stored(position, most)
        best = np.lexsort((ordinals, -cosines))[:most]
        found = [Neighbour(int(ordinals[i]), None, float(cosines[i])) for i in best]
        earlier = np.flatnonzero(self._together[position, :position] & self._written[:position])
        near = self._cosines[position, earlier]
        best = np.lexsort((earlier, -near))[:most]
        found += [Neighbour(None, int(earlier[i]), float(near[i])) for i in best]
        found.sort(key=lambda n: (-n.cosine, n.position is not None, n.ordinal or 0, n.position or 0))
        return found[:most]

    def _stored(self, position: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """At least the *most* nearest stored rows and their cosines, unordered."""
        item = self._items[position]
        assert item.codes is not None
        mask = self.mask(item.draft.acl)
        if self._snapshot.dimension != len(item.codes):
            return np.empty(0, np.int64), np.empty(0, np.float64)
        if len(mask) > AT_ONCE or len(self._items) < FEW:
            query = item.codes.astype(np.float32) * np.float32(item.scale)
            return self._snapshot.vectors.nearest(query, mask, depth=most, rescore=RESCORE)
        first = position - position % GROUP
        if self._group is None or self._group[0] != first:
            self._group = first, _every_cosine(self._snapshot, self._items[first : first + GROUP])
        cosines = np.where(mask, self._group[1][position - first], -2.0)
        cut = np.partition(cosines, len(cosines) - most)[len(cosines) - most] if len(cosines) > most else -2.0
        near = np.flatnonzero((cosines >= cut) & (cosines > -2.0))
        return near.astype(np.int64), cosines[near].astype(np.float64)


def _every_cosine(snapshot: IndexSnapshot, items: Sequence[Prepared]) -> NDArray[np.float64]:
    """Cosine of every item with every stored row, shape (items, rows); -2 for a row without a vector."""
    dimension = snapshot.dimension
    codes = np.zeros((len(items), dimension), np.float32)
    scales = np.zeros(len(items))
    for position, item in enumerate(items):
        if item.codes is not None and len(item.codes) == dimension:
            codes[position], scales[position] = item.codes, item.scale
    cosines = np.full((len(items), snapshot.rows), -2.0)
    for block in snapshot.blocks:
        if block.vectors.codes.shape[1] == dimension:
            dots = (codes @ block.vectors.codes.T.astype(np.float32)).astype(np.float64)
            known = dots * np.outer(scales, block.vectors.scales.astype(np.float64))
            cosines[:, block.start : block.stop] = np.where(block.vectors.scales > 0, known.round(9), -2.0)
    return cosines


def _together(items: Sequence[Prepared]) -> NDArray[np.bool_]:
    """[i, j]: item j has a vector, and all readers of item i may read it."""
    groups = {acl: number for number, acl in enumerate(dict.fromkeys(item.draft.acl for item in items))}
    table = np.array(
        [[not theirs or (bool(mine) and set(theirs) >= set(mine)) for theirs in groups] for mine in groups],
        np.bool_,
    ).reshape(len(groups), len(groups))
    group = np.array([groups[item.draft.acl] for item in items], np.intp)
    has_vector = np.array([item.codes is not None for item in items], np.bool_)
    together: NDArray[np.bool_] = table[np.ix_(group, group)] & has_vector[np.newaxis, :]
    return together


def _pairwise(items: Sequence[Prepared]) -> NDArray[np.float64]:
    dimension = max((len(item.codes) for item in items if item.codes is not None), default=0)
    codes = np.zeros((len(items), dimension), np.float32 if dimension <= _EXACT_DIMENSIONS else np.float64)
    for position, item in enumerate(items):
        if item.codes is not None:
            codes[position] = item.codes
    scales = np.array([item.scale for item in items], np.float64)
    cosines: NDArray[np.float64] = (codes @ codes.T).astype(np.float64) * np.outer(scales, scales)
    return cosines.round(9)


def novelty(neighbours: Sequence[Neighbour]) -> float:
    """1 − mean cosine of the neighbours, in [0, 1]; 1 when there are none."""
    if not neighbours:
        return 1.0
    mean = sum(max(0.0, neighbour.cosine) for neighbour in neighbours) / len(neighbours)
    return round(min(1.0, max(0.0, 1.0 - mean)), 9)


SEMANTIC_FROM = 0.7
NEAR_FROM = 0.5
"""Cosine from which a neighbour may state another value of the same thing."""

MOST_SEMANTIC = 5
MOST_TEMPORAL = 10
_CAUSE_WORDS = 0.5
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Related:
    """A stored memory that a new one may be linked to: its node and the terms of its text."""

    node: int
    terms: Collection[str]


def temporal_weight(micros_apart: int) -> float:
    """max(0.3, 1 − hours / 24); 0 beyond a day."""
    if micros_apart > DAY_MICROS:
        return 0.0
    return max(0.3, 1.0 - micros_apart / DAY_MICROS)


def causal_links(
    causes: Sequence[Cause], words: Mapping[tuple[int, int], Collection[str]], related: Sequence[Related]
) -> list[tuple[int, float]]:
    """Which related memory tells a cause: (node, weight), the best one per cause.

    *words* are the terms of each cause's span, stop-words left out; *related* has the best first.
    """
    found: dict[int, float] = {}
    for cause in causes:
        wanted = set(words[cause.cause])
        if len(wanted) < _FEWEST_WORDS:
            continue
        shares = [(len(wanted & set(one.terms)) / len(wanted), -place) for place, one in enumerate(related)]
        share, place = max(shares, default=(0.0, 0))
        if share >= _CAUSE_WORDS:
            node = related[-place].node
            found[node] = max(found.get(node, 0.0), cause.weight)
    return sorted(found.items())
