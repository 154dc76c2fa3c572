"""Channels that find memories by the graph between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.graph_walk import Walk, damped_weights, spread
from simonides.records.candidate import Ranking
from simonides.records.edges import LINK_CODES

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
    """Ranks by personalised PageRank from what the query is about (ME-04).

    score(m) = mass of m in a walk over visible memories and entities that starts at the seeds
    (``index.push``)

    Seeds are the query's entities, hints among them, each weighted like its edges, so that "user" in
    thousands of memories weighs little beside a rare name. By option also the memories nearest to the query,
    by meaning and by words; these share ``memory_share`` of the start. Without any seed the channel does
    nothing and says so.
    Cost: bounded by ``edges``, see ``index.push``; each kind of memory seeds costs a scan of its own.
    Source: Gutiérrez et al., HippoRAG (2024) and From RAG to Memory (2025); there d = 0.5.
    Weakness: a name that the query spells in a new way is no seed; nearness in the graph is not relevance.

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


@dataclass(frozen=True, slots=True)
class EntityHop:
    """Ranks what mentions the query's entities, then what mentions their neighbours (EN-12).

    score(m) = 1.0                             if m mentions an entity of the query
             = 0.5 · min(1, max strength(A, B)) if m mentions B, which stands beside such an entity A
             somewhere

    strength(A, B) = sum of the confidence of the visible memories that mention both
    The higher of the two counts, not their sum. The two factors are options.
    An entity that more than ``hub_cap`` visible memories mention is neither hopped to nor hopped from, since
    it stands beside everything; the trace says so.
    Cost: linear in the mentions of the entities asked for and of their neighbours.
    Weakness: few distinct scores, so that ties by path and id decide a lot; PageRank tells more apart.

    Attributes:
        depth: hits at most, from 1.
        named: score of a memory that mentions an entity of the query, above 0.
        hop: what a strength of 1 or more scores one hop further, above 0 and at most ``named``.
        hub_cap: memories that may mention an entity for it to be hopped to or from, from 1.
        silent: whether a query without an entity, and hubs, go without a word in the trace.
    """

    depth: int
    named: float
    hop: float
    hub_cap: int
    silent: bool = False

    def __post_init__(self) -> None:
        for name, value in (("depth", self.depth), ("hub_cap", self.hub_cap)):
            if value < 1:
                raise InputError(name, f"{value} is below 1; give how many memories are wanted")
        if not 0 < self.named < math.inf:
            raise InputError("named", f"{self.named} is not a number above 0")
        if not 0 < self.hop <= self.named:
            raise InputError("hop", f"{self.hop} is not above 0 and at most {self.named}, the score of named")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """Eligible memories within one hop; empty, with the reason, when the query names nothing."""
        if not query.entities:
            return Ranking.empty("" if self.silent else NO_ENTITY)
        asked = np.array(query.entities, np.int64)
        wide = view.mention_counts(asked) > self.hub_cap
        strengths = _strengths(view, asked[~wide], frozenset(query.entities))
        near = np.array(sorted(strengths), np.int64)
        hubs = view.mention_counts(near) > self.hub_cap
        reached = view.mentioning(near[~hubs])
        scores: dict[int, float] = {}
        for entity, row in zip(reached.first.tolist(), reached.second.tolist(), strict=True):
            scores[row] = max(scores.get(row, 0.0), self.hop * min(1.0, strengths[entity]))
        named = view.mentioning(asked)
        scores |= dict.fromkeys(named.second.tolist(), self.named)
        wanted = [(row, round(s, 9)) for row, s in sorted(scores.items()) if view.eligible[row] and s > 0]
        return view.ranking(
            np.array([row for row, _ in wanted], np.int64),
            np.array([score for _, score in wanted], np.float64),
            self.depth,
            "" if self.silent else _said_of(int(wide.sum() + hubs.sum()), self.hub_cap),
        )


def _strengths(view: View, entities: NDArray[np.int64], asked: frozenset[int]) -> dict[int, float]:
    """By entity beside one of *entities*, but for those *asked* for: its strongest tie to one of them."""
    named = view.mentioning(entities)
    others = view.mentions(np.unique(named.second))
    beside: dict[int, list[int]] = {}
    for row, entity in zip(others.first.tolist(), others.second.tolist(), strict=True):
        beside.setdefault(row, []).append(entity)
    confidence = dict(
        zip(named.second.tolist(), view.column("confidence", named.second).tolist(), strict=True)
    )
    ties: dict[tuple[int, int], list[float]] = {}
    for entity, row in zip(named.first.tolist(), named.second.tolist(), strict=True):
        for other in beside[row]:
            ties.setdefault((entity, other), []).append(confidence[row])
    strengths: dict[int, float] = {}
    for (_, other), parts in ties.items():
        strengths[other] = max(strengths.get(other, 0.0), math.fsum(parts))
    return {other: strength for other, strength in strengths.items() if other not in asked}


def _said_of(hubs: int, cap: int) -> str:
    if not hubs:
        return ""
    return f"{hubs} entities that more than {cap} memories mention were not followed"


_SCORED_LINKS = ("semantic", "causal")


@dataclass(frozen=True, slots=True)
class LinkExpansion:
    """Ranks by what a memory shares with the query and with the memories most like it, hop by hop.

    score(m) = (tanh(0.5 · shared entities) + semantic link + causal link) · hop_factor ** (hop − 1)

        shared entities   those of m that the query names or another source mentions, each counted once
        semantic, causal  the strongest link of that kind between m and a source; 0 to 1 each

    The sum lies in [0, 3]. The sources of the first hop are the query's entities and its semantic seeds, the
    nearest memories by cosine; from there on, the memories that the hop before has visited. Each hop visits
    the best first, and all ends when *depth* memories were visited, seeds included, so a chain (Odalys → her
    manager → his team → its projects) is followed to its end only if the budget is not spent on the way. A
    seed is scored like any other memory, what it would share with itself aside. Hops may pass through
    memories that the caller's filters exclude; those are visited, not found.
    Cost: the mentions of every entity reached; under 5 ms where entities have tens of memories.
    Weakness: an entity that half the bank mentions costs its whole list and recommends all of it alike.

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
