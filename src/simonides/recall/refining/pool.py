"""What refiners share: the total order of a pool, its unread tail, factors on scores, and scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.records.interval import BEGINNING, DAY_MICROS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.protocols import View
    from simonides.records.candidate import Candidate


UNRERANKED = "unreranked"
"""The signal (1) of a candidate beyond the rerank depth; it keeps its score and stays behind all others."""


def by_score(view: View, pool: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Score falling, then path, then id."""
    ranking = view.ranking(
        np.array([candidate.ordinal for candidate in pool], np.int64),
        np.array([candidate.score for candidate in pool], np.float64),
        None,
    )
    by_ordinal = {candidate.ordinal: candidate for candidate in pool}
    return tuple([by_ordinal[ordinal] for ordinal in ranking.ordinals.tolist()])


def split(
    pool: Sequence[Candidate], depth: int | None = None
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """The head, at most *depth* candidates, and the tail behind it, each of it marked as unreranked.

    Candidates that were marked before belong to the tail, whatever the depth.
    """
    head = tuple(candidate for candidate in pool if UNRERANKED not in candidate.signals)[:depth]
    ahead = {candidate.ordinal for candidate in head}
    tail = (candidate for candidate in pool if candidate.ordinal not in ahead)
    return head, tuple(each.rescored(each.score, each.scored_by, **{UNRERANKED: 1.0}) for each in tail)


def boosted(
    view: View, pool: Sequence[Candidate], factors: NDArray[np.float64], signal: str
) -> tuple[Candidate, ...]:
    """Multiply the scores and put the pool in their order; each candidate keeps its factor as a signal.

    The score stays on the scale of the stage that made it, so ``scored_by`` does. Candidates that no reranker
    has read keep their scores and their place behind all others.

    Args:
        view: gives the total order.
        pool: best first.
        factors: float64, shape (len(pool),), from 0.
        signal: its name.
    """
    factor = dict(zip((candidate.ordinal for candidate in pool), factors.tolist(), strict=True))
    head, tail = split(pool)
    scored = [
        candidate.rescored(
            round(candidate.score * factor[candidate.ordinal], 9),
            candidate.scored_by,
            **{signal: round(factor[candidate.ordinal], 9)},
        )
        for candidate in head
    ]
    return by_score(view, scored) + tail


def ordinals_of(pool: Sequence[Candidate]) -> NDArray[np.int64]:
    """Row ordinals, shape (len(pool),)."""
    return np.array([candidate.ordinal for candidate in pool], np.int64)


def age_days(view: View, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Days since each memory was first recorded, as the viewpoint sees it; from 0."""
    ages: NDArray[np.float64] = np.maximum(
        0.0, (float(view.as_of) - first_recorded(view, ordinals)) / DAY_MICROS
    )
    return ages


def first_recorded(view: View, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """When the first version of each memory was recorded, microseconds: later ones make nothing newer."""
    roots = view.column("root", ordinals).astype(np.int64)
    own, first = view.column("ingested_at", ordinals), view.column("ingested_at", roots)
    # The first version may have been erased; then its stamp is gone, and the version at hand counts.
    created: NDArray[np.float64] = np.where(first != BEGINNING, np.minimum(own, first), own).astype(
        np.float64
    )
    return created


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(v − min) / (max − min) for each value, in [0, 1], rounded to 1e-9; a constant column is all 0.

    Args:
        values: finite float64, shape (n,), or several columns at once, shape (columns, n).
    """
    if not values.size:
        return values
    # Halved first: the difference of two huge values of different signs would overflow.
    halves = values / 2
    scaled: NDArray[np.float64] = halves - halves.min(axis=-1, keepdims=True)
    spans = scaled.max(axis=-1, keepdims=True)
    spans[spans == 0.0] = 1.0
    scaled /= spans
    return scaled.round(9, out=scaled)
