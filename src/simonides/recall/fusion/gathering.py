"""What fusers have in common: each memory's rank and score in every channel that found it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simonides.recall.rounding import rounded
from simonides.records.candidate import FUSED, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simonides.protocols import View
    from simonides.records.ranking import Ranking

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
