"""Rescores the head of the pool by a network trained on what was used after it was found (EN-08).

score(m) = the network's probability that m is used (``mlp``), in [0, 1]

Without a trained network nothing changes, and the trace says so: an untrained one would shuffle. The rest
follows unchanged, marked as unreranked.
Cost: a few thousand multiplications; the exact cosines dominate.
Weakness: it learns what earlier answers made people use, so it favours what was already found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.boosting import ordinals_of
from simonides.recall.refining.mlp import features_of
from simonides.recall.refining.order import by_score, split

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = SIGNAL = "learned_mlp"


@dataclass(frozen=True, slots=True)
class LearnedMlp:
    """Refiner.

    Attributes:
        depth: candidates that are rescored, best first, from 1.
    """

    depth: int

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many candidates are rescored")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The head by the network's scores, then the tail as it was."""
        if not pool:
            return Refined(pool)
        if tools.learned is None:
            return Refined(pool, "not trained yet; the order stands")
        head, tail = split(pool, self.depth)
        scores = np.asarray(tools.learned.predict(features_of(view, query, ordinals_of(head))), np.float64)
        if scores.shape != (len(head),) or not np.isfinite(scores).all():
            return Refined(pool, "the learned model gave no usable scores; the order stands")
        scored = [
            candidate.rescored(round(score, 9), SCORED_BY, **{SIGNAL: round(score, 9)})
            for candidate, score in zip(head, scores.tolist(), strict=True)
        ]
        return Refined(by_score(view, scored) + tail)
