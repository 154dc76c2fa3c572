"""Raises what is said by the one whom the query names.

score(m) = score(m) + weight   if the query names m's speaker and nobody else who speaks in the pool

"What did Ines plant?" is answered by Ines, and by her friend only in passing; both share all words with
the question. Who speaks is what ``retain`` was told, else the label in front of the text ("Ines: …"). Where
the query names several of those who speak, or none, nothing changes.
Cost: one column of the pool. Weakness: a speaker is known by the whole name that was given: "Ines" in a query
does not mean the speaker "Ines Moreau".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score
from simonides.text.speech import name_keys

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = SIGNAL = "asked_speaker"


@dataclass(frozen=True, slots=True)
class AskedSpeaker:
    """Refiner.

    Attributes:
        weight: added to the score of what the asked one says, above 0.
    """

    weight: float

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise InputError("weight", f"{self.weight} is not a number above 0; to drop it, leave it out")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by its new scores; what is raised carries *weight* as ``asked_speaker``."""
        if not pool:
            return Refined(pool)
        speakers = view.column(
            "speaker", np.array([candidate.ordinal for candidate in pool], np.int64)
        ).tolist()
        asked = name_keys(query.text) & set(speakers)
        if len(asked) != 1:
            return Refined(pool)
        (one,) = asked
        scored = [
            candidate.rescored(round(candidate.score + self.weight, 9), SCORED_BY, **{SIGNAL: self.weight})
            if speaker == one
            else candidate.rescored(candidate.score, SCORED_BY)
            for candidate, speaker in zip(pool, speakers, strict=True)
        ]
        return Refined(by_score(view, scored))
