"""Scores a pool by a weighted sum of five signals, with weights per kind of memory.

score(m) = Σ over signals s of weight[kind(m)][s] · s(m), each s in [0, 1]

    sim         max(min-max cosine, min-max fused score); the cosine is computed for every member of the pool
    recency     min-max of decay_per_hour ** whole hours since the last access (HX-09)
    salience    min-max of the salience set when the memory was stored
    confidence  min-max of the confidence set when the memory was stored
    graphprox   min-max of the signal that a graph stage left, 0 where it left none

Min-max is over the pool, and a constant column counts as 0: what does not tell candidates apart says nothing.
The last access is the last one at or before the viewpoint; a memory without one counts from its first
recording. Hours are whole, so that memories of one import are equally recent and not ordered by milliseconds.
Cost: one exact cosine per member, under 1 ms for 160. Weakness: a weight means a share of the pool's own
spread, so one outlier squeezes all others together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.boosting import first_recorded
from simonides.recall.refining.order import by_score
from simonides.recall.refining.scaling import min_max
from simonides.recall.rounding import rounded_sums
from simonides.records.candidate import FUSED
from simonides.records.interval import BEGINNING
from simonides.records.kind import RECALLED, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = "blend"
SIGNALS = ("sim", "recency", "salience", "confidence", "graphprox")
GRAPH = "graph_proximity"
"""The signal that a graph stage left."""

_MICROS_PER_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Blend:
    """Refiner.

    Attributes:
        weights: per kind of ``RECALLED`` and per signal of ``SIGNALS`` a weight from 0; all are stated.
        decay_per_hour: what is left of recency after each hour, above 0 and at most 1.
    """

    weights: Mapping[str, Mapping[str, float]]
    decay_per_hour: float

    def __post_init__(self) -> None:
        if not 0 < self.decay_per_hour <= 1:
            raise InputError(
                "decay_per_hour", f"{self.decay_per_hour} is not above 0 and at most 1; 0.995 is usual"
            )
        _check_names("weights", self.weights, [kind.value for kind in RECALLED])
        for kind, weights in self.weights.items():
            _check_names(f"weights.{kind}", weights, SIGNALS)
            for signal, weight in weights.items():
                if not 0 <= weight < math.inf:
                    raise InputError(f"weights.{kind}.{signal}", f"{weight} is not a number from 0")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by blended score; each candidate carries the five scaled signals."""
        if not pool:
            return Refined(pool)
        ordinals = np.array([candidate.ordinal for candidate in pool], np.int64)
        signals = self._signals(view, query, pool, ordinals)
        # What is in quarantine and asked for counts as a plain fact.
        rows = [self.weights.get(kind, self.weights[Kind.SEMANTIC]) for kind in Kind]
        table = np.array([[row[signal] for signal in SIGNALS] for row in rows])
        scores = rounded_sums(table[view.column("kind", ordinals)] * signals.T)
        scored = [
            candidate.with_signals(
                score,
                SCORED_BY,
                # Written out: a third of the time of a dictionary made of two lists.
                {"sim": sim, "recency": used, "salience": salience, "confidence": sure, "graphprox": near},
            )
            for candidate, score, sim, used, salience, sure, near in zip(
                pool, scores, *signals.tolist(), strict=True
            )
        ]
        return Refined(by_score(view, scored))

    def _signals(
        self, view: View, query: Query, pool: tuple[Candidate, ...], ordinals: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Each of ``SIGNALS``, in that order, shape (len(SIGNALS), len(pool))."""
        columns = np.zeros((len(SIGNALS) + 1, len(pool)))
        if query.vector is not None:
            columns[0] = view.cosines(query.vector, ordinals)
        columns[1] = recency(view, ordinals, self.decay_per_hour)
        columns[2], columns[3] = view.column("salience", ordinals), view.column("confidence", ordinals)
        # float32 columns are rounded to what was stored: 0.1 is not 0.10000000149.
        columns[2:4].round(6, out=columns[2:4])
        columns[4] = [candidate.signals.get(GRAPH, 0.0) for candidate in pool]
        columns[5] = [candidate.signals.get(FUSED, 0.0) for candidate in pool]
        scaled = min_max(columns)
        np.maximum(scaled[0], scaled[5], out=scaled[0])
        return scaled[:5]


def recency(view: View, ordinals: NDArray[np.int64], decay_per_hour: float) -> NDArray[np.float64]:
    """``decay_per_hour`` to the power of the whole hours since each memory was last used, in [0, 1].

    What lies after the viewpoint counts as now.
    """
    used = view.column("last_access", ordinals)
    known = (used != BEGINNING) & (used <= view.as_of)
    since = np.where(known, used.astype(np.float64), first_recorded(view, ordinals))
    # In float64: the difference of two far moments would overflow int64.
    hours = np.floor(np.maximum(0.0, (float(view.as_of) - since) / _MICROS_PER_HOUR))
    decayed: NDArray[np.float64] = np.power(decay_per_hour, hours)
    return decayed


def _check_names(field: str, given: Mapping[str, object], wanted: list[str] | tuple[str, ...]) -> None:
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    if missing or unknown:
        problem = f"lacks {', '.join(missing)}" if missing else f"knows no {', '.join(map(repr, unknown))}"
        raise InputError(field, f"{problem}; give a number or table for each of {', '.join(wanted)}")
