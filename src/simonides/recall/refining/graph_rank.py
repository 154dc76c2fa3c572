"""Raises what lies near the first few candidates and the query's entities in the graph, and adds it.

score(m) = score(m) + weight · trust · value(m),   a memory that the graph adds starts at 0

    mass(m)   of m in a walk (``index.push``) from the first ``seeds`` candidates, weighted by their scores to
              1 in sum, and from the query's entities, each ``entity_weight`` · n ^ −hub_damping, where n
              visible memories mention it
    value(m)  ln(mass(m) / least_mass) / ln(highest mass / least_mass), in [0, 1]; 0 for what has no more
    trust     max(least_trust, 1 − ln n / ln N) for the rarest of the query's entities, N = visible memories;
              least_trust where there is none

Of a question over several steps a search finds the first passage and not the last, which shares no word with
it; the graph leads on from the one to the other. Few sharp seeds are the point: from twenty, most of them
wrong, mass spreads everywhere and tells nothing apart. Logarithms, because mass falls by magnitudes per step.
A question about a name that half the memories mention (the two who talk) is none that the graph helps with;
that is what ``trust`` tells from one about a rare name.
At most ``most`` memories are added, those of most mass.
Cost: one walk, bounded by ``edges``, see ``index.push``; 1 to 3 ms at 10⁴ memories.
Source: Gutiérrez et al., From RAG to Memory (2025), which seeds with passages, too.
Weakness: a wrong first candidate brings its neighbours along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.push import Walk, damped_weights, spread
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score
from simonides.records.candidate import Candidate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

SCORED_BY = "graph_rank"
SIGNAL = "graph_rank"


@dataclass(frozen=True, slots=True)
class GraphRank:
    """Refiner.

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
        near += [(Candidate(row, 0.0, SCORED_BY), value[row]) for row in added]
        scored = [
            # ``with_signals`` takes twice as long.
            Candidate(
                each.ordinal,
                round(each.score + weight * gained, 9),
                SCORED_BY,
                each.ranks,
                each.channel_scores,
                {**each.signals, SIGNAL: gained},
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
