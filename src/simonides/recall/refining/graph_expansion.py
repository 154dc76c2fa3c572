"""Adds what lies near the best candidates in the graph, and says of each how near it is (HX-06).

pagerank   graph_proximity(m) = mass of m in a walk from the seeds, weighted by score (``index.push``)
bfs        graph_proximity(m) = 1 / hops from the nearest seed, 1 for a seed, at most ``per_seed`` memories
           from each (``index.reach``)

Seeds are the first ``seeds`` candidates and stay in their order. What the graph adds follows, the nearest
first, while the pool is smaller than ``most``; what is nearer than ``least_mass`` does not allow is left out.
If the pool is still smaller than ``fewest``, the candidates behind the seeds fill it up in their order; the
rest of them is dropped.
Cost: bounded by ``edges`` or by ``per_seed`` and ``hub_cap``.
Source: Gutiérrez et al., HippoRAG (2024). Weakness: a wrong seed brings its neighbours along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simonides.errors import InputError
from simonides.index.distinct import among
from simonides.index.push import Walk, spread
from simonides.index.reach import Bounds, reach
from simonides.protocols import Refined
from simonides.records.candidate import Candidate
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

SCORED_BY = "graph_expansion"
SIGNAL = "graph_proximity"
NOT_REACHED = "behind the seeds of the graph expansion, which did not reach it"

MOST_HOPS = 2
_ROUNDS_PER_HOP = 2
"""From a memory to an entity, and on to a memory."""


@dataclass(frozen=True, slots=True)
class GraphExpansion:
    """Refiner.

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
                behind.pop(row) if row in behind else Candidate(row, near, SCORED_BY, _NONE, _NONE, _NONE)
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
        {**candidate.signals, SIGNAL: nearness},
    )


def _looked_up(
    rows: NDArray[np.int64], nearness: NDArray[np.float64], wanted: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The nearness of each row that is wanted; *rows* ascend; 0 = not reached."""
    if not len(rows):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, nearness[at], 0.0)
