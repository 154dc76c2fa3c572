"""Raises what happened when the query says: score × *factor* where the times overlap (EN-04).

Times are half-open intervals (``query.time``, found in the words; the memory's occurred range). An undated
memory matches no time, and without a time in the query nothing changes.
Cost: two columns of the pool. Weakness: a time told by the way is boosted like one that is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.boosting import boosted, ordinals_of

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SIGNAL = "date_match"


@dataclass(frozen=True, slots=True)
class DateMatch:
    """Refiner.

    Attributes:
        factor: what the score of a match is multiplied by, above 0.
    """

    factor: float

    def __post_init__(self) -> None:
        if not 0 < self.factor < math.inf:
            raise InputError("factor", f"{self.factor} is not a number above 0; 2 is usual")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with matches raised."""
        if query.time is None or not pool:
            return Refined(pool)
        ordinals = ordinals_of(pool)
        starts, ends = view.column("occurred_from", ordinals), view.column("occurred_to", ordinals)
        matches = [
            query.time.overlaps(start, max(end, start + 1)) and start <= end
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return Refined(boosted(view, pool, np.where(matches, self.factor, 1.0), SIGNAL))
