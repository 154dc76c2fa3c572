"""Multiplies relevance by what is known of a memory whatever is asked, within a declared band (DF-05).

score(m) = score(m) × prior(m),   prior(m) = band ^ Σ over signals of weight · (signal(m) − ½)

    recency     ½ ^ (whole days since the last access, else since the first recording, / half_life_days)
    salience    as set when the memory was stored
    confidence  as set when the memory was stored
    usage       1 − 1 / (1 + ln(1 + accesses))
    statement   0 for a text that ends with a question, which answers none; else 1
    length      ln(1 + words) / 5, 1 at most: a longer text has more room for an answer

Every signal lies in [0, 1] and the weights sum to 1 at most, so every prior lies between band^−½ and band^½:
two memories whose scores differ by a factor above the band never change places, whatever their priors.
Cost: six columns of the pool. Weakness: within the band, an important old answer may still lose to a
trivial new one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.protocols import Refined
from simonides.recall.refining.boosting import first_recorded
from simonides.recall.refining.order import by_score
from simonides.recall.rounding import rounded
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = "bounded_priors"
SIGNAL = "prior"
SIGNALS = ("recency", "salience", "confidence", "usage", "statement", "length")

_MICROS_PER_DAY = 86_400_000_000
_LONG = 5.0  # ln(1 + 147 words)


@dataclass(frozen=True, slots=True)
class BoundedPriors:
    """Refiner.

    Attributes:
        band: from 1; the largest factor between two priors. 1 changes nothing.
        weights: per signal from 0, 1 in sum at most; a signal left out has none.
        half_life_days: after so many days half of recency is left, above 0.
    """

    band: float
    weights: Mapping[str, float]
    half_life_days: float

    def __post_init__(self) -> None:
        if not 1 <= self.band < math.inf:
            raise InputError("band", f"{self.band} is not a number from 1; 1.2 lets priors decide near ties")
        if not 0 < self.half_life_days < math.inf:
            raise InputError("half_life_days", f"{self.half_life_days} is not a number of days above 0")
        for signal, weight in self.weights.items():
            if signal not in SIGNALS:
                raise UnknownNameError(f"weights.{signal}", signal, SIGNALS)
            if not 0 <= weight <= 1:
                raise InputError(f"weights.{signal}", f"{weight} is not between 0 and 1")
        if math.fsum(self.weights.values()) > 1:
            raise InputError("weights", "sum to more than 1, so the priors could leave the band; lower one")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by score and prior; each candidate carries its prior."""
        if not pool:
            return Refined(pool)
        priors = self.priors(view, np.array([candidate.ordinal for candidate in pool], np.int64)).tolist()
        scores = rounded(
            [
                # A negative score is raised by dividing it.
                candidate.score * prior if candidate.score >= 0 else candidate.score / prior
                for candidate, prior in zip(pool, priors, strict=True)
            ]
        )
        scored = [
            candidate.with_signals(score, SCORED_BY, {SIGNAL: prior})
            for candidate, score, prior in zip(pool, scores, priors, strict=True)
        ]
        return Refined(by_score(view, scored))

    def priors(self, view: View, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """One factor per memory, between band^−½ and band^½, rounded to 1e-9."""
        signals = np.empty((len(SIGNALS), len(ordinals)))
        signals[0] = self._recency(view, ordinals)
        signals[1], signals[2] = view.column("salience", ordinals), view.column("confidence", ordinals)
        signals[3] = 1 - 1 / (1 + np.log1p(view.column("access_count", ordinals).astype(np.float64)))
        signals[4] = 1.0 - view.column("asks", ordinals).astype(np.float64)
        signals[5] = np.log1p(view.column("words", ordinals).astype(np.float64)) / _LONG
        signals.clip(0, 1, out=signals)
        signals -= 0.5
        power = np.zeros(len(ordinals))
        # One after the other, in this order: the last bit of a sum depends on it.
        for name, signal in zip(SIGNALS, signals, strict=True):
            power += self.weights.get(name, 0.0) * signal
        priors: NDArray[np.float64] = np.power(self.band, power)
        return priors.round(9)

    def _recency(self, view: View, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        used = view.column("last_access", ordinals)
        known = (used != BEGINNING) & (used <= view.as_of)
        since = np.where(known, used.astype(np.float64), first_recorded(view, ordinals))
        days = np.floor(np.maximum(0.0, (float(view.as_of) - since) / _MICROS_PER_DAY))
        left: NDArray[np.float64] = np.power(0.5, days / self.half_life_days)
        return left
