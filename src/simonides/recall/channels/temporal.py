"""Ranks what happened in the time that the query speaks of, and what is linked to it.

in the time:   score(m) = cos(q, m); where there are no vectors to compare, nearness to the time's centre
linked to it:  score(m) = max over visited v that link to m of score(v) · weight(v, m) · link_factor

From the time's own memories, best first, the links are followed hop by hop, best first, until *depth*
memories were visited. What lies outside the time is found by links alone, never above what it hangs on.
Links may pass through memories that the caller's filters exclude; those are visited, not found. Without a
time in the query there is nothing to rank, and that is no fault.
Cost: a comparison per row of the blocks that hold the time, one vector scan of those in it, and the links of
*depth* rows: under 1 ms at 10⁵ rows.
Weakness: a memory in the time that has no vector is found by its links alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.columns import proximity
from simonides.records.candidate import Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.interval import Interval
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class Temporal:
    """Channel.

    Attributes:
        depth: memories visited at most, from 1.
        rescore: rows that survive the 1-bit scan, from 1.
        link_factor: what a link keeps of a score, beside its weight, 0 (links are not followed) to 1.
        budgeted: whether the query's depth takes the place of *depth*.
    """

    depth: int
    rescore: int
    link_factor: float
    budgeted: bool = False

    def __post_init__(self) -> None:
        for name, value in (("depth", self.depth), ("rescore", self.rescore)):
            if value < 1:
                raise InputError(name, f"{value} is below 1; give how many rows are wanted")
        if not 0 <= self.link_factor <= 1:
            raise InputError("link_factor", f"{self.link_factor} is not between 0 and 1")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """Eligible memories in the query's time, and those that links lead to from there."""
        if query.time is None:
            return Ranking.empty()
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        visited = self._in_time(view, query, query.time, depth)
        frontier = visited
        scores = dict(zip(visited.ordinals.tolist(), visited.scores.tolist(), strict=True))
        while len(frontier) and len(scores) < depth and self.link_factor:
            frontier = self._linked(view, frontier, scores, depth - len(scores))
            scores |= zip(frontier.ordinals.tolist(), frontier.scores.tolist(), strict=True)
        found = np.array(list(scores), np.int64)
        eligible = view.eligible[found]
        return view.ranking(found[eligible], np.array(list(scores.values()), np.float64)[eligible], None)

    def _in_time(self, view: View, query: Query, time: Interval, depth: int) -> Ranking:
        inside = view.in_time(time)
        vectors = view.snapshot.vectors
        if query.vector is None or vectors.dimension != len(query.vector):
            rows = np.flatnonzero(inside).astype(np.int64)
            first, last = view.column("occurred_from", rows), view.column("occurred_to", rows)
            return view.ranking(rows, proximity(first, last, time), depth)
        ordinals, cosines = vectors.nearest(query.vector, inside, depth=depth, rescore=self.rescore)
        return view.ranking(ordinals, cosines, depth)

    def _linked(self, view: View, frontier: Ranking, visited: dict[int, float], room: int) -> Ranking:
        """The best *room* rows that the frontier links to and that were not visited yet."""
        edges = view.links(frontier.ordinals)
        edges = edges.keep(~np.isin(edges.second, np.array(list(visited), np.int64)))
        # Weights are stored as float32: 0.8 is not 0.800000012.
        weights = edges.weights.astype(np.float64).round(6)
        handed = _scores_of(edges.first, frontier) * weights * self.link_factor
        # A score that is not positive says "not alike": it recommends nothing.
        ordinals, places = np.unique(edges.second[handed > 0], return_inverse=True)
        best = np.zeros(len(ordinals))
        np.maximum.at(best, places, handed[handed > 0])
        return view.ranking(ordinals, best.round(9), room)


def _scores_of(ordinals: NDArray[np.int64], ranking: Ranking) -> NDArray[np.float64]:
    """The score of each of *ordinals*, which all stand in *ranking*."""
    order = np.argsort(ranking.ordinals)
    found: NDArray[np.float64] = ranking.scores[order][np.searchsorted(ranking.ordinals[order], ordinals)]
    return found
