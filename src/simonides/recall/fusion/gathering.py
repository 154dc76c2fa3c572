"""What fusers have in common: each memory's rank and score in every channel that found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.records.candidate import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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
    view: View,
    rankings: Mapping[str, Ranking],
    scored_by: str,
    score: Callable[[Mapping[str, tuple[int, float]]], float],
) -> tuple[Candidate, ...]:
    """One candidate per memory that any channel found, best first, ties by path, then id.

    Args:
        view: orders them.
        rankings: by channel.
        scored_by: the technique's name.
        score: of a memory, from its rank and score in each channel that found it.
    """
    places = gather(rankings)
    ordinals = np.array(list(places), np.int64)
    scores = np.array([round(score(found), 9) for found in places.values()], np.float64)
    ordered = view.ranking(ordinals, scores, None)
    return candidates(zip(ordered.ordinals.tolist(), ordered.scores.tolist(), strict=True), scored_by, places)


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
