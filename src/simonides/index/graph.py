"""Adjacency of memories and entities in CSR with a small in-memory tail.

Memories are nodes by the ordinal of their first version in the words that they have (the *node*), so a link
outlives new versions of its ends, and other words bring links of their own. Mentions join a row (one version)
with an entity. A view shows only edges whose two ends it sees.
What is small and looked at often is merged with its tail in memory: a look into both takes twice as long.
Cost: O(edges of the nodes asked for); the sealed part is rebuilt whole at each merge, about 0.35 s CPU per
million edges.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.index.postings import positions
from simonides.records.edges import LINK_CODES, LINK_KINDS, Edges

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


def among(values: NDArray[np.int64], ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of *values* are in *ascending*; ``np.isin`` takes several times as long for a few hundred."""
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    there: NDArray[np.bool_] = ascending[at] == values
    return there


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """*values* ascending, each once; ``np.unique`` takes several times as long for a few hundred."""
    if (values[1:] > values[:-1]).all():
        return values
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    once: NDArray[np.int64] = ordered[first]
    return once


_MARKED = 16
"""To look for marks in so many places takes as long as to order one number."""


def ascending(values: NDArray[np.int64], stop: int) -> NDArray[np.int64]:
    """Distinct *values* from 0 and below *stop*, sorted; ``np.sort`` takes several times as long."""
    if stop <= _MARKED * len(values):
        there = np.zeros(stop, np.bool_)
        there[values] = True
        return there.nonzero()[0]
    # By their lower and then their upper halves: of 16 bits, a stable sort counts.
    values = values[np.argsort(values.astype(np.uint16), kind="stable")]
    return values[np.argsort((values >> 16).astype(np.uint16), kind="stable")]


__all__ = [
    "LINK_CODES",
    "LINK_KINDS",
    "Edges",
    "Graph",
    "Pairs",
    "edges_of",
    "graph_arrays",
    "graph_of_arrays",
]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Edges sorted by their first end: those of node ``n`` are ``starts[n]`` to ``starts[n + 1]``.

    Attributes:
        starts: int64, shape (nodes + 1,).
        ends: int32, shape (edges,): the other ends.
        kinds: uint8, shape (edges,): codes in ``LINK_KINDS``; zero for mentions.
        weights: float32, shape (edges,); one for mentions.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    weights: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        kinds: NDArray[np.uint8],
        weights: NDArray[np.float32],
    ) -> Pairs:
        """Sort edges by (first end, second end, kind)."""
        return cls.of_ordered(Edges(first, second, kinds, weights).ordered())

    @classmethod
    def of_ordered(cls, edges: Edges) -> Pairs:
        nodes = int(edges.first[-1]) + 1 if len(edges) else 0
        starts = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(edges.first, minlength=nodes), out=starts[1:])
        return cls(starts, edges.second.astype(np.int32), edges.kinds, edges.weights)

    def edges(self, nodes: NDArray[np.int64]) -> Edges:
        """The edges of *nodes*, ascending, in their order."""
        nodes = nodes[: nodes.searchsorted(len(self.starts) - 1)]
        begin = self.starts.take(nodes)
        count = self.starts[1:].take(nodes) - begin
        places = positions(begin, count)
        return Edges(
            nodes.repeat(count),
            self.ends.take(places).astype(np.int64),
            self.kinds.take(places),
            self.weights.take(places),
        )

    def runs(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the edges of each node begin, and how many there are."""
        inside = nodes < len(self.starts) - 1
        if inside.all():
            begin = self.starts[nodes]
            return begin, self.starts[1:][nodes] - begin
        begin, count = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
        begin[inside], count[inside] = self.runs(nodes[inside])
        return begin, count


_NOTHING = Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8), np.empty(0, np.float32))


def _count(
    ends: NDArray[np.int32] | NDArray[np.int64],
    begin: NDArray[np.int64],
    count: NDArray[np.int64],
    mask: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """How many of each run of *ends* lie in the mask."""
    return count if mask.all() else _summed(mask[ends[positions(begin, count)]], count)


def _summed(holds: NDArray[np.bool_], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of each run hold, the runs being one after the other."""
    runs = np.arange(len(count)).repeat(count)
    return np.bincount(runs.compress(holds), minlength=len(count))


def edges_of(rows: Sequence[tuple[int, int, int, float]]) -> Edges:
    """Edges from (first, second, kind code, weight) tuples."""
    first, second, kinds, weights = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Edges(
        np.array(first, np.int64),
        np.array(second, np.int64),
        np.array(kinds, np.uint8),
        np.array(weights, np.float32),
    )


@dataclass(frozen=True, slots=True)
class Tail:
    """Ordered edges that are not sealed yet; *holds*: bool, by node, whether it is the first end of any."""

    edges: Edges
    holds: NDArray[np.bool_]

    @classmethod
    def of(cls, newer: Edges) -> Tail:
        holds = np.zeros(int(newer.first.max(initial=-1)) + 2, np.bool_)
        holds[newer.first] = True
        return cls(newer.ordered(), holds)

    def of_nodes(self, nodes: NDArray[np.int64]) -> Edges:
        held = nodes.compress(self.holds[np.minimum(nodes, len(self.holds) - 1)])
        if not len(held):
            return _NOTHING
        begin, count = self.runs(held)
        places = positions(begin, count)
        edges = self.edges
        return Edges(held.repeat(count), edges.second[places], edges.kinds[places], edges.weights[places])

    def runs(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        begin = np.searchsorted(self.edges.first, nodes).astype(np.int64)
        return begin, np.searchsorted(self.edges.first, nodes, side="right") - begin


_MERGED = 2**17
"""Edges up to which a part is merged in memory."""

_PER_LOOK = 512
"""Edges whose merge costs as much as to look into the tail once."""


class Part:
    """One adjacency of a graph: what is sealed, and the tail; after many looks, both as one."""

    def __init__(self, sealed: Pairs, newer: Edges) -> None:
        # One value, which other threads see before or after a merge.
        self._both = sealed, Tail.of(newer)
        self._looks = 0

    def edges(self, nodes: NDArray[np.int64]) -> Edges:
        """The edges of *nodes*, ordered."""
        nodes = distinct(nodes)
        pairs, tail = self._merged()
        return _joined(pairs.edges(nodes), tail.of_nodes(nodes)) if len(tail.edges) else pairs.edges(nodes)

    def count(self, nodes: NDArray[np.int64], ends: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of *ends* (a mask) each of *nodes* has."""
        pairs, tail = self._merged()
        counts = _count(pairs.ends, *pairs.runs(nodes), ends)
        return counts + _count(tail.edges.second, *tail.runs(nodes), ends) if len(tail.edges) else counts

    def _merged(self) -> tuple[Pairs, Tail]:
        """Both, the tail empty as soon as looks into it have cost what a merge does."""
        pairs, tail = self._both
        if len(tail.edges) and len(pairs.ends) <= _MERGED:
            self._looks += 1
            if self._looks * _PER_LOOK > len(pairs.ends):
                everything = pairs.edges(np.arange(len(pairs.starts) - 1))
                self._both = Pairs.of_ordered(_joined(everything, tail.edges)), Tail.of(_NOTHING)
        return self._both


@dataclass(frozen=True, slots=True)
class Graph:
    """Adjacency of a whole snapshot: sealed pairs plus what came since.

    Attributes:
        links: node → node, both ways.
        by_row: row → entity.
        by_entity: entity → row.
        newer_links, newer_mentions: the tail, in the order written.
        last_link, last_mention: numbers of the newest ones in it, to go on from.
        parts: cache.
    """

    links: Pairs
    by_row: Pairs
    by_entity: Pairs
    newer_links: Edges
    newer_mentions: Edges
    last_link: int
    last_mention: int
    parts: dict[str, Part] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def empty(cls) -> Graph:
        nothing = edges_of(())
        pairs = _pairs(nothing)
        return cls(pairs, pairs, pairs, nothing, nothing, 0, 0)

    def extended(self, links: Edges, mentions: Edges, last_link: int, last_mention: int) -> Graph:
        """This graph with newer edges (links one way, as written)."""
        return Graph(
            self.links,
            self.by_row,
            self.by_entity,
            Edges.join([self.newer_links, links]),
            Edges.join([self.newer_mentions, mentions]),
            last_link,
            last_mention,
        )

    def sealed(self, erased: NDArray[np.int64]) -> Graph:
        """The same graph without a tail, and without the edges of *erased* rows."""
        links = self._all(self.links, Edges.join([self.newer_links, self.newer_links.reversed()]))
        mentions = self._all(self.by_row, self.newer_mentions)
        links = links.keep(~np.isin(links.first, erased) & ~np.isin(links.second, erased))
        mentions = mentions.keep(~np.isin(mentions.first, erased))
        nothing = edges_of(())
        return Graph(
            _pairs(links),
            _pairs(mentions),
            _pairs(mentions.reversed()),
            nothing,
            nothing,
            self.last_link,
            self.last_mention,
        )

    @staticmethod
    def _all(pairs: Pairs, newer: Edges) -> Edges:
        return Edges.join([pairs.edges(np.arange(len(pairs.starts) - 1, dtype=np.int64)), newer])

    def linked(self, nodes: NDArray[np.int64]) -> Edges:
        """Links of *nodes*, both ways: first = a node asked for, second = the other end."""
        return self._part("links").edges(nodes)

    def entities(self, rows: NDArray[np.int64]) -> Edges:
        """Mentions of *rows*: first = row, second = entity."""
        return self._part("by_row").edges(rows)

    def mentioning(self, entities: NDArray[np.int64]) -> Edges:
        """Mentions of *entities*: first = entity, second = row."""
        return self._part("by_entity").edges(entities)

    def count_mentioning(self, entities: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of *rows* (a mask) mention each of *entities*."""
        return self._part("by_entity").count(entities, rows)

    def edges_at_least(
        self,
        rows: NDArray[np.int64],
        nodes: NDArray[np.int64],
        least: NDArray[np.float64],
        enough: NDArray[np.float64],
        counts: Callable[[NDArray[np.int32]], NDArray[np.bool_]] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many sealed mentions each row has, and how many sealed links its node.

        Args:
            rows: int64, shape (n,).
            nodes: int64, shape (n,).
            least: float64, by code of ``LINK_KINDS``: the weight from which a link counts.
            enough: float64, shape (n,): count links only of rows with more edges than that, and stop there;
                0 everywhere = count all.
            counts: mask of other ends, which count; ``None`` = all.
        """
        mentions = self.by_row.runs(rows)[1]
        begin, count = self.links.runs(nodes)
        if enough.any():
            needed = np.ceil(enough).astype(np.int64) - mentions
            count = np.where(needed <= count, np.maximum(needed, 0), 0)
        places = positions(begin, count)
        holds = self.links.weights[places] >= least[self.links.kinds[places]]
        if counts is not None:
            holds &= counts(self.links.ends[places])
        return mentions, _summed(holds, count)

    def _part(self, name: str) -> Part:
        """A part of all edges, made at the first look."""
        if name not in self.parts:
            sealed, newer = {
                "links": lambda: (self.links, Edges.join([self.newer_links, self.newer_links.reversed()])),
                "by_row": lambda: (self.by_row, self.newer_mentions),
                "by_entity": lambda: (self.by_entity, self.newer_mentions.reversed()),
            }[name]()
            self.parts[name] = Part(sealed, newer)
        return self.parts[name]


def _joined(sealed: Edges, newer: Edges) -> Edges:
    """All of them, ordered; each of both is."""
    if not len(newer):
        return sealed
    joined = Edges.join([sealed, newer])
    pairs = (joined.first << 32) | joined.second
    # Two runs in order are merged by a stable sort, in a third of the time that three keys take.
    order = np.argsort(pairs, kind="stable")
    pairs, kinds = pairs[order], joined.kinds[order]
    alike = pairs[1:] == pairs[:-1]
    if alike.any():
        # Links of two kinds between the same two: few.
        again = np.zeros(len(pairs), np.bool_)
        again[1:] = alike
        again[:-1] |= alike
        places = again.nonzero()[0]
        order[places] = order[places[np.lexsort((kinds[places], pairs[places]))]]
        kinds = joined.kinds[order]
    return Edges(joined.first[order], joined.second[order], kinds, joined.weights[order])


def _pairs(edges: Edges) -> Pairs:
    return Pairs.of(edges.first, edges.second, edges.kinds, edges.weights)


_PARTS = ("links", "by_row", "by_entity")


def graph_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
    """A sealed graph as named arrays, for a file."""
    arrays: dict[str, NDArray[Any]] = {"last": np.array([graph.last_link, graph.last_mention], np.int64)}
    for part in _PARTS:
        pairs: Pairs = getattr(graph, part)
        arrays |= {
            f"{part}.starts": pairs.starts,
            f"{part}.ends": pairs.ends,
            f"{part}.kinds": pairs.kinds,
            f"{part}.weights": pairs.weights,
        }
    return arrays


def graph_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> Graph:
    """The inverse of ``graph_arrays``."""
    links, by_row, by_entity = (
        Pairs(*(arrays[f"{part}.{name}"] for name in ("starts", "ends", "kinds", "weights")))
        for part in _PARTS
    )
    last_link, last_mention = (int(number) for number in arrays["last"])
    nothing = edges_of(())
    return Graph(links, by_row, by_entity, nothing, nothing, last_link, last_mention)
