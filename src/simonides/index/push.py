"""Personalised PageRank of memories and entities, by forward push over what a view lets see.

The walk starts at the seeds, and at each step goes on with probability d (``damping``) to a neighbour in
proportion to the edge's weight, else it starts anew:

    p = (1 − d) · Σ over k ≥ 0 of dᵏ · (seeds walked k steps)

    weight(memory, entity)  = n ^ −hub_damping, n = visible memories that mention the entity
    weight(memory, memory)  = the link's weight × that of its kind

Forward push keeps for each node what has settled there (p) and what still waits (r), and in synchronous
rounds spreads every r(u) > ε · edges(u): the settled part is a lower bound of the exact p, and settled plus
waiting is 1 at any time. An entity that thousands mention is so spread on only when a lot has gathered there.
ε = max(residual / visible memories, 1 / edges): a share of the mean mass in a small bank, and in a large one
what keeps the work near ``edges`` edges (times 1 / (1 − d)) whatever its size.

Masses are multiples of 2⁻⁵⁰ and weights of 2⁻²⁰, so that sums are exact: neither the order of rows nor the
numbers of entities, which others' memories shift, change a bit of the result.
Cost: each round sums over the edges that were read, without a sort of them; 10 to 70 ms, or less, on one core
at 10⁶ memories with four mentions and four links each, by how many memories mention the seeds.
Source: Andersen, Chung and Lang, Local Graph Partitioning using PageRank Vectors (2006); seeds and their use
for memory: Gutiérrez et al., From RAG to Memory (2025).
Weakness: a hub's own neighbours are hardly told apart, however near they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.distinct import distinct
from simonides.records.edges import LINK_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import View

_MASS_STEPS = 2.0**50
_WEIGHT_STEPS = 2.0**20


@dataclass(frozen=True, slots=True)
class Walk:
    """How mass spreads.

    Attributes:
        damping: probability to go on at each step, above 0 and below 1; 0.5 stays near, 0.85 is textbook.
        residual: share of the mean mass, per edge, below which a node is not spread on; above 0.
        rounds: of spreading at most, from 1; a memory's neighbour by an entity is two steps away.
        edges: to spread over at most, from 1.
        hub_damping: 0 = every entity counts alike, 1 = in inverse proportion to its memories.
        links: weight per kind of link, from 0; a kind at 0 or left out is not followed.
    """

    damping: float
    residual: float
    rounds: int
    edges: int
    hub_damping: float
    links: Mapping[str, float]

    def __post_init__(self) -> None:
        if not 0 < self.damping < 1:
            raise InputError("damping", f"{self.damping} is not between 0 and 1; 0.5 and 0.85 are usual")
        if not 0 < self.residual < math.inf:
            raise InputError("residual", f"{self.residual} is not a number above 0")
        for name, value in (("rounds", self.rounds), ("edges", self.edges)):
            if value < 1:
                raise InputError(name, f"{value} is below 1")
        if not 0 <= self.hub_damping <= 1:
            raise InputError("hub_damping", f"{self.hub_damping} is not between 0 and 1")
        for kind, weight in self.links.items():
            if kind not in LINK_KINDS:
                raise UnknownNameError(f"links.{kind}", kind, LINK_KINDS)
            if not 0 <= weight < math.inf:
                raise InputError(f"links.{kind}", f"{weight} is not a number from 0")


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the mass went.

    Attributes:
        rows: int64, ascending: memories that any mass reached.
        row_mass: float64: theirs; at most the exact personalised PageRank.
        entities, entity_mass: the same of entities.
        left: mass that is still to be spread; with all the masses it sums to 1.
        reason: why it did less than asked; empty when it ran in full.
    """

    rows: NDArray[np.int64]
    row_mass: NDArray[np.float64]
    entities: NDArray[np.int64]
    entity_mass: NDArray[np.float64]
    left: float
    reason: str


def spread(view: View, rows: Mapping[int, float], entities: Mapping[int, float], walk: Walk) -> Spread:
    """Personalised PageRank from seeds.

    Args:
        view: visible rows are the graph.
        rows: seeds by ordinal, each with its weight above 0; seeds of both kinds are scaled to sum to 1.
        entities: seeds by number, likewise. There is at least one seed.
        walk: how mass spreads.
    """
    nodes, waiting = _seeds(rows, entities)
    graph = _Graph(view, walk, nodes)
    masses = _Masses(waiting, graph)
    visible = max(1, int(np.count_nonzero(view.visible)))
    threshold = max(walk.residual / visible, 1.0 / walk.edges) * _MASS_STEPS
    budget, reason = walk.edges, ""
    for _ in range(walk.rounds):
        frontier, degrees = graph.worth_pushing(masses.waiting, threshold)
        if not len(frontier):
            break
        passed = int(degrees.sum())
        if passed > budget:
            reason = f"stopped before it passed its {walk.edges} edges"
            frontier = frontier[_within(masses.waiting[frontier] / degrees, degrees, budget)]
        masses.push(frontier, walk.damping)
        if reason:
            break
        budget -= passed
    return masses.result(len(nodes), walk.damping, reason)


def damped_weights(view: View, entities: NDArray[np.int64], hub_damping: float) -> NDArray[np.float64]:
    """What an edge to each entity weighs: n ^ −hub_damping, in (0, 1]; n counts visible memories."""
    return _damped(view.mention_counts(entities), hub_damping)


def _damped(counts: NDArray[np.int64], hub_damping: float) -> NDArray[np.float64]:
    weights = np.maximum(counts, 1).astype(np.float64) ** -hub_damping
    return np.maximum(_whole_steps(weights), 1.0 / _WEIGHT_STEPS)


def _seeds(
    rows: Mapping[int, float], entities: Mapping[int, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Nodes, ascending, and their shares of 1 in whole steps."""
    weights = {2 * row: weight for row, weight in rows.items()}
    weights |= {2 * entity + 1: weight for entity, weight in entities.items()}
    total = math.fsum(weights.values())
    nodes = sorted(weights)
    shares = np.array([weights[node] / total for node in nodes], np.float64)
    return np.array(nodes, np.int64), np.floor(shares * _MASS_STEPS)


def _within(per_edge: NDArray[np.float64], degrees: NDArray[np.int64], budget: int) -> NDArray[np.bool_]:
    """The nodes with most mass per edge that fit the budget; those that are alike stay or go together."""
    order = np.argsort(-per_edge, kind="stable")
    used = np.cumsum(degrees[order])
    over = int(np.searchsorted(used, budget, side="right"))
    kept: NDArray[np.bool_] = per_edge > per_edge[order[over]]
    return kept


_ROOM = 1_024
"""Places that arrays have at first; they are doubled when these are taken."""


_COUNTED = 256
"""Fewer memories are read at once: to count their edges costs as much."""


class _Masses:
    """What each node of a graph holds, by its place there; all in whole steps of 2⁻⁵⁰.

    Attributes:
        settled, waiting: float64.
        pushed: bool: whether what waited there has ever moved on.
    """

    def __init__(self, seeds: NDArray[np.float64], graph: _Graph) -> None:
        self._graph = graph
        self.settled = np.zeros(graph.room)
        self.waiting = _longer(seeds, graph.room)
        self.pushed = np.zeros(graph.room, np.bool_)

    def push(self, frontier: NDArray[np.int64], damping: float) -> None:
        """What waited at *frontier* (places) moves on; a node without edges keeps all."""
        graph, room = self._graph, self._graph.room
        if room > len(self.waiting):
            self.settled, self.waiting = _longer(self.settled, room), _longer(self.waiting, room)
            self.pushed = _longer(self.pushed, room)
        waited = self.waiting[frontier]
        moving = np.zeros(room)
        moving[frontier] = damping * waited
        # Over every edge that was read: most are passed, and finding those that are costs more.
        owners, ends, shares = graph.edges()
        moved = moving[owners]
        moved *= shares
        np.floor(moved, out=moved)
        self.settled[frontier] += waited - np.bincount(owners, moved, room)[frontier]
        self.waiting[frontier] = 0.0
        self.waiting += np.bincount(ends, moved, room)
        self.pushed[frontier] = True

    def result(self, seeds: int, damping: float, reason: str) -> Spread:
        """What has settled, with the part of the rest that would settle where it is."""
        owners, ends, _ = self._graph.edges()
        reached = np.zeros(self._graph.room, np.bool_)
        reached[:seeds] = True
        reached[ends[self.pushed[owners]]] = True
        places = np.flatnonzero(reached)
        nodes = self._graph.nodes[places]
        order = np.argsort(nodes)
        places, nodes = places[order], nodes[order]
        mass = (self.settled[places] + (1.0 - damping) * self.waiting[places]) / _MASS_STEPS
        left = damping * float(self.waiting.sum()) / _MASS_STEPS
        of_rows = (nodes & 1) == 0
        numbers = nodes >> 1
        return Spread(numbers[of_rows], mass[of_rows], numbers[~of_rows], mass[~of_rows], left, reason)


class _Graph:
    """The part of the visible graph that was looked at so far; every node is read once.

    A node is 2 · ordinal of a memory, or 2 · number of an entity + 1. It has a place, by when it was first
    seen, so that a round is plain sums over arrays without a sort.

    Attributes:
        room: places that there are; those behind the last node are empty.
        nodes: int64, by place.
    """

    def __init__(self, view: View, walk: Walk, seeds: NDArray[np.int64]) -> None:
        self._view = view
        self._hub_damping = walk.hub_damping
        self._kinds = np.array([walk.links.get(kind, 0.0) for kind in LINK_KINDS])
        # A link that weighs two steps is followed, however the product is rounded.
        with np.errstate(divide="ignore"):
            self._least = 2.0 / _WEIGHT_STEPS / self._kinds
        self.room = max(_ROOM, len(seeds))
        self.nodes = _longer(seeds, self.room)
        self._count = len(seeds)
        # Edges of each node: of a memory a floor under them until they are read; −1 = not counted yet.
        self._degrees = np.full(self.room, -1)
        # What an edge to an entity weighs, once it was counted.
        self._pays = np.zeros(self.room)
        self._read = np.zeros(self.room, np.bool_)
        self._owners, self._ends, self._shares = [_NOWHERE], [_NOWHERE], [_NO_WEIGHTS]
        # Place + 1 by node; 0 = not seen.
        self._places = np.zeros(max(2 * len(view.visible), int(seeds[-1]) + 1), np.int32)
        self._places[seeds] = np.arange(1, len(seeds) + 1)

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Every edge that was read: the places of both ends, and its share of all weights of the first."""
        for parts in (self._owners, self._ends, self._shares):
            if len(parts) > 1:
                parts[:] = [np.concatenate(parts)]
        return self._owners[0], self._ends[0], self._shares[0]

    def worth_pushing(
        self, waiting: NDArray[np.float64], threshold: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places of nodes with more than *threshold* waiting per edge, and how many edges they have.

        Edges are counted before they are read: an entity may be a hub, and most memories of the later rounds
        hold too little for theirs.
        """
        frontier = np.flatnonzero(waiting > threshold)
        unknown = frontier[self._degrees[frontier] < 0]
        if len(unknown):
            of_rows = (self.nodes[unknown] & 1) == 0
            rows = unknown[of_rows]
            self._count_rows(rows, waiting[rows] / threshold)
            self._count_entities(unknown[~of_rows])
        frontier = frontier[waiting[frontier] > threshold * self._degrees[frontier]]
        unread = frontier[~self._read[frontier]]
        if len(unread):
            of_rows = (self.nodes[unread] & 1) == 0
            self._read_rows(unread[of_rows])
            self._read_entities(unread[~of_rows])
            frontier = frontier[waiting[frontier] > threshold * self._degrees[frontier]]
        return frontier, np.maximum(self._degrees[frontier], 1)

    def _count_rows(self, places: NDArray[np.int64], enough: NDArray[np.float64]) -> None:
        """A floor under how many edges each of these memories has, where it may have *enough*."""
        if len(places) < _COUNTED:
            self._degrees[places] = 0
        else:
            rows = self.nodes[places] >> 1
            self._degrees[places] = self._view.edges_at_least(rows, self._least, enough)

    def _count_entities(self, places: NDArray[np.int64]) -> None:
        """How many visible memories mention each of these entities, and so what an edge to it weighs."""
        if len(places):
            counts = self._view.mention_counts(self.nodes[places] >> 1)
            self._degrees[places], self._pays[places] = counts, _damped(counts, self._hub_damping)

    def _read_rows(self, places: NDArray[np.int64]) -> None:
        """The edges of memories that were not read yet."""
        if not len(places):
            return
        rows = np.sort(self.nodes[places]) >> 1
        named = self._view.mentions(rows)
        first, second, tied = named.first, 2 * named.second + 1, _NO_WEIGHTS
        if self._kinds.any():
            links = self._view.links(rows)
            tied = _whole_steps(links.weights * self._kinds[links.kinds])
            if not (followed := tied > 0).all():
                links, tied = links.keep(followed), tied[followed]
            first, second = np.concatenate([first, links.first]), np.concatenate([second, 2 * links.second])
        ends = self._numbered(second)
        entities = ends[: len(named)]
        self._count_entities(distinct(entities[self._degrees[entities] < 0]))
        self._add(places, 2 * first, ends, np.concatenate([self._pays[entities], tied]))

    def _read_entities(self, places: NDArray[np.int64]) -> None:
        """The edges of entities that were not read yet."""
        if not len(places):
            return
        edges = self._view.mentioning(np.sort(self.nodes[places]) >> 1)
        ends = self._numbered(2 * edges.second)
        self._add(places, 2 * edges.first + 1, ends, np.ones(len(edges)))

    def _add(
        self,
        places: NDArray[np.int64],
        first: NDArray[np.int64],
        ends: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        """Take in all edges of the nodes at *places*; *first* are the nodes that they begin at."""
        owners = self._places[first].astype(np.int64) - 1
        asked = np.zeros(self.room + 1, np.bool_)
        asked[places] = True
        if not (there := asked[owners]).all():
            # A damaged bank may show two versions of a memory; the edges stay with the one it answers with.
            owners, ends, weights = owners[there], ends[there], weights[there]
        self._degrees[places] = np.bincount(owners, minlength=self.room)[places]
        self._read[places] = True
        self._owners.append(owners)
        self._ends.append(ends)
        self._shares.append(weights / np.bincount(owners, weights, self.room)[owners])

    def _numbered(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each node; those not seen before get the next ones."""
        if not len(nodes):
            return nodes
        last = int(nodes.max())
        if last >= len(self._places):
            self._places = _longer(self._places, max(last + 1, 2 * len(self._places)))
        found = self._places[nodes]
        new = nodes[found == 0]
        if len(new):
            marks = np.arange(self._count + 1, self._count + 1 + len(new), dtype=np.int32)
            # One mark of each node's stays, and so each is new once, without a sort.
            self._places[new] = marks
            new = new[self._places[new] == marks]
            self._places[new] = marks[: len(new)]
            self._take_in(new)
            found = self._places[nodes]
        return found.astype(np.int64) - 1

    def _take_in(self, new: NDArray[np.int64]) -> None:
        """Nodes behind the last one."""
        before, self._count = self._count, self._count + len(new)
        if self._count > self.room:
            room = max(self._count, 2 * self.room)
            self.nodes, self._pays = _longer(self.nodes, room), _longer(self._pays, room)
            self._read, self._degrees = _longer(self._read, room), _longer(self._degrees, room)
            self._degrees[self.room :] = -1
            self.room = room
        self.nodes[before : self._count] = new


_NOWHERE = np.empty(0, np.int64)
_NO_WEIGHTS = np.empty(0)

Item = TypeVar("Item", bound=np.generic)


def _longer(array: NDArray[Item], length: int) -> NDArray[Item]:
    """*array*, then zeros."""
    grown = np.zeros(length, array.dtype)
    grown[: len(array)] = array
    return grown


def _whole_steps(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to multiples of 2⁻²⁰, so that their sums are exact."""
    return np.rint(weights * _WEIGHT_STEPS) / _WEIGHT_STEPS
