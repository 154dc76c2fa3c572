"""Reciprocal rank with weights that depend on what the question asks for (EN-02, EN-03).

score(m) = Σ over channels c that found m of weight[intent][c] / (k + rank_c(m)),  rank counted from 1

All else is as in ``reciprocal_rank``. A query whose intent was never looked for counts as a "what".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.recall.fusion.reciprocal_rank import ReciprocalRank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.ranking import Ranking

INTENTS = ("why", "when", "who", "how", "what")
_OTHERWISE = "what"


@dataclass(frozen=True, slots=True)
class IntentReciprocalRank:
    """Fuser.

    Attributes:
        k: how little the top ranks stand out, from 0.
        intents: per intent (every one of ``INTENTS``) and channel name a weight above 0; a channel that is
            not named has weight 1.
    """

    k: float
    intents: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        if set(self.intents) != set(INTENTS):
            raise InputError("intents", f"needs a table for each of {', '.join(INTENTS)}, and no other")
        for intent, weights in self.intents.items():
            try:
                ReciprocalRank(self.k, weights)
            except InputError as error:
                field = error.field.replace("weights", f"intents.{intent}")
                raise InputError(field, error.problem) from None

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]:
        """One candidate per memory that any channel found, best first."""
        weights = self.intents[query.intent or _OTHERWISE]
        return ReciprocalRank(self.k, weights).fuse(view, query, rankings)
