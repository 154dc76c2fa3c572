"""Joins rankings by taking one memory from each in turn: the firsts of all channels, then the seconds.

score(m) = 1 / place(m), place from 1; the channels take turns in the order of the profile

What was taken already is passed over, and that channel takes its next. Needs neither scores nor weights, and
every channel is heard among the first few, however many agree on something else.
Cost: linear in the hits. Source: Radlinski, Kurup and Joachims (2008), balanced interleaving.
Weakness: a memory that all channels find gains nothing by it, and a poor channel's first is never far down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.recall.fusion.gathering import candidates, gather

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.ranking import Ranking

SCORED_BY = "interleave"


@dataclass(frozen=True, slots=True)
class Interleave:
    """Fuser."""

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:  # noqa: ARG002 - the protocol's shape
        """One candidate per memory that any channel found, best first, with its rank and score in each."""
        scored = ((ordinal, round(1 / place, 9)) for place, ordinal in enumerate(_in_turn(rankings), start=1))
        return candidates(scored, SCORED_BY, gather(rankings))


def _in_turn(rankings: Mapping[str, Ranking]) -> list[int]:
    left = [iter(ranking.ordinals.tolist()) for ranking in rankings.values()]
    taken: dict[int, None] = {}
    while left:
        still = []
        for hits in left:
            ordinal = next((hit for hit in hits if hit not in taken), None)
            if ordinal is not None:
                taken[ordinal] = None
                still.append(hits)
        left = still
    return list(taken)
