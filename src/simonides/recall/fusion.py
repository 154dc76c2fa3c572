"""Fusers: one ranking out of the channels' rankings, by the rank and score of each memory in each channel."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.postings import FIELDS
from simonides.recall.rounding import rounded
from simonides.records.candidate import FUSED, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import View
    from simonides.records.candidate import Ranking
    from simonides.records.query import Query


Places = dict[int, dict[str, tuple[int, float]]]
"""By ordinal and channel: rank from 1, and score."""


def gather(rankings: Mapping[str, Ranking]) -> Places:
    """Where each memory stands; channels in the order of their names, so that theirs changes nothing."""
    places: Places = {}
    for channel in sorted(rankings):
        ranking = rankings[channel]
        pairs = zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True)
        for rank, (ordinal, score) in enumerate(pairs, start=1):
            if (found := places.get(ordinal)) is None:
                places[ordinal] = {channel: (rank, score)}
            else:
                found[channel] = rank, score
    return places


def fused(
    view: View, rankings: Mapping[str, Ranking], scored_by: str, points: Mapping[str, Sequence[float]]
) -> tuple[Candidate, ...]:
    """One candidate per memory that any channel found, best first, ties by path, then id.

    Sums are exact (``math.fsum``) and rounded to 1e-9, so that the order of the channels changes no bit.

    Args:
        view: orders them.
        rankings: by channel.
        scored_by: the technique's name.
        points: by channel, what each of its places gives, the best first; a memory scores the sum of its own.
    """
    ranks: dict[int, dict[str, int]] = {}
    scores: dict[int, dict[str, float]] = {}
    sums: dict[int, float] = {}
    several: dict[int, list[float]] = {}
    for channel in sorted(rankings):
        ranking = rankings[channel]
        hits = zip(ranking.ordinals.tolist(), ranking.scores.tolist(), points[channel], strict=True)
        for rank, (ordinal, score, point) in enumerate(hits, start=1):
            if ordinal in ranks:
                ranks[ordinal][channel], scores[ordinal][channel] = rank, score
                several.setdefault(ordinal, [sums[ordinal]]).append(point)
            else:
                ranks[ordinal], scores[ordinal], sums[ordinal] = {channel: rank}, {channel: score}, point
    # Most memories are found by one channel alone.
    sums.update((ordinal, math.fsum(given)) for ordinal, given in several.items())
    ordered = view.ranking(np.array(list(sums), np.int64), np.array(rounded(sums.values())), None)
    pool = [
        Candidate(ordinal, score, scored_by, ranks[ordinal], scores[ordinal], {FUSED: score})
        for ordinal, score in zip(ordered.ordinals.tolist(), ordered.scores.tolist(), strict=True)
    ]
    return tuple(pool)


def candidates(scored: Iterable[tuple[int, float]], scored_by: str, places: Places) -> tuple[Candidate, ...]:
    """Candidates in the order of *scored*: ordinals with their scores."""
    return tuple(
        Candidate(
            ordinal,
            score,
            scored_by,
            {channel: rank for channel, (rank, _) in found.items()},
            {channel: there for channel, (_, there) in found.items()},
        )
        for ordinal, score in scored
        if (found := places[ordinal])
    )


RECIPROCAL_RANK_SCORED_BY = "reciprocal_rank"


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """Joins rankings by rank alone, so that channels need no common scale.

    score(m) = Σ over channels c that found m of weight_c / (k + rank_c(m)),  rank counted from 1

    First of one channel at k = 60: 1/61. Sums are exact (``math.fsum``) and rounded to 1e-9, so neither the
    order of the channels nor a channel that found nothing changes a bit of the result; ties go by path, then
    id.
    Cost: linear in the hits, about 1 ms for four channels of 100.
    Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods (2009).
    Weakness: blind to how far apart two scores are; a sure hit and a lucky one at the same rank count the
    same.

    Attributes:
        k: how little the top ranks stand out, from 0; 60 in the paper.
        weights: by channel name, above 0; a channel that is not named has weight 1.
    """

    k: float
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.k < math.inf:
            raise InputError("k", f"{self.k} is not a number from 0; 60 is usual")
        for channel, weight in self.weights.items():
            if not 0 < weight < math.inf:
                raise InputError(
                    f"weights.{channel}", f"{weight} is not a number above 0; to drop a channel, leave it out"
                )

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:  # noqa: ARG002 - the protocol's shape
        """One candidate per memory that any channel found, best first, with its rank and score in each."""
        points = {
            channel: [self.weights.get(channel, 1.0) / (self.k + rank) for rank in range(1, len(ranking) + 1)]
            for channel, ranking in rankings.items()
        }
        return fused(view, rankings, RECIPROCAL_RANK_SCORED_BY, points)


INTENTS = ("why", "when", "who", "how", "what")
_OTHERWISE = "what"


@dataclass(frozen=True, slots=True)
class IntentReciprocalRank:
    """Reciprocal rank with weights that depend on what the question asks for (EN-02, EN-03).

    score(m) = Σ over channels c that found m of weight[intent][c] / (k + rank_c(m)),  rank counted from 1

    All else is as in ``reciprocal_rank``. A query whose intent was never looked for counts as a "what".

    Attributes:
        k: how little the top ranks stand out, from 0.
        intents: per intent (every one of ``INTENTS``) and channel name a weight above 0; a channel that is
            not named has weight 1.
    """

    k: float
    intents: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        if set(self.intents) != set(INTENTS):
            raise InputError("intents", f"needs a table for each of {', '.join(INTENTS)}, and no other")
        for intent, weights in self.intents.items():
            try:
                ReciprocalRank(self.k, weights)
            except InputError as error:
                field = error.field.replace("weights", f"intents.{intent}")
                raise InputError(field, error.problem) from None

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:
        """One candidate per memory that any channel found, best first."""
        weights = self.intents[query.intent or _OTHERWISE]
        return ReciprocalRank(self.k, weights).fuse(view, query, rankings)


INTERLEAVE_SCORED_BY = "interleave"


@dataclass(frozen=True, slots=True)
class Interleave:
    """Joins rankings by taking one memory from each in turn: the firsts of all channels, then the seconds.

    score(m) = 1 / place(m), place from 1; the channels take turns in the order of the profile

    What was taken already is passed over, and that channel takes its next. Needs neither scores nor weights,
    and every channel is heard among the first few, however many agree on something else.
    Cost: linear in the hits. Source: Radlinski, Kurup and Joachims (2008), balanced interleaving.
    Weakness: a memory that all channels find gains nothing by it, and a poor channel's first is never far
    down.
    """

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:  # noqa: ARG002 - the protocol's shape
        """One candidate per memory that any channel found, best first, with its rank and score in each."""
        scored = ((ordinal, round(1 / place, 9)) for place, ordinal in enumerate(_in_turn(rankings), start=1))
        return candidates(scored, INTERLEAVE_SCORED_BY, gather(rankings))


def _in_turn(rankings: Mapping[str, Ranking]) -> list[int]:
    left = [iter(ranking.ordinals.tolist()) for ranking in rankings.values()]
    taken: dict[int, None] = {}
    while left:
        still = []
        for hits in left:
            ordinal = next((hit for hit in hits if hit not in taken), None)
            if ordinal is not None:
                taken[ordinal] = None
                still.append(hits)
        left = still
    return list(taken)


def held_terms(
    view: View, query: Query, ordinals: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """How many visible rows hold each term of the query, the terms' idf, and which of *ordinals* hold which.

    Returns:
        int64 and float64, shape (terms,), and bool, shape (terms, len(ordinals)).
    """
    terms = [term for term, _ in query.terms]
    frequencies, held = view.snapshot.postings.held(terms, view.visible, ordinals, fields=FIELDS)
    rows = int(np.count_nonzero(view.visible))
    return frequencies, np.log(1.0 + (rows - frequencies + 0.5) / (frequencies + 0.5)), held


def coverage(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much of a query's words memories hold, weighed by how rare the words are among the visible rows.

    coverage(m) = Σ idf(t) over the terms of the query that m holds / Σ idf(t) over all its terms
    idf(t)      = ln(1 + (N − df + ½) / (df + ½)), N and df counted over the visible rows

    Cost: the postings of the query's terms.

    The coverage of each of *ordinals*, in [0, 1], rounded to 1e-9; the query has terms.
    """
    _, idf, held = held_terms(view, query, ordinals)
    return covered(idf, held)


def covered(idf: NDArray[np.float64], held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of the sum of *idf* that each column of *held* holds, rounded to 1e-9."""
    # Summed exactly, one memory at a time: neither the order of the terms nor the other memories matter.
    total = math.fsum(idf.tolist())
    sums = [math.fsum(idf[held[:, place]].tolist()) for place in range(held.shape[1])]
    return np.array([each / total for each in sums], np.float64).round(9)


SCORE_SUM_SCORED_BY = "score_sum"
_LOOKED_AT = 5


@dataclass(frozen=True, slots=True)
class ScoreSum:
    """Joins rankings by their scores, each put on the scale of its own ranking first.

    score(m) = Σ over channels c that found m of weight_c · scaled_c(m)

        scaled_c(m) = (s − min) / (max − min) over the scores of c's ranking, in [0, 1]
        log:          the same of ln(s), for masses that fall by magnitudes; a score that is not positive
                      counts as the ranking's lowest positive one

        by_coverage:  weight_c is multiplied by min(1, coverage / by_coverage_c), with the largest coverage of
                      the query (``coverage``) among the first five hits of c: where no memory holds more
                      than a stray word of the question, words tell little

    What a channel did not find gets nothing from it, like its last hit. A ranking whose scores are all the
    same tells nothing apart and counts 0; one with a single hit counts 1, for that hit was told apart from
    all the rest. Sums are exact (``math.fsum``) and rounded to 1e-9, so the order of the channels changes no
    bit.
    Cost: linear in the hits, under 1 ms for four channels of 100.
    Source: Fox and Shaw, Combination of Multiple Searches (1994), CombSUM; the scaling: Lee, Analyses of
    Multiple Evidence Combination (1997).
    Weakness: one outlier at the top squeezes all below it together, and a channel that found nothing good
    still gives its best hit a whole point.

    Attributes:
        weights: by channel name, above 0; a channel that is not named has weight 1.
        log: names of channels whose scores are scaled by their logarithms.
        by_coverage: by name of a channel that weighs less where no hit covers the query, the coverage from
            which on it has its whole weight, above 0.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    by_coverage: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for channel, weight in self.weights.items():
            if not 0 < weight < math.inf:
                raise InputError(
                    f"weights.{channel}", f"{weight} is not a number above 0; to drop a channel, leave it out"
                )

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:
        """One candidate per memory that any channel found, best first, with its rank and score in each."""
        points = {
            channel: (self._weight(channel, ranking, view, query) * self._scaled(channel, ranking)).tolist()
            for channel, ranking in rankings.items()
        }
        return fused(view, rankings, SCORE_SUM_SCORED_BY, points)

    def _weight(self, channel: str, ranking: Ranking, view: View, query: Query) -> float:
        weight = self.weights.get(channel, 1.0)
        whole = self.by_coverage.get(channel)
        if whole and len(ranking) and query.terms:
            most = float(coverage(view, query, ranking.ordinals[:_LOOKED_AT]).max())
            weight *= min(1.0, most / whole)
        return weight

    def _scaled(self, channel: str, ranking: Ranking) -> NDArray[np.float64]:
        scores = ranking.scores
        if len(scores) == 1:
            return np.ones(1)
        if channel in self.log:
            positive = scores[scores > 0]
            if not len(positive):
                return np.zeros(len(scores))
            scores = np.log(np.maximum(scores, positive.min()))
        if not len(scores) or scores[0] == scores[-1]:
            return np.zeros(len(scores))
        # Halved first: the difference of two huge scores of different signs would overflow.
        scaled: NDArray[np.float64] = (scores / 2 - scores[-1] / 2) / (scores[0] / 2 - scores[-1] / 2)
        return scaled.round(9)
