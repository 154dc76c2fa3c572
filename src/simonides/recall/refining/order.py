"""What refiners that score have in common: the total order, and the tail that no reranker has read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

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
