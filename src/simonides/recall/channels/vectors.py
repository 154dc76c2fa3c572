"""Channels that find memories by their vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.vectors import max_similarities
from simonides.records.candidate import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class Dense:
    """Ranks by cosine between the query's vector and each memory's.

    score(m) = cos(q, m), in [-1, 1], no floor: a negative cosine is still a place in the ranking.
    The snapshot scans 1-bit codes and rescores the survivors from int8, so any mask is exact and no graph
    index is needed (about 9 ms per 10⁶ rows of 384 dimensions on one core); few eligible rows are all scored.
    Weakness: names, numbers and identifiers that the model never saw are only spelling to it.

    Attributes:
        depth: hits at most, from 1.
        rescore: rows that survive the 1-bit scan, from 1; more costs time and loses less.
        budgeted: whether the query's depth takes the place of *depth*.
        overfetch, least_fetched: max(overfetch × depth, least_fetched) rows are fetched before the cut, each
            from 1; ``None`` = 1.
    """

    depth: int
    rescore: int
    budgeted: bool = False
    overfetch: int | None = None
    least_fetched: int | None = None

    def __post_init__(self) -> None:
        for name in ("depth", "rescore", "overfetch", "least_fetched"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(name, f"{value} is below 1; give how many rows are wanted")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """The nearest eligible memories; empty, with the reason, without vectors to compare."""
        if query.mode == "bm25":
            return Ranking.empty()
        if query.vector is None:
            return Ranking.empty("the query has no vector")
        vectors = view.snapshot.vectors
        if vectors.dimension == 0:
            # A bank before its first vector: nothing to compare, and nothing wrong if it is empty.
            return Ranking.empty("the bank holds no vectors" if view.eligible.any() else "")
        if vectors.dimension != len(query.vector):
            return Ranking.empty(
                f"the query has {len(query.vector)} dimensions, the bank {vectors.dimension}: "
                "open the bank with the embedder that filled it, or re-embed it"
            )
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        fetched = max((self.overfetch or 1) * depth, self.least_fetched or 1)
        ordinals, cosines = vectors.nearest(query.vector, view.eligible, depth=fetched, rescore=self.rescore)
        return view.ranking(ordinals, cosines, depth)


_AT_ONCE = 512  # memories unpacked together: about 30 MB of float32


@dataclass(frozen=True, slots=True)
class MaxSim:
    """Ranks all eligible memories word by word: late interaction without a first stage.

    score(m) = mean over the query's tokens of the nearest of m's tokens, about in [-1, 1]
    (``index.token_codes``)

    Where a first stage finds too little (paraphrase in short turns) this one misses nothing that has codes.
    It reads every code: about 27 ms per 1,000 memories on one core, so above ``most`` eligible memories it
    passes and says so; there the refiner ``late_interaction`` reads the head of the pool.
    Source: Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search (2020).
    Weakness: its cost grows with the bank; it reads only the first ``MOST_TOKENS`` tokens of a memory.

    Attributes:
        depth: hits at most, from 1.
        most: eligible memories above which nothing is searched, from 1; 100,000 takes seconds.
    """

    depth: int
    most: int

    def __post_init__(self) -> None:
        for name, value in (("depth", self.depth), ("most", self.most)):
            if value < 1:
                raise InputError(name, f"{value} is below 1; give how many memories")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """The nearest eligible memories that have codes; empty, with the reason, where it cannot search."""
        if query.mode == "bm25":
            return Ranking.empty()
        if query.token_vectors is None:
            return Ranking.empty("the query has no token vectors")
        rows = np.flatnonzero(view.eligible)
        if len(rows) > self.most:
            return Ranking.empty(f"{len(rows)} memories are more than the {self.most} that it reads at most")
        found, scores = [np.empty(0, np.int64)], [np.empty(0, np.float64)]
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            counts, codes = view.token_codes(part.tolist())
            similar = max_similarities(query.token_vectors, codes, counts)
            found.append(part[counts > 0])
            scores.append(similar[counts > 0])
        ordinals = np.concatenate(found)
        if len(rows) and not len(ordinals):
            return Ranking.empty("no memory has token codes")
        return view.ranking(ordinals, np.concatenate(scores), self.depth)


MOST_STEPS = 3


@dataclass(frozen=True, slots=True)
class Hopfield:
    """Ranks by cosine to what the query brings to mind, not to the query itself (EN-10).

    ξ₀ = q,  ξₖ₊₁ = normalise(Xᵀ softmax(β · X ξₖ)),  score(m) = cos(ξ_steps, m)

    X holds the vectors of the ``neighbours`` visible memories nearest to the query: the bounded part of the
    memory from which the cue is completed. One step pulls the cue towards the mean of what is alike, weighted
    steeply by β; further steps settle it in one pattern. So a memory that is like the query's neighbours may
    pass one that is a little nearer to the query alone: it is no monotone transform of the cosine.
    Cost: two scans (see the dense channel) and steps · neighbours · dimension multiplications.
    Source: Ramsauer et al., Hopfield Networks is All You Need (2021), update rule with β.
    Weakness: a query about something that is rare in the bank is pulled to what is frequent beside it.

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
