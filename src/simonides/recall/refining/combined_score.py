"""Multiplies relevance by three small boosts: how recent, how near the asked time, how well proved.

final = score × recency boost × temporal boost × proof boost,  each boost = 1 + alpha · (signal − 0.5)

    recency   clamp(1 − days / recency_days, recency_floor, 1); the future is 1, an undated memory 0.5
    temporal  1 − min(days from the centre / half the length of the asked time, 1); 0.5 without an asked time
    proof     observations only: clamp(0.5 + ln(proofs) / proof_scale, 0, 1); anything else 0.5

A signal of 0.5 changes nothing. Multiplied, not added: a boost stays in proportion to the relevance, so a
barely relevant memory never passes a relevant one by being new. The age counts from the start of when it
happened; where that is not known from when it became valid, if that was stated; else from when it ended. What
was merely written down then is undated. For the asked time the middle of when it happened counts.
Cost: four columns of the pool. Weakness: "recent" is the same for a birthday and for a lunch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.occurred import NEUTRAL, proximity
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score, split
from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.kind import KIND_CODES, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = "combined_score"
_DAY_MICROS = 86_400_000_000


@dataclass(frozen=True, slots=True)
class CombinedScore:
    """Refiner.

    Attributes:
        recency_alpha, temporal_alpha, proof_alpha: how far each boost swings, 0 to 2.
        recency_days: age in days at which recency would be 0, above 0.
        recency_floor: the least recency, 0 to 1.
        proof_scale: ln(proofs) that would raise the proof signal by 1, above 0.
    """

    recency_alpha: float
    temporal_alpha: float
    proof_alpha: float
    recency_days: float
    recency_floor: float
    proof_scale: float

    def __post_init__(self) -> None:
        for name in ("recency_alpha", "temporal_alpha", "proof_alpha"):
            # Above 2 a boost could turn negative, and the order with it.
            if not 0 <= getattr(self, name) <= 2:
                raise InputError(name, f"{getattr(self, name)} is not between 0 and 2")
        for name in ("recency_days", "proof_scale"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(name, f"{getattr(self, name)} is not a number above 0")
        if not 0 <= self.recency_floor <= 1:
            raise InputError("recency_floor", f"{self.recency_floor} is not between 0 and 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by combined score; each candidate carries its signals and boosts."""
        head, tail = split(pool)
        rows = np.array([candidate.ordinal for candidate in head], np.int64)
        first, last = view.column("occurred_from", rows), view.column("occurred_to", rows)
        signals = {
            "recency": self._recency(_moments(view, rows, first, last), query.as_of),
            "temporal": proximity(first, last, query.time),
            "proof": self._proof(view.column("kind", rows), view.column("proof_count", rows)),
        }
        alphas = {"recency": self.recency_alpha, "temporal": self.temporal_alpha, "proof": self.proof_alpha}
        scored = []
        for place, candidate in enumerate(head):
            named = {name: float(values[place]) for name, values in signals.items()}
            boosts = {name: 1 + alphas[name] * (signal - NEUTRAL) for name, signal in named.items()}
            scored.append(
                candidate.rescored(
                    round(candidate.score * math.prod(boosts.values()), 9),
                    SCORED_BY,
                    **named,
                    **{f"{name}_boost": round(boost, 9) for name, boost in boosts.items()},
                )
            )
        return Refined(by_score(view, scored) + tail)

    def _recency(self, moments: NDArray[np.float64], as_of: int) -> NDArray[np.float64]:
        days = (float(as_of) - moments) / _DAY_MICROS
        left = np.clip(1 - days / self.recency_days, self.recency_floor, 1.0)
        signal: NDArray[np.float64] = np.where(np.isnan(moments), NEUTRAL, left).round(9)
        return signal

    def _proof(self, kinds: NDArray[np.uint8], proofs: NDArray[np.int32]) -> NDArray[np.float64]:
        counted = (kinds == KIND_CODES[Kind.OBSERVATION]) & (proofs >= 1)
        raised = np.clip(NEUTRAL + np.log(np.maximum(proofs, 1)) / self.proof_scale, 0.0, 1.0)
        signal: NDArray[np.float64] = np.where(counted, raised, NEUTRAL).round(9)
        return signal


def _moments(
    view: View, rows: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.float64]:
    """When each memory was: start of when it happened, else when it was told to hold from, else its end.

    Microseconds as float64; NaN where undated.
    """
    dated = first <= last
    starts = np.where(dated & (first != BEGINNING), first.astype(np.float64), np.nan)
    ends = np.where(dated & (last != FOREVER), last.astype(np.float64), np.nan)
    valid = view.column("valid_from", rows)
    # By default a memory holds from when it was first written, which says nothing of when it happened.
    written = view.column("ingested_at", view.column("root", rows).astype(np.int64))
    stated = np.where((valid != written) & (valid != BEGINNING), valid.astype(np.float64), np.nan)
    moments: NDArray[np.float64] = np.where(np.isnan(starts), stated, starts)
    return np.where(np.isnan(moments), ends, moments)
