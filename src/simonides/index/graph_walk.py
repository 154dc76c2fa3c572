"""Walks over the graph from seeds: mass by push, and hops by breadth.

**Personalised PageRank** of memories and entities, by forward push over what a view lets see. The walk starts
at the seeds, and at each step goes on with probability d (``damping``) to a neighbour in proportion to the
edge's weight, else it starts anew:

    p = (1 − d) · Σ over k ≥ 0 of dᵏ · (seeds walked k steps)

    weight(memory, entity)  = n ^ −hub_damping, n = visible memories that mention the entity
    weight(memory, memory)  = the link's weight × that of its kind

Forward push keeps for each node what has settled there (p) and what still waits (r), and in synchronous
rounds spreads every r(u) > ε · edges(u): the settled part is a lower bound of the exact p, and settled plus
waiting is 1 at any time. An entity that thousands mention is so spread on only when a lot has gathered there.
ε = max(residual / visible memories, 1 / edges): a share of the mean mass in a small bank, and in a large one
what keeps the work near ``edges`` edges (times 1 / (1 − d)) whatever its size.

Masses are multiples of 2⁻⁵⁰ and weights of 2⁻²⁰, so that sums are exact: neither the order of rows nor the
numbers of entities, which others' memories shift, change a bit of the result. Nodes get places in the order
in which they are met, so that passes over arrays stay short in a large bank.
Cost: each round sums over the edges that were read, without a sort of them; 10 to 70 ms, or less, on one core
at 10⁶ memories with four mentions and four links each, by how many memories mention the seeds; and 4 bytes
for each node of the bank.
Source: Andersen, Chung and Lang, Local Graph Partitioning using PageRank Vectors (2006); seeds and their use
for memory: Gutiérrez et al., From RAG to Memory (2025).
Weakness: a hub's own neighbours are hardly told apart, however near they are.

**Hops**: which memories lie within a few hops of given ones, breadth first, bounded for each start. One hop
leads to a memory that is linked, or that mentions a shared entity. Neighbours are ranked by strength = the
links' weights + the damped weights of the shared entities, ties by path and id. Each start reaches
``per_start`` memories in all, nearer hops first.
Cost: linear in the pairs of memories that share an entity; those of hubs are not followed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.graph import ascending, distinct
from simonides.index.postings import positions
from simonides.records.edges import LINK_KINDS, Edges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import View


_ROOM = 1_024
"""Places that arrays have at first; four times as many when these are taken."""

Item = TypeVar("Item", bound=np.generic)


class Places:
    """Each node at the next place when it is first met; nothing is at 0.

    Attributes:
        room: places that there are; those behind the last node are empty.
    """

    def __init__(self, nodes: int) -> None:
        self.room = _ROOM
        self._nodes = np.zeros(self.room, np.int64)
        self._count = 1
        # By node; 0 = not met.
        self._places = np.zeros(nodes, np.int32)

    def at(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each node; 0 for those that were not met."""
        return self._places.take(nodes).astype(np.int64)

    def nodes(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The node at each place."""
        return self._nodes.take(places)

    def ordered(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes at *places*, which are distinct, from the lowest on."""
        return ascending(self._nodes[places], len(self._places))

    def meet(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give a place to each node that has none; those that had none, each once, by place."""
        try:
            new = nodes.compress(self._places.take(nodes) == 0)
        except IndexError:
            # Rare, and to look for it each time costs as much as the look-up.
            self._places = longer(self._places, int(nodes.max()) + 1 + len(self._places) // 4)
            new = nodes.compress(self._places.take(nodes) == 0)
        marks = np.arange(self._count, self._count + len(new), dtype=np.int32)
        # One mark of each node's stays, and so each is new once, without a sort.
        self._places[new] = marks
        new = new.compress(self._places.take(new) == marks)
        self._places[new] = marks[: len(new)]
        before, self._count = self._count, self._count + len(new)
        if self._count > self.room:
            self.room = max(self._count, 4 * self.room)
            self._nodes = longer(self._nodes, self.room)
        self._nodes[before : self._count] = new
        return new


def longer(array: NDArray[Item], length: int) -> NDArray[Item]:
    """*array*, then zeros."""
    grown = np.zeros(length, array.dtype)
    grown[: len(array)] = array
    return grown


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
        row_mass: float64: at most the exact personalised PageRank.
        entities, entity_mass: the same of entities.
        left: mass that is still to be spread; all masses sum to 1.
        reason: why it did less than asked; empty when it ran in full.
    """

    rows: NDArray[np.int64]
    row_mass: NDArray[np.float64]
    entities: NDArray[np.int64]
    entity_mass: NDArray[np.float64]
    left: float
    reason: str


def spread(view: View, rows: Mapping[int, float], entities: Mapping[int, float], walk: Walk) -> Spread:
    """Personalised PageRank from seeds, of which there is at least one.

    Args:
        view: visible rows are the graph.
        rows: seeds by ordinal, each with its weight above 0; seeds of both kinds are scaled to sum to 1.
        entities: seeds by number, likewise.
        walk: how mass spreads.
    """
    visible = max(1, int(np.count_nonzero(view.visible)))
    threshold = max(walk.residual / visible, 1.0 / walk.edges) * _MASS_STEPS
    graph = _Graph(view, walk, threshold)
    masses = _Masses(graph, *_seeds(graph, rows, entities))
    budget, reason = walk.edges, ""
    for _ in range(walk.rounds):
        frontier, degrees = graph.worth_pushing(masses.waiting)
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
    return masses.result(walk.damping, reason)


def damped_weights(view: View, entities: NDArray[np.int64], hub_damping: float) -> NDArray[np.float64]:
    """What an edge to each entity weighs: n ^ −hub_damping, in (0, 1]; n counts visible memories."""
    return _damped(view.mention_counts(entities), hub_damping)


def _damped(counts: NDArray[np.int64], hub_damping: float) -> NDArray[np.float64]:
    weights = np.maximum(counts, 1).astype(np.float64) ** -hub_damping
    return np.maximum(_whole_steps(weights), 1.0 / _WEIGHT_STEPS)


def _seeds(
    graph: _Graph, rows: Mapping[int, float], entities: Mapping[int, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places, and their shares of 1 in whole steps."""
    nodes = np.array([*rows, *(graph.rows + entity for entity in entities)], np.int64)
    weights = [*rows.values(), *entities.values()]
    shares = np.array(weights, np.float64) / math.fsum(weights)
    return graph.met(nodes), np.floor(shares * _MASS_STEPS)


def _within(per_edge: NDArray[np.float64], degrees: NDArray[np.float64], budget: int) -> NDArray[np.bool_]:
    """The nodes with most mass per edge that fit the budget; those that are alike stay or go together."""
    order = np.argsort(-per_edge, kind="stable")
    used = np.cumsum(degrees[order])
    over = int(np.searchsorted(used, budget, side="right"))
    kept: NDArray[np.bool_] = per_edge > per_edge[order[over]]
    return kept


_MANY = 1_024
"""Fewer memories are read at once: to count their edges costs as much."""

_COUNTED, _READ = 1, 2
"""What is known of a node; 0 = nothing."""


class _Masses:
    """What each node of a graph holds, by its place there; all in whole steps of 2⁻⁵⁰.

    Attributes:
        settled, waiting: float64.
        pushed: bool: whether what waited there has ever moved on.
    """

    def __init__(self, graph: _Graph, seeds: NDArray[np.int64], shares: NDArray[np.float64]) -> None:
        self._graph, self._seeds = graph, seeds
        self.settled, self.waiting = np.zeros(graph.room), np.zeros(graph.room)
        self.pushed = np.zeros(graph.room, np.bool_)
        self.waiting[seeds] = shares

    def push(self, frontier: NDArray[np.int64], damping: float) -> None:
        """What waited at *frontier* (places) moves on; a node without edges keeps all."""
        graph, room = self._graph, self._graph.room
        if room > len(self.waiting):
            self.settled, self.waiting = longer(self.settled, room), longer(self.waiting, room)
            self.pushed = longer(self.pushed, room)
        leaving = np.zeros(room)
        leaving[frontier] = self.waiting[frontier]
        # Over every edge that was read: most are passed, and finding those that are costs more.
        moved = (damping * leaving).take(graph.owners)
        moved *= graph.shares
        np.floor(moved, out=moved)
        self.settled += leaving
        self.settled -= np.bincount(graph.owners, moved, room)
        self.waiting -= leaving
        self.waiting += np.bincount(graph.ends, moved, room)
        self.pushed[frontier] = True

    def result(self, damping: float, reason: str) -> Spread:
        """What has settled, with the part of the rest that would settle where it is."""
        graph = self._graph
        reached = np.zeros(graph.room, np.bool_)
        reached[self._seeds] = True
        reached[graph.ends.compress(self.pushed.take(graph.owners))] = True
        nodes, places = graph.in_order(reached.nonzero()[0])
        mass = (self.settled[places] + (1.0 - damping) * self.waiting[places]) / _MASS_STEPS
        left = damping * float(self.waiting.sum()) / _MASS_STEPS
        rows = int(nodes.searchsorted(graph.rows))
        return Spread(nodes[:rows], mass[:rows], nodes[rows:] - graph.rows, mass[rows:], left, reason)


class _Graph:
    """The part of the visible graph that was looked at so far; every node is read once.

    A node is the ordinal of a memory, or the number of an entity behind all of these.

    Attributes:
        rows: the first node that is an entity.
        room: places that there are; some are of no node.
        owners, ends: int64: the places of both ends of every edge that was read.
        shares: float64: of these, each one's share of all weights of its first end.
    """

    def __init__(self, view: View, walk: Walk, threshold: float) -> None:
        self._view = view
        self._hub_damping = walk.hub_damping
        self._threshold = threshold
        weights = [walk.links.get(kind, 0.0) for kind in LINK_KINDS]
        self._kinds, self._follows = np.array(weights), any(weights)
        # A link that weighs two steps is followed, however the product is rounded.
        least = (2.0 / _WEIGHT_STEPS / weight if weight else math.inf for weight in weights)
        self._least = np.array([*least])
        self.rows = len(view.visible)
        self._places = Places(self.rows + self.rows // 4)
        self.room = self._places.room
        # Edges of each node: of a memory a floor under them until they are read; never below 1.
        self._degrees = np.ones(self.room)
        # What an edge to an entity weighs.
        self._pays = np.zeros(self.room)
        self._known = np.zeros(self.room, np.uint8)
        self.owners, self.ends, self.shares = _NOWHERE, _NOWHERE, _NO_WEIGHTS

    def in_order(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The nodes at *places*, from the lowest on, and the place of each."""
        nodes = self._places.ordered(places)
        return nodes, self._places.at(nodes)

    def met(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each node; an entity is counted when it is first met, as its edges weigh by that."""
        new = self._places.meet(nodes)
        if (room := self._places.room) > self.room:
            self._pays, self._known = longer(self._pays, room), longer(self._known, room)
            self._degrees = longer(self._degrees, room)
            self._degrees[self.room :] = 1.0
            self.room = room
        entities = new.compress(new >= self.rows)
        if len(entities):
            counts = self._view.mention_counts(entities - self.rows)
            places = self._places.at(entities)
            self._degrees[places] = np.maximum(counts, 1)
            self._pays[places] = _damped(counts, self._hub_damping)
            self._known[places] = _COUNTED
        return self._places.at(nodes)

    def worth_pushing(self, waiting: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Places of nodes with more than the threshold waiting per edge, and how many edges they have.

        Edges are counted before they are read: an entity may be a hub, and most memories of the later rounds
        hold too little for theirs.
        """
        frontier = self._worth(waiting)
        unknown = frontier.compress(self._known[frontier] == 0)
        if len(unknown) >= _MANY:
            enough = waiting[unknown] / self._threshold
            counts = self._view.edges_at_least(self._places.nodes(unknown), self._least, enough)
            self._degrees[unknown] = np.maximum(counts, 1)
            self._known[unknown] = _COUNTED
            frontier = self._worth(waiting)
        unread = frontier.compress(self._known[frontier] < _READ)
        if len(unread):
            self._read(unread)
            frontier = self._worth(waiting)
        return frontier, self._degrees[frontier]

    def _worth(self, waiting: NDArray[np.float64]) -> NDArray[np.int64]:
        worth: NDArray[np.bool_] = waiting > self._threshold * self._degrees[: len(waiting)]
        return worth.nonzero()[0]

    def _read(self, places: NDArray[np.int64]) -> None:
        """Take in the edges of the nodes at *places*, which were not read yet."""
        nodes = self._places.ordered(places)
        rows = int(nodes.searchsorted(self.rows))
        mentions, back = _NO_EDGES, _NO_EDGES
        tied_from, tied_to, tied = _NOWHERE, _NOWHERE, _NO_WEIGHTS
        if rows:
            mentions = self._view.mentions(nodes[:rows])
            if self._follows:
                tied_from, tied_to, tied = self._followed(self._view.links(nodes[:rows]))
        if rows < len(nodes):
            back = self._view.mentioning(nodes[rows:] - self.rows)
        ends = self.met(np.concatenate([mentions.second + self.rows, tied_to, back.second]))
        owners = self._places.at(np.concatenate([mentions.first, tied_from, back.first + self.rows]))
        weights = np.concatenate([self._pays[ends[: len(mentions)]], tied, np.ones(len(back))])
        degrees = np.bincount(owners, minlength=self.room)[places]
        if degrees.sum() < len(owners):
            # A damaged bank may show two versions of a memory; the edges stay with the one it answers with.
            asked = np.zeros(self.room, np.bool_)
            asked[places] = True
            there = asked[owners]
            owners, ends, weights = owners[there], ends[there], weights[there]
        self._degrees[places] = np.maximum(degrees, 1)
        self._known[places] = _READ
        shares = weights / np.bincount(owners, weights, self.room).take(owners)
        self.owners = np.concatenate([self.owners, owners])
        self.ends = np.concatenate([self.ends, ends])
        self.shares = np.concatenate([self.shares, shares])

    def _followed(self, links: Edges) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Both ends of the links that weigh anything, and what each weighs."""
        weights = _whole_steps(links.weights * self._kinds.take(links.kinds))
        followed = weights > 0
        if followed.all():
            return links.first, links.second, weights
        return links.first.compress(followed), links.second.compress(followed), weights.compress(followed)


_NOWHERE = np.empty(0, np.int64)
_NO_WEIGHTS = np.empty(0)
_NO_EDGES = Edges(_NOWHERE, _NOWHERE, np.empty(0, np.uint8), np.empty(0, np.float32))


def _whole_steps(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to multiples of 2⁻²⁰, so that their sums are exact."""
    return np.rint(weights * _WEIGHT_STEPS) / _WEIGHT_STEPS


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far to go.

    Attributes:
        hops: from 1.
        per_start: memories that each start reaches at most, from 1.
        hub_cap: memories that may mention an entity for it to be followed.
        hub_damping: how much less an entity ties that many memories mention, 0 to 1.
        links: weight per kind of link; a kind at 0 or left out is not followed.
    """

    hops: int
    per_start: int
    hub_cap: int
    hub_damping: float
    links: Mapping[str, float]


def reach(view: View, starts: Sequence[int], bounds: Bounds) -> dict[int, int]:
    """By memory, the fewest hops from any start (ordinals, no repeats); starts have 0."""
    hops = dict.fromkeys(starts, 0)
    places = np.arange(len(starts))
    seen, owners, rows = _pairs(places, np.array(starts, np.int64)), places, np.array(starts, np.int64)
    left = np.full(len(starts), bounds.per_start)
    for hop in range(1, bounds.hops + 1):
        owners, rows, strengths = _neighbours(view, owners, rows, bounds)
        fresh = ~np.isin(_pairs(owners, rows), seen)
        owners, rows, strengths = owners[fresh], rows[fresh], strengths[fresh]
        order = np.lexsort((_places(view, rows), -strengths, owners))
        owners, rows = owners[order], rows[order]
        # 0, 1, 2 … within the rows of each owner.
        place = np.arange(len(owners)) - np.searchsorted(owners, owners, "left")
        kept = place < left[owners]
        owners, rows = owners[kept], rows[kept]
        left -= np.bincount(owners, minlength=len(starts))
        seen = np.concatenate([seen, _pairs(owners, rows)])
        for row in rows.tolist():
            hops.setdefault(row, hop)
    return hops


def _neighbours(
    view: View, owners: NDArray[np.int64], rows: NDArray[np.int64], bounds: Bounds
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each owner, whatever is one hop from its rows: (owner, row, strength), each pair once."""
    named = view.mentions(distinct(rows))
    entities = distinct(named.second)
    entities = entities[view.mention_counts(entities) <= bounds.hub_cap]
    weights = damped_weights(view, entities, bounds.hub_damping)
    owner_of_mention, _, mention = _joined(rows, named.first, owners)
    entity = named.second[mention]
    back = view.mentioning(entities)
    owner_by_entity, entity, reached = _joined(entity, back.first, owner_of_mention)
    strength = weights[np.searchsorted(entities, entity)]
    found = [(owner_by_entity, back.second[reached], strength)]
    kinds = np.array([bounds.links.get(kind, 0.0) for kind in LINK_KINDS])
    if kinds.any():
        links = view.links(distinct(rows))
        owner, _, place = _joined(rows, links.first, owners)
        found.append((owner, links.second[place], (links.weights * kinds[links.kinds])[place]))
    return _summed(
        np.concatenate([part[0] for part in found]),
        np.concatenate([part[1] for part in found]),
        np.concatenate([part[2] for part in found]),
    )


def _joined(
    wanted: NDArray[np.int64], keys: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every pair of a wanted value and a place in the ascending *keys* that holds it: owner, value, place."""
    begin = np.searchsorted(keys, wanted, "left")
    count = np.searchsorted(keys, wanted, "right") - begin
    which = np.repeat(np.arange(len(wanted)), count)
    return owners[which], wanted[which], positions(begin, count)


def _summed(
    owners: NDArray[np.int64], rows: NDArray[np.int64], strengths: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each pair once, its strengths added up and rounded to 1e-9; pairs without strength left out."""
    pairs: NDArray[np.int64]
    pairs, place = np.unique(_pairs(owners, rows), return_inverse=True)
    total = np.bincount(place, strengths.astype(np.float64), len(pairs)).astype(np.float64).round(9)
    pairs, total = pairs[total > 0], total[total > 0]
    return pairs >> 32, pairs & 0xFFFFFFFF, total


def _pairs(owners: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """A pair as one number; ordinals fit 32 bits."""
    return (owners << 32) | rows


def _places(view: View, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row stands by path and id."""
    once = distinct(rows)
    ranking = view.ranking(once, np.zeros(len(once)), None)
    place = np.empty(len(once), np.int64)
    place[np.searchsorted(once, ranking.ordinals)] = np.arange(len(once))
    return place[np.searchsorted(once, rows)]
