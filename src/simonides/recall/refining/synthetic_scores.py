"""Scores by rank alone, for a pool that no cross-encoder has read.

score at rank r of n = highest − (highest − lowest) · (r − 1) / (n − 1);  highest for a single candidate

So what multiplies scores afterwards (recency, time, proof) works on the scale that it was made for, also
without a reranker or when the reranker failed (HI-06). Where one has scored the pool, nothing is done. The
order stays as it is; candidates marked as unreranked keep their scores.
Cost: nothing. Weakness: a rank says how many were better, not how much better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.cross_encoder import SCORED_BY as CROSS_ENCODER
from simonides.recall.refining.order import split

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = "synthetic_scores"


@dataclass(frozen=True, slots=True)
class SyntheticScores:
    """Refiner.

    Attributes:
        highest, lowest: scores of the first and the last rank, highest above lowest.
    """

    highest: float
    lowest: float

    def __post_init__(self) -> None:
        if not -math.inf < self.lowest < self.highest < math.inf:
            raise InputError("lowest", f"{self.lowest} is not below highest, which is {self.highest}")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The same order with scores by rank, unless a cross-encoder has scored it."""
        head, tail = split(pool)
        if any(candidate.scored_by == CROSS_ENCODER for candidate in head):
            return Refined(pool)
        step = (self.highest - self.lowest) / max(1, len(head) - 1)
        scored = tuple(
            candidate.rescored(round(self.highest - step * place, 9), SCORED_BY)
            for place, candidate in enumerate(head)
        )
        return Refined(scored + tail)
