"""Refiners that cut candidates out of the pool."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining import mlp, rerankers
from simonides.recall.refining.boosts import REPEAT_BOOSTS_SIGNAL
from simonides.recall.refining.pool import by_score, split

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


SIGNAL = "noise"

_FROM_0_TO_1 = frozenset(
    {rerankers.CROSS_ENCODER_SCORED_BY, mlp.SCORED_BY, rerankers.SYNTHETIC_SCORES_SCORED_BY}
)


@dataclass(frozen=True, slots=True)
class NoiseThreshold:
    """A little chance in the order, and a floor for what a cross-encoder finds wanting (EN-09).

    score(m) = score(m) + ε, ε drawn from a normal distribution with mean 0 and deviation *sigma*

    Noise is for scores in [0, 1] alone: a cross-encoder's, a learned model's or those by rank; on reciprocal
    ranks it would decide everything. It does not clamp, so ties stay broken. The generator is the recall's
    own: the same query, clock and seed give the same order. Then what a cross-encoder scored below *least*
    leaves the pool, counted in the trace; where none has scored, nothing does. Where a learned model scored
    after it, the cross-encoder's score with its boosts is what is tested.
    Source: Anderson and Lebiere, The Atomic Components of Thought (1998), for noise in recall.
    Weakness: a floor means what the model's scores mean; for another reranker it is another floor.

    Attributes:
        sigma: deviation of the noise, from 0; 0 draws nothing.
        least: score below which a candidate leaves, 0 to 1; 0 lets all stay.
    """

    sigma: float
    least: float

    def __post_init__(self) -> None:
        if not 0 <= self.sigma < math.inf:
            raise InputError("sigma", f"{self.sigma} is not a number from 0; 0.02 is usual")
        if not 0 <= self.least <= 1:
            raise InputError("least", f"{self.least} is not between 0 and 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool in the order of the noisy scores, without what is below the floor."""
        head, tail = split(pool)
        if not head or any(candidate.scored_by not in _FROM_0_TO_1 for candidate in head):
            return Refined(pool)
        if self.sigma > 0.0:
            head = by_score(view, [_noisy(each, tools.random.gauss(0.0, self.sigma)) for each in head])
        below = {
            candidate.ordinal: f"scored {tested:.3f}, below the least of {self.least:g}"
            for candidate in head
            if (tested := _tested(candidate)) is not None and tested < self.least and self.least > 0.0
        }
        kept = tuple(candidate for candidate in head if candidate.ordinal not in below)
        reason = f"{len(below)} of {len(head)} scored below {self.least:g} and were left out" if below else ""
        return Refined(kept + tail, reason, below)


def _noisy(candidate: Candidate, noise: float) -> Candidate:
    return candidate.rescored(
        round(candidate.score + noise, 9), candidate.scored_by, **{SIGNAL: round(noise, 9)}
    )


def _tested(candidate: Candidate) -> float | None:
    """The score that must reach the floor; ``None`` where no cross-encoder scored."""
    scored = candidate.signals.get(rerankers.CROSS_ENCODER_SIGNAL)
    if scored is None or candidate.scored_by == rerankers.CROSS_ENCODER_SCORED_BY:
        return None if scored is None else candidate.score
    return scored * candidate.signals.get(REPEAT_BOOSTS_SIGNAL, 1.0)


@dataclass(frozen=True, slots=True)
class Considered:
    """Cuts the pool to what the search budget lets a packer consider: *per_depth* × its depth.

    Rule HI-12. Without a depth (no understander settled one) nothing is cut.
    Cost: nothing. Weakness: under a small budget a large token budget is not filled.

    Attributes:
        per_depth: candidates per unit of the query's depth, from 1.
    """

    per_depth: int

    def __post_init__(self) -> None:
        if self.per_depth < 1:
            raise InputError("per_depth", f"{self.per_depth} is below 1; 2 is usual")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The best candidates, in their order."""
        if query.depth is None:
            return Refined(pool)
        most = self.per_depth * query.depth
        dropped = {
            candidate.ordinal: f"was at place {place}, and only {most} are considered at this budget"
            for place, candidate in enumerate(pool[most:], start=most + 1)
        }
        return Refined(pool[:most], dropped=dropped)
