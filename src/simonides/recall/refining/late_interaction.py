"""Raises in the head of the pool what answers the query word by word.

score(m) = kept · minmax(score so far) + weight · minmax(MaxSim)      over the first ``depth`` candidates

MaxSim sets each token of the query against its nearest token of the memory (``index.token_codes``), so a
memory that answers one part of the query well is not averaged away as in a single vector. The rest of the
pool follows unchanged, below the head. Without tokens of the query or of any memory of the head nothing
changes, and the trace says why.
Cost: under 5 ms for 100 candidates, and one read of their codes.
Source: Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search (2020).
Weakness: reads only the first ``MOST_TOKENS`` tokens of a memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.token_codes import max_similarities
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score, split
from simonides.recall.refining.scaling import min_max

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = "late_interaction"
SIGNAL = "maxsim"


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Refiner.

    Attributes:
        depth: candidates that are rescored, best first, from 1.
        weight: of MaxSim, above 0.
        kept: weight of the score so far, from 0; 0 = MaxSim alone orders the head.
        silent: whether a query or a pool without tokens goes without a reason in the trace.
    """

    depth: int
    weight: float
    kept: float
    silent: bool = False

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; 100 is usual")
        if not 0 <= self.kept < math.inf:
            raise InputError("kept", f"{self.kept} is not a number from 0; 1 is usual")
        if not 0 < self.weight < math.inf:
            raise InputError("weight", f"{self.weight} is not a number above 0; to drop it, leave it out")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The head by its new scores, then the tail as it was."""
        if not pool:
            return Refined(pool)
        if query.token_vectors is None:
            return Refined(pool, "" if self.silent else "the query has no token vectors")
        head, tail = split(pool, self.depth)
        counts, codes = view.token_codes([candidate.ordinal for candidate in head])
        if not counts.any():
            return Refined(pool, "" if self.silent else "no candidate has token codes")
        similar = max_similarities(query.token_vectors, codes, counts)
        before = min_max(np.array([candidate.score for candidate in head], np.float64))
        # What has no codes is neither raised nor lowered against the rest: it counts as the mean.
        similar[counts == 0] = similar[counts > 0].mean()
        scores = (self.kept * before + self.weight * min_max(similar)).round(9)
        scored = [
            candidate.with_signals(score, SCORED_BY, {SIGNAL: signal})
            for candidate, score, signal in zip(head, scores.tolist(), similar.round(9).tolist(), strict=True)
        ]
        return Refined(by_score(view, scored) + tail)
