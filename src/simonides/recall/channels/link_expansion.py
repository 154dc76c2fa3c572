"""Ranks by what a memory shares with the query and with the memories most like it, hop by hop.

score(m) = (tanh(0.5 · shared entities) + semantic link + causal link) · hop_factor ** (hop − 1)

    shared entities   those of m that the query names or another source mentions, each counted once
    semantic, causal  the strongest link of that kind between m and a source; 0 to 1 each

The sum lies in [0, 3]. The sources of the first hop are the query's entities and its semantic seeds, the
nearest memories by cosine; from there on, the memories that the hop before has visited. Each hop visits the
best first, and all ends when *depth* memories were visited, seeds included, so a chain (Odalys → her manager
→ his team → its projects) is followed to its end only if the budget is not spent on the way. A seed is scored
like any other memory, what it would share with itself aside. Hops may pass through memories that the caller's
filters exclude; those are visited, not found.
Cost: the mentions of every entity reached; under 5 ms where entities have tens of memories.
Weakness: an entity that half the bank mentions costs its whole list and recommends all of it alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.records.edges import LINK_CODES
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

_SCORED_LINKS = ("semantic", "causal")


@dataclass(frozen=True, slots=True)
class LinkExpansion:
    """Channel.

    Attributes:
        depth: memories visited at most, seeds included, from 1.
        seeds: the nearest memories by cosine to start from, at most, from 0; never more than half of *depth*.
        seed_similarity: the least cosine of a seed.
        rescore: rows that survive the 1-bit scan for seeds, from 1.
        entity_scale: inside the tanh, per shared entity, above 0.
        hop_factor: what is left of a score at each further hop, above 0, at most 1.
        budgeted: whether the query's depth takes the place of *depth*.
    """

    depth: int
    seeds: int
    seed_similarity: float
    rescore: int
    entity_scale: float
    hop_factor: float
    budgeted: bool = False

    def __post_init__(self) -> None:
        for name, least in (("depth", 1), ("seeds", 0), ("rescore", 1)):
            value = getattr(self, name)
            if value < least:
                raise InputError(name, f"{value} is below {least}; give how many memories are wanted")
        if not -1 <= self.seed_similarity <= 1:
            raise InputError("seed_similarity", f"{self.seed_similarity} is not between -1 and 1")
        if not 0 < self.entity_scale < math.inf:
            raise InputError("entity_scale", f"{self.entity_scale} is not a number above 0; 0.5 is usual")
        if not 0 < self.hop_factor <= 1:
            raise InputError("hop_factor", f"{self.hop_factor} is not above 0 and at most 1")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """Eligible memories that are reached, with a score above 0; the reason when there is no start."""
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        seeds = self._seeds(view, query, depth)
        if not len(seeds) and not query.entities:
            return Ranking.empty("the query names no entity and is like no memory, so there is no start")
        asked = np.array(sorted(query.entities), np.int64)
        own = self._scores(view, seeds, asked, seeds)
        scores = dict(zip(seeds.tolist(), own.tolist(), strict=True))
        sources, factor = seeds, 1.0
        while len(scores) < depth:
            reached = self._reached(view, sources, asked, scores)
            gained = self._scores(view, sources, asked, reached) * factor
            visited = view.ranking(reached, gained.round(9), depth - len(scores))
            if not len(visited):
                break
            scores |= zip(visited.ordinals.tolist(), visited.scores.tolist(), strict=True)
            sources, asked, factor = visited.ordinals, np.empty(0, np.int64), factor * self.hop_factor
        found = np.array(list(scores), np.int64)
        values = np.array(list(scores.values()), np.float64)
        kept = view.eligible[found] & (values > 0)
        return view.ranking(found[kept], values[kept], None)

    def _seeds(self, view: View, query: Query, depth: int) -> NDArray[np.int64]:
        vectors = view.snapshot.vectors
        most = min(self.seeds, depth // 2)
        if query.vector is None or vectors.dimension != len(query.vector) or not most:
            return np.empty(0, np.int64)
        ordinals, cosines = vectors.nearest(query.vector, view.eligible, depth=most, rescore=self.rescore)
        near = cosines >= self.seed_similarity
        return view.ranking(ordinals[near], cosines[near], most).ordinals

    @staticmethod
    def _reached(
        view: View, sources: NDArray[np.int64], asked: NDArray[np.int64], visited: dict[int, float]
    ) -> NDArray[np.int64]:
        """Rows not visited that share an entity or a scored link with a source, ascending."""
        entities = np.union1d(asked, view.mentions(sources).second)
        links = view.links(sources)
        links = links.keep(np.isin(links.kinds, [LINK_CODES[kind] for kind in _SCORED_LINKS]))
        near = np.union1d(view.mentioning(entities).second, links.second)
        reached: NDArray[np.int64] = np.setdiff1d(near, np.array(list(visited), np.int64))
        return reached

    def _scores(
        self, view: View, sources: NDArray[np.int64], asked: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The sum of the three signals for each of *rows*, rounded to 1e-9."""
        shared = np.tanh(self.entity_scale * _shared_entities(view, sources, asked, rows))
        links = view.links(sources)
        total = shared
        for kind in _SCORED_LINKS:
            edges = links.keep((links.kinds == LINK_CODES[kind]) & np.isin(links.second, rows))
            strongest = np.zeros(len(rows))
            order = np.argsort(rows)
            places = order[np.searchsorted(rows[order], edges.second)]
            # Weights are stored as float32: 0.8 is not 0.800000012, and a cosine of 1 not a hair above it.
            np.maximum.at(strongest, places, np.clip(edges.weights.astype(np.float64).round(6), 0.0, 1.0))
            total = total + strongest
        scores: NDArray[np.float64] = total.round(9)
        return scores


def _shared_entities(
    view: View, sources: NDArray[np.int64], asked: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """For each of *rows*, how many of its entities are asked about or mentioned by another source."""
    mentions = view.mentions(rows)
    entities, uses = np.unique(view.mentions(sources).second, return_counts=True)
    known = np.isin(mentions.second, entities)
    times = np.zeros(len(mentions), np.int64)
    times[known] = uses[np.searchsorted(entities, mentions.second[known])]
    # A source's own mention of an entity is no other memory's.
    others = times - (np.isin(mentions.first, sources) & known)
    counted = (others > 0) | np.isin(mentions.second, asked)
    order = np.argsort(rows)
    places = order[np.searchsorted(rows[order], mentions.first[counted])]
    return np.bincount(places, minlength=len(rows)).astype(np.float64)
