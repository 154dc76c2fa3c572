"""Chooses candidates one by one, each as relevant as possible and as unlike those chosen before.

next = argmax over m not yet chosen of
       relevance_weight · score(m) − (1 − relevance_weight) · max over chosen c of cos(m, c)

The score is the pool's own, on a scale of 0 to 1 such as the blend's; the cosine is between the memories'
vectors, 0 where one has none; for the first choice the maximum is 0. With relevance_weight = 1 the order of
the pool stays as it is. Equal values go to the better placed.
Cost: the pool's vectors with one another once, then most × pool sums: under 1 ms for 160 candidates and 50
choices.
Source: Carbonell and Goldstein, The Use of MMR (1998).
Weakness: on fused scores, which are far below 0.1, the cosines decide alone; scale the scores first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.products import products_of
from simonides.protocols import Refined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SIGNAL = "marginal_relevance"


@dataclass(frozen=True, slots=True)
class MarginalRelevance:
    """Refiner.

    Attributes:
        relevance_weight: 1 = relevance only, 0 = after the first choice only unlikeness counts.
        most: candidates chosen at most, from 1; the others leave the pool.
    """

    relevance_weight: float
    most: int

    def __post_init__(self) -> None:
        if not 0 <= self.relevance_weight <= 1:
            raise InputError("relevance_weight", f"{self.relevance_weight} is not between 0 and 1")
        if self.most < 1:
            raise InputError("most", f"{self.most} is below 1; give how many candidates are chosen")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The chosen ones in the order of choice; scores stay, and each carries what it was chosen by."""
        if not pool:
            return Refined(pool)
        ordinals = [candidate.ordinal for candidate in pool]
        vectors = view.vectors(np.array(ordinals, np.int64))
        scores = np.array([candidate.score for candidate in pool])
        chosen, values = choose(scores, cosine_table(vectors), self.relevance_weight, self.most)
        kept = tuple(
            pool[place].with_signals(pool[place].score, pool[place].scored_by, {SIGNAL: value})
            for place, value in zip(chosen, values, strict=True)
        )
        remedy = f"{len(chosen)} of {len(pool)} were chosen, the last at {values[-1]:.6f}"
        left = set(ordinals).difference([ordinals[place] for place in chosen])
        return Refined(kept, dropped=dict.fromkeys(sorted(left), f"was not chosen: {remedy}"))


def cosine_table(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosine of each row with each, float64, shape (n, n), rounded to 1e-9; 0 beside a zero row."""
    # In place where it can be: new pages for so large arrays cost more than what is reckoned in them.
    table: NDArray[np.float64] = products_of(vectors.astype(np.float64))
    lengths = np.sqrt(table.diagonal())
    lengths[lengths == 0.0] = 1.0
    table /= lengths
    table /= lengths[:, np.newaxis]
    return table.round(9, out=table)


def choose(
    scores: NDArray[np.float64], cosines: NDArray[np.float64], relevance_weight: float, most: int
) -> tuple[list[int], list[float]]:
    """Places in the order of choice, and the value of each when it was chosen, rounded to 1e-9.

    Args:
        scores: float64, shape (n,).
        cosines: float64, shape (n, n).
        relevance_weight: 0 to 1.
        most: how many are chosen at most.
    """
    # Each candidate's value beside each that may be chosen before it. Rounding keeps the order of numbers, so
    # the least of rounded values is what the greatest cosine gives.
    values = np.multiply(cosines, 1 - relevance_weight)
    np.subtract(relevance_weight * scores, values, out=values)
    values.round(9, out=values)
    marginal = (relevance_weight * scores).round(9)
    chosen: list[int] = []
    given: list[float] = []
    for _ in range(min(most, len(scores))):
        # The first of equal ones: the pool is in a total order.
        place = int(marginal.argmax())
        given.append(float(marginal[place]))
        if chosen:
            np.minimum(marginal, values[place], out=marginal)
        else:
            marginal = values[place].copy()
        chosen.append(place)
        marginal[place] = -np.inf
    return chosen, given
