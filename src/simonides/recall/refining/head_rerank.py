"""Rescores the head of the pool unless that would change nothing worth the wait (JB-08, JB-09).

The first *depth* candidates are read by the reranker and put in its order; the rest follows unchanged. It is
left out, with one of these reasons in the trace:

    empty_candidates   there is nothing to read
    mode_off           who asks for bm25 or semantic gets no reranker
    no_reranker        there is none
    unanimity          lexical and dense agree, place by place, on *agree* of their first *window*

Cost: that of ``cross_encoder``, or nothing. Weakness: two channels can agree and both be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.cross_encoder import CrossEncoder
from simonides.recall.refining.unanimity import agreements

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class HeadRerank:
    """Refiner.

    Attributes:
        depth: candidates that are read, best first, from 1.
        channels: names of the two channels that may agree.
        window: places that are compared, from 1.
        agree: equal places from which on the reranker is left out, from 1 to *window*.
        designed_for: name of the reranker that the profile was made with; another one is named in the trace.
    """

    depth: int
    channels: tuple[str, ...]
    window: int
    agree: int
    designed_for: str = ""

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many candidates are read")
        if len(set(self.channels)) != 2:
            raise InputError("channels", f"{list(self.channels)} does not name two channels")
        if self.window < 1:
            raise InputError("window", f"{self.window} is below 1; 3 is usual")
        if not 1 <= self.agree <= self.window:
            raise InputError("agree", f"{self.agree} is not between 1 and the window of {self.window}")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The head by the reranker's scores, then the tail; or the pool as it is, and why."""
        reason = self._reason(query, pool, tools)
        if reason:
            return Refined(pool, reason)
        return CrossEncoder(self.depth, self.designed_for).refine(view, query, pool, tools)

    def _reason(self, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> str:
        if not pool:
            return "empty_candidates"
        if query.skip_rerank:
            return query.skip_rerank
        if tools.reranker is None:
            return "no_reranker"
        one, other = self.channels
        return "unanimity" if agreements(pool, one, other, self.window) >= self.agree else ""
