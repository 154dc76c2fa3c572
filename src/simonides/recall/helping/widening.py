"""A plan that also searches for what a model made of the query, and reads its pool with a heavy reranker.

The query stays what it was for every stage behind the channels: boosts, reranking and the verdict of "no
match" go by the caller's own words. The channels alone search variants of it:

first     the query's vector  v = unit(Σ / n) over encode_query(q) and encode(d) of each HyDE passage d,
          with encode_query(q + d) in the place of the first for Query2doc;
          its terms, each ``REPEATS`` times, and those of the Query2doc passage once (the paper's n = 5);
          where words are an expression, the passage's are more of them
others    each other wording, understood as a query of its own

A channel's rankings of several variants become one by reciprocal rank (k = 60, rank from 1), so the fuser
sees as many channels as before. Cost: each channel once per variant, one encoding per text.
Weakness: scores of a channel that searched several variants are no cosines or BM25 any more, but sums of
reciprocal ranks.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError
from simonides.recall.fusion import gather
from simonides.recall.plan import Step
from simonides.recall.refining.rerankers import CrossEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Channel, Refined, Reranker, Tools, Understander, View
    from simonides.recall.helping.asking import HelperTexts
    from simonides.recall.plan import Plan
    from simonides.records.candidate import Candidate, Ranking
    from simonides.records.query import Query


_WORD = re.compile(r"[^\W_]+")
REPEATS = 5
K = 60
HEAVY_DEPTH = 100
"""Candidates that the heavy reranker reads: more than the guard rail of the default tier allows (HX-15)."""

UNDERSTANDER, REFINER = "helpers", "heavy_reranker"


def widened(plan: Plan, texts: HelperTexts, reranker: Reranker | None) -> Plan:
    """*plan* with the helpers' texts and the reranker in their places.

    Args:
        plan: of the profile.
        texts: what a model made of the query; its problems go to the trace.
        reranker: reads the pool last; ``None`` = none does.
    """
    helpers = Step(
        UNDERSTANDER, UNDERSTANDER, Helpers(texts, tuple(step.stage for step in plan.understanders))
    )
    channels = tuple(replace(step, stage=EachVariant(step.stage)) for step in plan.channels)
    refiners: tuple[Step[Any], ...] = plan.refiners
    if reranker is not None:
        refiners = (*refiners, Step(REFINER, REFINER, HeavyReranker(reranker, CrossEncoder(HEAVY_DEPTH))))
    return replace(plan, understanders=(*plan.understanders, helpers), channels=channels, refiners=refiners)


@dataclass(frozen=True, slots=True)
class Helpers:
    """Understander; stands last.

    Attributes:
        texts: what a model made of the query.
        understanders: that other wordings are understood by.
    """

    texts: HelperTexts
    understanders: tuple[Understander, ...]

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        """The query with its variants; a problem becomes a note."""
        notes = list(self.texts.problems)
        if query.skip:
            return replace(query, notes=(*query.notes, *notes))
        first = query
        if self.texts.query2doc:
            first = replace(
                first, terms=self._terms(query, tools) if query.terms else (), all_terms=False, names=()
            )
            if query.expression is not None:
                # In the query language the passage's words are more ways to match.
                longer = replace(_bare(query), text=f"{query.text} {self._words()}")
                first = replace(first, expression=self._understood(view, longer, tools).expression)
        if query.vector is not None and tools.embedder is not None:
            try:
                first = replace(first, vector=self._vector(query, query.vector, tools))
            except Exception as error:  # noqa: BLE001 any fault of a plugged-in model must leave the query's own
                notes.append(f"the embedder failed: {type(error).__name__}: {error}")
        others = []
        for wording in self.texts.multi_query:
            try:
                other = self._understood(view, replace(_bare(query), text=wording), tools)
            except InputError as error:
                notes.append(f"a wording could not be read: {error}")
                continue
            if not other.skip:
                others.append(other)
        return replace(query, variants=(first, *others), notes=(*query.notes, *notes))

    def _understood(self, view: View, query: Query, tools: Tools) -> Query:
        for understander in self.understanders:
            query = understander.understand(view, query, tools)
        return query

    def _words(self) -> str:
        """The passages without what the query language reads as a sign or an operator."""
        return " ".join(_WORD.findall(" ".join(self.texts.query2doc).lower()))

    def _terms(self, query: Query, tools: Tools) -> tuple[tuple[str, int], ...]:
        counted = Counter({term: REPEATS * times for term, times in query.terms})
        for passage in self.texts.query2doc:
            counted.update(tools.analyser.query_terms(passage))
        return tuple(counted.items())

    def _vector(self, query: Query, own: NDArray[np.float32], tools: Tools) -> NDArray[np.float32]:
        """The mean direction; the query's own vector where nothing was invented or nothing is left of it."""
        assert tools.embedder is not None
        vectors = [np.asarray(own, np.float64)]
        if self.texts.query2doc:
            text = " ".join((query.text, *self.texts.query2doc))
            vectors = (
                _usable([np.asarray(tools.embedder.encode_query(text), np.float64)], len(own)) or vectors
            )
        if self.texts.hyde:
            encoded = np.asarray(tools.embedder.encode(self.texts.hyde), np.float64)
            vectors += _usable(encoded, len(own))
        mean = np.mean(vectors, axis=0)
        length = float(np.linalg.norm(mean))
        return (mean / length).astype(np.float32) if length > 0 else own


@dataclass(frozen=True, slots=True)
class EachVariant:
    """Channel: another one, for every variant of the query."""

    channel: Channel

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        """The channel's own ranking where there is one variant; else all of them as one."""
        found = [self.channel.search(view, variant, tools) for variant in query.variants or (query,)]
        if len(found) == 1:
            return found[0]
        places = gather({str(number): ranking for number, ranking in enumerate(found)})
        ordinals = np.array(list(places), np.int64)
        scores = np.array(
            [sum(1 / (K + rank) for rank, _ in sorted(each.values())) for each in places.values()], np.float64
        ).round(9)
        joined = view.ranking(ordinals, scores, max(len(ranking) for ranking in found))
        return replace(joined, reason=found[0].reason, attempts=found[0].attempts)


@dataclass(frozen=True, slots=True)
class HeavyReranker:
    """Refiner: a cross-encoder with a reranker of its own.

    Attributes:
        reranker: that reads.
        stage: how many it reads.
    """

    reranker: Reranker
    stage: CrossEncoder

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """See ``CrossEncoder``."""
        return self.stage.refine(view, query, pool, replace(tools, reranker=self.reranker))


def _bare(query: Query) -> Query:
    """What the caller asked for, before anything was understood."""
    return replace(
        query,
        terms=(),
        vector=None,
        token_vectors=None,
        sparse=None,
        notes=(),
        entities=(),
        time=None,
        intent="",
        expression=None,
        spelled="",
        routed_kinds=(),
        routed_project=None,
    )


def _usable(
    vectors: Sequence[NDArray[np.float64]] | NDArray[np.float64], size: int
) -> list[NDArray[np.float64]]:
    """Those of the right size that point anywhere, as unit vectors."""
    return [
        vector / np.linalg.norm(vector)
        for vector in vectors
        if vector.shape == (size,) and np.isfinite(vector).all() and vector.any()
    ]


# What a model puts before the entries of a list.
