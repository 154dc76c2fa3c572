"""Ranks by cosine to what the query brings to mind, not to the query itself (EN-10).

ξ₀ = q,  ξₖ₊₁ = normalise(Xᵀ softmax(β · X ξₖ)),  score(m) = cos(ξ_steps, m)

X holds the vectors of the ``neighbours`` visible memories nearest to the query: the bounded part of the
memory from which the cue is completed. One step pulls the cue towards the mean of what is alike, weighted
steeply by β; further steps settle it in one pattern. So a memory that is like the query's neighbours may pass
one that is a little nearer to the query alone: it is no monotone transform of the cosine.
Cost: two scans (see the dense channel) and steps · neighbours · dimension multiplications.
Source: Ramsauer et al., Hopfield Networks is All You Need (2021), update rule with β.
Weakness: a query about something that is rare in the bank is pulled to what is frequent beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

MOST_STEPS = 3


@dataclass(frozen=True, slots=True)
class Hopfield:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        rescore: rows that survive each 1-bit scan, from 1.
        steps: of completion, 1 to 3.
        beta: how steeply likeness weighs, above 0.
        neighbours: memories that complete the cue, from 1.
    """

    depth: int
    rescore: int
    steps: int
    beta: float
    neighbours: int

    def __post_init__(self) -> None:
        for name, value in (
            ("depth", self.depth),
            ("rescore", self.rescore),
            ("neighbours", self.neighbours),
        ):
            if value < 1:
                raise InputError(name, f"{value} is below 1; give how many rows are wanted")
        if not 1 <= self.steps <= MOST_STEPS:
            raise InputError("steps", f"{self.steps} is not 1 to {MOST_STEPS}")
        if not 0 < self.beta < math.inf:
            raise InputError("beta", f"{self.beta} is not a number above 0; 8 is usual")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """The eligible memories nearest to the completed cue; empty, with the reason, without vectors."""
        vectors = view.snapshot.vectors
        if query.vector is None:
            return Ranking.empty("the query has no vector")
        if vectors.dimension == 0:
            return Ranking.empty("the bank holds no vectors" if view.eligible.any() else "")
        if vectors.dimension != len(query.vector):
            return Ranking.empty(
                f"the query has {len(query.vector)} dimensions, the bank {vectors.dimension}"
            )
        found = vectors.nearest(query.vector, view.visible, depth=self.neighbours, rescore=self.rescore)
        patterns = view.vectors(view.ranking(*found, self.neighbours).ordinals)
        if not len(patterns):
            return Ranking.empty()
        cue = complete(query.vector, patterns, steps=self.steps, beta=self.beta)
        ordinals, cosines = vectors.nearest(cue, view.eligible, depth=self.depth, rescore=self.rescore)
        return view.ranking(ordinals, cosines, self.depth)


def complete(
    cue: NDArray[np.float32], patterns: NDArray[np.float32], *, steps: int, beta: float
) -> NDArray[np.float32]:
    """The cue after *steps* of retrieval from *patterns*.

    Args:
        cue: unit vector, shape (dimension,).
        patterns: unit vectors, shape (n, dimension), n at least 1.
        steps: how often.
        beta: inverse temperature of the softmax.
    """
    stored = patterns.astype(np.float64)
    state = cue.astype(np.float64)
    for _ in range(steps):
        likeness = beta * (stored @ state)
        weights = np.exp(likeness - likeness.max())
        pulled = weights @ stored / weights.sum()
        length = float(np.linalg.norm(pulled))
        if length == 0.0:  # patterns that cancel out bring nothing to mind
            break
        state = pulled / length
    return state.astype(np.float32)
