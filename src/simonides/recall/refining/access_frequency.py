"""Raises what was used often: score × (1 + weight · ln(1 + accesses)) (EN-06).

Cost: one column of the pool. Weakness: what is found is used and so is found again; the logarithm slows that
and does not end it.
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

SIGNAL = "access_frequency"


@dataclass(frozen=True, slots=True)
class AccessFrequency:
    """Refiner.

    Attributes:
        weight: of the logarithm, from 0.
    """

    weight: float

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            raise InputError("weight", f"{self.weight} is not a number from 0; 0.1 is usual")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with often used memories raised."""
        if not pool:
            return Refined(pool)
        accesses = view.column("access_count", ordinals_of(pool)).astype(np.float64)
        return Refined(boosted(view, pool, 1.0 + self.weight * np.log1p(accesses), SIGNAL))
