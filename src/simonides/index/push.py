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
Cost: one gather and one sort of the edges of each round; 10 to 70 ms on one core at 10⁶ memories with four
mentions and four links each, by how many memories mention the seeds.
Source: Andersen, Chung and Lang, Local Graph Partitioning using PageRank Vectors (2006); seeds and their use
for memory: Gutiérrez et al., From RAG to Memory (2025).
Weakness: a hub's own neighbours are hardly told apart, however near they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.distinct import among, distinct
from simonides.index.runs import positions
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
    graph = _Graph(view, walk)
    nodes, waiting = _seeds(rows, entities)
    state = _State(nodes, np.zeros(len(nodes)), waiting)
    visible = max(1, int(np.count_nonzero(view.visible)))
    threshold = max(walk.residual / visible, 1.0 / walk.edges) * _MASS_STEPS
    budget = walk.edges
    for _ in range(walk.rounds):
        frontier, degrees = graph.worth_pushing(state, threshold)
        if not len(frontier):
            break
        if int(degrees.sum()) > budget:
            kept = _within(state.waiting[frontier] / degrees, degrees, budget)
            reason = f"stopped before it passed its {walk.edges} edges"
            return state.pushed(frontier[kept], graph, walk.damping).result(walk.damping, reason)
        budget -= int(degrees.sum())
        state = state.pushed(frontier, graph, walk.damping)
    return state.result(walk.damping, "")


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


@dataclass(slots=True)
class _State:
    """Nodes that mass has reached: 2 · ordinal of a memory, or 2 · number of an entity + 1; ascending.

    Attributes:
        nodes: int64.
        settled, waiting: float64, mass in whole steps of 2⁻⁵⁰.
    """

    nodes: NDArray[np.int64]
    settled: NDArray[np.float64]
    waiting: NDArray[np.float64]

    def pushed(self, frontier: NDArray[np.int64], graph: _Graph, damping: float) -> _State:
        """What waited at *frontier* (positions) has moved on; a node without edges keeps all."""
        owner, ends, shares = graph.edges(self.nodes[frontier])
        waited = self.waiting[frontier]
        moved = np.floor(damping * waited[owner] * shares)
        nodes = distinct(np.concatenate([self.nodes, distinct(ends)]))
        settled, waiting = np.zeros(len(nodes)), np.zeros(len(nodes))
        places = np.searchsorted(nodes, self.nodes)
        settled[places], waiting[places] = self.settled, self.waiting
        settled[places[frontier]] += waited - np.bincount(owner, moved, len(frontier))
        waiting[places[frontier]] = 0.0
        waiting += np.bincount(np.searchsorted(nodes, ends), moved, len(nodes))
        return _State(nodes, settled, waiting)

    def result(self, damping: float, reason: str) -> Spread:
        """What has settled, with the part of the rest that would settle where it is."""
        mass = (self.settled + (1.0 - damping) * self.waiting) / _MASS_STEPS
        left = damping * float(self.waiting.sum()) / _MASS_STEPS
        of_rows = (self.nodes & 1) == 0
        numbers = self.nodes >> 1
        return Spread(numbers[of_rows], mass[of_rows], numbers[~of_rows], mass[~of_rows], left, reason)


@dataclass(slots=True)
class _Graph:
    """The part of the visible graph that was looked at so far; every node is read once.

    Attributes:
        nodes: int64, ascending: those whose edges are here.
        begins, counts: int64: where the edges of each are, and how many.
        ends: int64: the other ends.
        weights: float64, whole multiples of 2⁻²⁰.
        counted, mentions: int64, ascending: entities, and how many visible memories mention each.
    """

    view: View
    walk: Walk
    nodes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    begins: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    counted: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    mentions: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def worth_pushing(self, state: _State, threshold: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of nodes with more than *threshold* waiting per edge, and how many edges they have.

        Edges of memories are read to be counted; an entity may be a hub, so its memories are counted first.
        """
        frontier = np.flatnonzero(state.waiting > threshold)
        nodes = state.nodes[frontier]
        of_rows = (nodes & 1) == 0
        self._fetch(nodes[of_rows])
        degrees = np.empty(len(nodes), np.int64)
        degrees[of_rows] = self.counts[np.searchsorted(self.nodes, nodes[of_rows])]
        degrees[~of_rows] = self._mentions_of(nodes[~of_rows] >> 1)
        degrees = np.maximum(degrees, 1)
        worth = state.waiting[frontier] > threshold * degrees
        self._fetch(nodes[worth])
        return frontier[worth], degrees[worth]

    def edges(
        self, nodes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Edges of *nodes*: position of the first end in *nodes*, second end, share of the first's weight."""
        at = np.searchsorted(self.nodes, nodes)
        begins, counts = self.begins[at], self.counts[at]
        owner = np.repeat(np.arange(len(nodes)), counts)
        places = positions(begins, counts)
        weights = self.weights[places]
        sums = np.bincount(owner, weights, len(nodes))
        return owner, self.ends[places], weights / sums[owner]

    def _mentions_of(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many visible memories mention each of *entities*, ascending."""
        new = entities[~among(entities, self.counted)]
        if len(new):
            counted = np.concatenate([self.counted, new])
            mentions = np.concatenate([self.mentions, self.view.mention_counts(new)])
            order = np.argsort(counted)
            self.counted, self.mentions = counted[order], mentions[order]
        return self.mentions[np.searchsorted(self.counted, entities)]

    def _fetch(self, nodes: NDArray[np.int64]) -> None:
        """Read the edges of *nodes*, ascending, that are not here yet."""
        new = nodes[~among(nodes, self.nodes)]
        if not len(new):
            return
        parts = [*self._of_rows(new[(new & 1) == 0] >> 1), self._of_entities(new[(new & 1) == 1] >> 1)]
        first = np.concatenate([part[0] for part in parts])
        order = np.argsort(first, kind="stable")
        first = first[order]
        begins = np.searchsorted(first, new)
        counts = np.searchsorted(first, new, "right") - begins
        here = np.concatenate([self.nodes, new])
        by_node = np.argsort(here)
        self.nodes = here[by_node]
        self.begins = np.concatenate([self.begins, begins + len(self.ends)])[by_node]
        self.counts = np.concatenate([self.counts, counts])[by_node]
        self.ends = np.concatenate([self.ends, np.concatenate([part[1] for part in parts])[order]])
        self.weights = np.concatenate([self.weights, np.concatenate([part[2] for part in parts])[order]])

    def _of_rows(
        self, rows: NDArray[np.int64]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
        named = self.view.mentions(rows)
        entities = distinct(named.second)
        damped = _damped(self._mentions_of(entities), self.walk.hub_damping)
        weights = damped[np.searchsorted(entities, named.second)]
        found = [(2 * named.first, 2 * named.second + 1, weights)]
        kinds = np.array([self.walk.links.get(kind, 0.0) for kind in LINK_KINDS])
        if kinds.any():
            links = self.view.links(rows)
            weights = _whole_steps(links.weights * kinds[links.kinds])
            links, weights = links.keep(weights > 0), weights[weights > 0]
            found.append((2 * links.first, 2 * links.second, weights))
        return found

    def _of_entities(
        self, entities: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        edges = self.view.mentioning(entities)
        return 2 * edges.first + 1, 2 * edges.second, np.ones(len(edges))


def _whole_steps(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to multiples of 2⁻²⁰, so that their sums are exact."""
    return np.rint(weights * _WEIGHT_STEPS) / _WEIGHT_STEPS
