"""Refiners that read the graph between memories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.graph import among
from simonides.index.graph_walk import Bounds, Walk, damped_weights, reach, spread
from simonides.protocols import Refined
from simonides.recall.refining.pool import by_score
from simonides.recall.rounding import rounded
from simonides.records.candidate import Candidate, Ranking
from simonides.records.edges import LINK_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query


GRAPH_EXPANSION_SCORED_BY = "graph_expansion"
GRAPH_EXPANSION_SIGNAL = "graph_proximity"
NOT_REACHED = "behind the seeds of the graph expansion, which did not reach it"

MOST_HOPS = 2
_ROUNDS_PER_HOP = 2
"""From a memory to an entity, and on to a memory."""


@dataclass(frozen=True, slots=True)
class GraphExpansion:
    """Adds what lies near the best candidates in the graph, and says of each how near it is (HX-06).

    pagerank   graph_proximity(m) = mass of m in a walk from the seeds, weighted by score (``index.push``)
    bfs        graph_proximity(m) = 1 / hops from the nearest seed, 1 for a seed, at most ``per_seed``
               memories from each (``index.reach``)

    Seeds are the first ``seeds`` candidates and stay in their order. What the graph adds follows, the nearest
    first, while the pool is smaller than ``most``; what is nearer than ``least_mass`` does not allow is left
    out. If the pool is still smaller than ``fewest``, the candidates behind the seeds fill it up in their
    order; the rest of them is dropped.
    Cost: bounded by ``edges`` or by ``per_seed`` and ``hub_cap``.
    Source: Gutiérrez et al., HippoRAG (2024). Weakness: a wrong seed brings its neighbours along.

    Attributes:
        mode: how nearness is measured.
        seeds: candidates from which to start, from 1.
        fewest, most: how large the pool gets, where there is enough; most is at least seeds and fewest.
        hops: 1 or 2; a walk makes two steps for each.
        least_mass: below this the graph adds nothing (pagerank), from 0.
        per_seed: memories that each seed brings at most (bfs), from 1.
        hub_cap: an entity that more memories mention is not followed (bfs), from 1.
        damping, residual, edges: of the walk (pagerank), see ``index.push.Walk``.
        hub_damping, links: of both, see there.
    """

    mode: Literal["pagerank", "bfs"]
    seeds: int
    fewest: int
    most: int
    hops: int
    least_mass: float
    per_seed: int
    hub_cap: int
    damping: float
    residual: float
    edges: int
    hub_damping: float
    links: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, value in (
            ("seeds", self.seeds),
            ("per_seed", self.per_seed),
            ("hub_cap", self.hub_cap),
        ):
            if value < 1:
                raise InputError(name, f"{value} is below 1")
        if not max(self.seeds, self.fewest) <= self.most:
            raise InputError("most", f"{self.most} is below seeds ({self.seeds}) or fewest ({self.fewest})")
        if not 1 <= self.hops <= MOST_HOPS:
            raise InputError("hops", f"{self.hops} is not 1 to {MOST_HOPS}")
        if not 0 <= self.least_mass < 1:
            raise InputError("least_mass", f"{self.least_mass} is not from 0 and below 1")
        self._walk()

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with its seeds first, then what the graph adds, each with its ``graph_proximity``."""
        if not pool:
            return Refined(pool)
        kept, tail = pool[: self.seeds], pool[self.seeds :]
        rows, nearness, reason = (
            self._pagerank(view, kept) if self.mode == "pagerank" else self._bfs(view, kept)
        )
        behind = {candidate.ordinal: candidate for candidate in tail}
        added = self._added(view, rows, nearness, kept)
        grown = [
            *kept,
            *(
                behind.pop(row)
                if row in behind
                else Candidate(row, near, GRAPH_EXPANSION_SCORED_BY, _NONE, _NONE, _NONE)
                for row, near in zip(added.ordinals.tolist(), added.scores.tolist(), strict=True)
            ),
        ]
        room = max(0, self.fewest - len(grown))
        rest = list(behind.values())
        grown += rest[:room]
        signals = _looked_up(rows, nearness, np.array([each.ordinal for each in grown], np.int64))
        return Refined(
            tuple([_with(each, near) for each, near in zip(grown, signals.tolist(), strict=True)]),
            reason,
            dict.fromkeys((candidate.ordinal for candidate in rest[room:]), NOT_REACHED),
        )

    def _added(
        self, view: View, rows: NDArray[np.int64], nearness: NDArray[np.float64], kept: tuple[Candidate, ...]
    ) -> Ranking:
        """Eligible rows beside the seeds, nearest first, as many as there is room for."""
        least = max(self.least_mass if self.mode == "pagerank" else 0.0, 1e-9)
        # In turn, because most of what a walk reaches is too far.
        near = nearness >= least
        rows, nearness = rows.compress(near), nearness.compress(near)
        seeds = np.array(sorted(candidate.ordinal for candidate in kept), np.int64)
        new = view.eligible.take(rows) & ~among(rows, seeds)
        room = self.most - len(kept)
        found = view.ranking(rows.compress(new), nearness.compress(new), room)
        return Ranking(found.ordinals[:room], found.scores[:room])

    def _walk(self) -> Walk:
        rounds = _ROUNDS_PER_HOP * self.hops
        return Walk(self.damping, self.residual, rounds, self.edges, self.hub_damping, self.links)

    def _pagerank(
        self, view: View, seeds: tuple[Candidate, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], str]:
        positive = {seed.ordinal: seed.score for seed in seeds if seed.score > 0}
        found = spread(view, positive or {seed.ordinal: 1.0 for seed in seeds}, {}, self._walk())
        return found.rows, found.row_mass.round(9), found.reason

    def _bfs(
        self, view: View, seeds: tuple[Candidate, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], str]:
        bounds = Bounds(self.hops, self.per_seed, self.hub_cap, self.hub_damping, self.links)
        hops = sorted(reach(view, [seed.ordinal for seed in seeds], bounds).items())
        rows = np.array([row for row, _ in hops], np.int64)
        return rows, np.array([round(1.0 / max(1, hop), 9) for _, hop in hops], np.float64), ""


# One for all: dictionaries of their own would take most of the time that the candidates take.
_NONE: Mapping[str, Any] = {}


def _with(candidate: Candidate, nearness: float) -> Candidate:
    """The same with its nearness; ``with_signals`` takes twice as long."""
    return Candidate(
        candidate.ordinal,
        candidate.score,
        candidate.scored_by,
        candidate.ranks,
        candidate.channel_scores,
        {**candidate.signals, GRAPH_EXPANSION_SIGNAL: nearness},
    )


def _looked_up(
    rows: NDArray[np.int64], nearness: NDArray[np.float64], wanted: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The nearness of each row that is wanted; *rows* ascend; 0 = not reached."""
    if not len(rows):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, nearness[at], 0.0)


GRAPH_RANK_SCORED_BY = "graph_rank"
GRAPH_RANK_SIGNAL = "graph_rank"


@dataclass(frozen=True, slots=True)
class GraphRank:
    """Raises what lies near the first few candidates and the query's entities in the graph, and adds it.

    score(m) = score(m) + weight · trust · value(m),   a memory that the graph adds starts at 0

        mass(m)   of m in a walk (``index.push``) from the first ``seeds`` candidates, weighted by scores to
                  1 in sum, and from the query's entities, each ``entity_weight`` · n ^ −hub_damping, where
                  n visible memories mention it
        value(m)  ln(mass(m) / least_mass) / ln(highest mass / least_mass), in [0, 1]; 0 for what has no more
        trust     max(least_trust, 1 − ln n / ln N) for the rarest of the query's entities, N = visible
                  memories; least_trust where there is none

    Of a question over several steps a search finds the first passage and not the last, which shares no word
    with it; the graph leads on from the one to the other. Few sharp seeds are the point: from twenty, most of
    them wrong, mass spreads everywhere and tells nothing apart. Logarithms, because mass falls by magnitudes
    per step. A question about a name that half the memories mention (the two who talk) is none that the graph
    helps with; that is what ``trust`` tells from one about a rare name. At most ``most`` memories are added,
    those of most mass.
    Cost: one walk, bounded by ``edges``, see ``index.push``; 1 to 3 ms at 10⁴ memories.
    Source: Gutiérrez et al., From RAG to Memory (2025), which seeds with passages, too.
    Weakness: a wrong first candidate brings its neighbours along.

    Attributes:
        seeds: candidates from which to start, from 1; two to four.
        entity_weight: of an entity that one memory mentions, beside 1 for all candidates; from 0.
        weight: of the graph's value beside the score so far, above 0.
        most: memories that the graph adds at most, from 0.
        least_trust: 0 to 1; 1 = the graph counts alike whatever is asked about.
        least_mass: what counts as none, above 0 and below 1.
        damping, residual, rounds, edges, hub_damping, links: of the walk, see ``index.push.Walk``.
    """

    seeds: int
    entity_weight: float
    weight: float
    most: int
    least_trust: float
    least_mass: float
    damping: float
    residual: float
    rounds: int
    edges: int
    hub_damping: float
    links: Mapping[str, float]

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InputError("seeds", f"{self.seeds} is below 1; 2 to 4 are usual")
        if not 0 <= self.entity_weight < math.inf:
            raise InputError("entity_weight", f"{self.entity_weight} is not a number from 0")
        if not 0 < self.weight < math.inf:
            raise InputError(
                "weight", f"{self.weight} is not a number above 0; without a graph, leave it out"
            )
        if self.most < 0:
            raise InputError("most", f"{self.most} is below 0; 0 = the graph adds none")
        if not 0 <= self.least_trust <= 1:
            raise InputError("least_trust", f"{self.least_trust} is not between 0 and 1")
        if not 0 < self.least_mass < 1:
            raise InputError("least_mass", f"{self.least_mass} is not between 0 and 1")
        self._walk()

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by score and graph value; each candidate carries its value as ``graph_rank``."""
        if not pool:
            return Refined(pool)
        found = spread(view, *self._starts(view, query, pool), self._walk())
        mass = found.row_mass.round(9)
        kept = view.eligible[found.rows] & (mass > self.least_mass)
        reached = view.ranking(found.rows[kept], mass[kept], None)
        steps = np.log(reached.scores / self.least_mass)
        values = (steps / steps.max()).round(9) if len(steps) else steps
        value = dict(zip(reached.ordinals.tolist(), values.tolist(), strict=True))
        weight = self.weight * self._trust(view, query)
        there = {candidate.ordinal for candidate in pool}
        added = [row for row in value if row not in there][: self.most]
        near = [(each, value.get(each.ordinal, 0.0)) for each in pool]
        near += [(Candidate(row, 0.0, GRAPH_RANK_SCORED_BY), value[row]) for row in added]
        scored = [
            # ``with_signals`` takes twice as long.
            Candidate(
                each.ordinal,
                round(each.score + weight * gained, 9),
                GRAPH_RANK_SCORED_BY,
                each.ranks,
                each.channel_scores,
                {**each.signals, GRAPH_RANK_SIGNAL: gained},
            )
            for each, gained in near
        ]
        return Refined(by_score(view, scored), found.reason)

    def _trust(self, view: View, query: Query) -> float:
        """How far the graph is trusted with this query, in [least_trust, 1]."""
        if not query.entities:
            return self.least_trust
        counts = view.mention_counts(np.array(query.entities, np.int64))
        # In a bank of one memory nothing is rare; ln 1 = 0 could not be divided by either.
        visible = max(2, int(np.count_nonzero(view.visible)))
        return max(self.least_trust, 1.0 - math.log(max(1, int(counts.min()))) / math.log(visible))

    def _walk(self) -> Walk:
        return Walk(self.damping, self.residual, self.rounds, self.edges, self.hub_damping, self.links)

    def _starts(
        self, view: View, query: Query, pool: tuple[Candidate, ...]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Memories and entities to start from, with their weights."""
        head = pool[: self.seeds]
        positive = {seed.ordinal: seed.score for seed in head if seed.score > 0}
        rows = positive or {seed.ordinal: 1.0 for seed in head}
        total = math.fsum(rows.values())
        rows = {row: score / total for row, score in rows.items()}
        if not query.entities or not self.entity_weight:
            return rows, {}
        numbers = np.array(query.entities, np.int64)
        weights = (self.entity_weight * damped_weights(view, numbers, self.hub_damping)).tolist()
        return rows, dict(zip(numbers.tolist(), weights, strict=True))


NEIGHBOURS_SCORED_BY = "neighbours"
NEIGHBOURS_SIGNAL = "neighbour"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Raises a memory by the best of its neighbours in the conversation.

    score(m) = score(m) + factor · max over neighbours n in the pool of max(0, score(n))

    Neighbours are joined by a link of one of ``kinds``: the turn before and the turn after. A turn that
    answers ("Yes, last summer") stands beside the one that holds the question's words. Scores on the right
    are those from before this stage, so nothing travels further than one link. With ``adds``, neighbours of
    the first so many candidates that are not in the pool enter it, their own score counted as 0.
    Cost: the links of the pool, about 0.2 ms for 150. Weakness: the neighbours of a good hit rise whether
    they answer or not.

    Attributes:
        factor: what a neighbour hands on of its score, above 0 and at most 1.
        kinds: of links that make neighbours, at least one.
        adds: of how many first candidates the neighbours are added, from 0.
    """

    factor: float
    kinds: tuple[str, ...]
    adds: int

    def __post_init__(self) -> None:
        if not 0 < self.factor <= 1:
            raise InputError("factor", f"{self.factor} is not above 0 and at most 1; 0.3 is usual")
        if not self.kinds:
            raise InputError("kinds", f"names none; give at least one of {', '.join(LINK_KINDS)}")
        for kind in self.kinds:
            if kind not in LINK_KINDS:
                raise UnknownNameError("kinds", kind, LINK_KINDS)
        if self.adds < 0:
            raise InputError("adds", f"{self.adds} is below 0; 0 = none is added")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by its new scores; each candidate carries its best neighbour's as ``neighbour``."""
        if not pool:
            return Refined(pool)
        scores = {candidate.ordinal: candidate.score for candidate in pool}
        links = view.links(np.array(list(scores), np.int64))
        wanted = np.array([kind in self.kinds for kind in LINK_KINDS])
        links = links.keep(wanted[links.kinds])
        head = {candidate.ordinal for candidate in pool[: self.adds]}
        best: dict[int, float] = {}
        added: dict[int, None] = {}
        for first, second in zip(links.first.tolist(), links.second.tolist(), strict=True):
            best[second] = max(best.get(second, 0.0), scores[first])
            if second not in scores and first in head and view.eligible[second]:
                added[second] = None
        pool += tuple([Candidate(row, 0.0, NEIGHBOURS_SCORED_BY) for row in added])
        nearest = [best.get(candidate.ordinal, 0.0) for candidate in pool]
        raised = rounded([each.score + self.factor * near for each, near in zip(pool, nearest, strict=True)])
        scored = [
            each.with_signals(score, NEIGHBOURS_SCORED_BY, {NEIGHBOURS_SIGNAL: near})
            for each, score, near in zip(pool, raised, nearest, strict=True)
        ]
        return Refined(by_score(view, scored))
