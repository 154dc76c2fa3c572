"""Multiplies a cross-encoder's scores by boosts that the fused scores had (EN, order of the stages).

score(m) = score(m) · Π over the named signals of signal(m)

A reranker replaces the score, and with it the boosts that earlier refiners left as signals; here they count
again. Where no cross-encoder has scored the pool, its scores still hold the boosts and nothing is done.
Cost: nothing. Weakness: a factor above 1 lifts a score out of [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.boosting import boosted
from simonides.recall.refining.cross_encoder import SCORED_BY
from simonides.recall.refining.order import split

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SIGNAL = "boost"


@dataclass(frozen=True, slots=True)
class RepeatBoosts:
    """Refiner.

    Attributes:
        signals: names of the boosts; one that a candidate has not counts as 1.
    """

    signals: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.signals:
            raise InputError("signals", "is empty; name the boosts that count again")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with the boosts in its scores."""
        head, _ = split(pool)
        if not head or any(candidate.scored_by != SCORED_BY for candidate in head):
            return Refined(pool)
        factors = [
            float(np.prod([candidate.signals.get(name, 1.0) for name in self.signals])) for candidate in pool
        ]
        return Refined(boosted(view, pool, np.array(factors), SIGNAL))
