"""Lowers what was long ago: score × max(floor, e^(−rate · age / half_life)) for episodic memories (EN-05).

Episodic is a matter of the layer: what was promoted to lasting knowledge does not fade. The age counts from
the first version's recording to the viewpoint. Cost: three columns of the pool.
Weakness: an old episode that is asked for by its date pays as well, at most down to the floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.boosting import age_days, boosted, ordinals_of
from simonides.records.kind import LAYER_CODES, Layer

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SIGNAL = "retention"


@dataclass(frozen=True, slots=True)
class Retention:
    """Refiner.

    Attributes:
        rate: of the decay in one half-life, from 0; 0.693 halves.
        half_life_days: above 0.
        floor: the least that is left, 0 to 1.
    """

    rate: float
    half_life_days: float
    floor: float

    def __post_init__(self) -> None:
        if not 0 <= self.rate < math.inf:
            raise InputError("rate", f"{self.rate} is not a number from 0; 0.693 halves in a half-life")
        if not 0 < self.half_life_days < math.inf:
            raise InputError("half_life_days", f"{self.half_life_days} is not a number above 0")
        if not 0 <= self.floor <= 1:
            raise InputError("floor", f"{self.floor} is not between 0 and 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with old episodes lowered."""
        if not pool:
            return Refined(pool)
        ordinals = ordinals_of(pool)
        left = np.exp(-self.rate * age_days(view, ordinals) / self.half_life_days)
        episodic = view.column("layer", ordinals) == LAYER_CODES[Layer.EPISODIC]
        factors = np.where(episodic, np.maximum(self.floor, left), 1.0)
        return Refined(boosted(view, pool, factors, SIGNAL))
