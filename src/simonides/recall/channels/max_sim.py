"""Ranks all eligible memories word by word: late interaction without a first stage.

score(m) = mean over the query's tokens of the nearest of m's tokens, about in [-1, 1] (``index.token_codes``)

Where a first stage finds too little (paraphrase in short turns) this one misses nothing that has codes. It
reads every code: about 27 ms per 1,000 memories on one core, so above ``most`` eligible memories it passes
and says so; there the refiner ``late_interaction`` reads the head of the pool.
Source: Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search (2020).
Weakness: its cost grows with the bank; it reads only the first ``MOST_TOKENS`` tokens of a memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.token_codes import max_similarities
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query

_AT_ONCE = 512  # memories unpacked together: about 30 MB of float32


@dataclass(frozen=True, slots=True)
class MaxSim:
    """Channel.

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
