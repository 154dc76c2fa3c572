"""Ranks by personalised PageRank from what the query is about (ME-04).

score(m) = mass of m in a walk over visible memories and entities that starts at the seeds (``index.push``)

Seeds are the query's entities, hints among them, each weighted like its edges, so that "user" in thousands of
memories weighs little beside a rare name. By option also the memories nearest to the query, by meaning and by
words; these share ``memory_share`` of the start. Without any seed the channel does nothing and says so.
Cost: bounded by ``edges``, see ``index.push``; each kind of memory seeds costs a scan of its own.
Source: Gutiérrez et al., HippoRAG (2024) and From RAG to Memory (2025); there d = 0.5.
Weakness: a name that the query spells in a new way is no seed; nearness in the graph is not relevance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.push import Walk, damped_weights, spread
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

NO_ENTITY = "no entity"

_RESCORE = 1024
_FIELDS = {"text": 1.0, "context": 1.0, "relation": 1.0, "expansion": 1.0}
_K1, _B = 1.2, 0.75  # Robertson and Zaragoza (2009); only the heads of the lists are used


@dataclass(frozen=True, slots=True)
class PageRank:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        damping, residual, rounds, edges, hub_damping, links: of the walk, see ``index.push.Walk``.
        similar_seeds: how many of the memories nearest in meaning are seeds, from 0.
        lexical_seeds: how many of the best by words are, from 0.
        memory_share: of the start that these get when there are entities, too, above 0 and below 1.
    """

    depth: int
    damping: float
    residual: float
    rounds: int
    edges: int
    hub_damping: float
    links: Mapping[str, float]
    similar_seeds: int
    lexical_seeds: int
    memory_share: float

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many memories are wanted")
        for name, value in (("similar_seeds", self.similar_seeds), ("lexical_seeds", self.lexical_seeds)):
            if value < 0:
                raise InputError(name, f"{value} is below 0; 0 = none")
        if not 0 < self.memory_share < 1:
            raise InputError("memory_share", f"{self.memory_share} is not between 0 and 1")
        self._walk()

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """Eligible memories that mass reaches; empty, with the reason, without a seed."""
        entities = self._entity_seeds(view, query)
        similar, lexical = self._similar(view, query), self._lexical(view, query)
        rows = {row: max(similar.get(row, 0.0), lexical.get(row, 0.0)) for row in similar | lexical}
        if entities and rows:
            entities, rows = _shared(entities, 1 - self.memory_share), _shared(rows, self.memory_share)
        if not entities and not rows:
            return Ranking.empty(NO_ENTITY)
        found = spread(view, rows, entities, self._walk())
        mass = found.row_mass.round(9)
        kept = view.eligible[found.rows] & (mass > 0)
        reason = found.reason
        if not len(found.rows):
            reason = f"every seed is in so many memories that {self.edges} edges do not reach them"
        return view.ranking(found.rows[kept], mass[kept], self.depth, reason)

    def _walk(self) -> Walk:
        return Walk(self.damping, self.residual, self.rounds, self.edges, self.hub_damping, self.links)

    def _entity_seeds(self, view: View, query: Query) -> dict[int, float]:
        numbers = np.array(query.entities, np.int64)
        weights = damped_weights(view, numbers, self.hub_damping)
        return dict(zip(numbers.tolist(), weights.tolist(), strict=True))

    def _similar(self, view: View, query: Query) -> dict[int, float]:
        vectors = view.snapshot.vectors
        if not self.similar_seeds or query.vector is None or vectors.dimension != len(query.vector):
            return {}
        found = vectors.nearest(query.vector, view.visible, depth=self.similar_seeds, rescore=_RESCORE)
        return _head(view, found, self.similar_seeds)

    def _lexical(self, view: View, query: Query) -> dict[int, float]:
        if not self.lexical_seeds or not query.terms:
            return {}
        found = view.snapshot.postings.bm25(
            query.terms, view.visible, view.visible, field_weights=_FIELDS, k1=_K1, b=_B
        )
        return _head(view, found, self.lexical_seeds)


def _head(view: View, found: tuple[NDArray[np.int64], NDArray[np.float64]], most: int) -> dict[int, float]:
    """The best rows, each with its score as a share of the best one's."""
    ranking = view.ranking(*found, most)
    best = max(ranking.scores.tolist(), default=0.0)
    pairs = zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True)
    return {row: score / best for row, score in pairs if score > 0}


def _shared(weights: Mapping[int, float], share: float) -> dict[int, float]:
    """The same in proportion, with the sum *share*."""
    total = math.fsum(weights.values())
    return {node: weight / total * share for node, weight in weights.items()}
