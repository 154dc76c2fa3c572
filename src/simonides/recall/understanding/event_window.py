"""A time told by an event: "before Odalys joined Norrhav", "since the flood", "during the strike".

Fills ``query.time`` from the memory that tells the event, when no other expression gave one (HI-02):

    before, until    everything up to the event's start
    after            everything from the event's end
    since            everything from the event's start
    during           the event's own time

The event is the first dated memory, by BM25 over the texts of visible rows, that holds at least *least_share*
of the phrase's terms. A phrase that no such memory tells leaves the query without a time and says so.
Cost: one lexical search of a few terms. Weakness: it takes the words' best match for the event, also when the
bank knows the event by other words or not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.hygiene import shown
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query

_PHRASE = re.compile(
    r"\b(?P<side>before|until|till|after|since|during)\s+"
    r"(?!(?:all|it|now|that|then|these|this|those)\b)"
    r"(?:(?:the|an?|my|your|his|her|its|our|their)\s+)?(?P<event>[^,;?!]{3,200})",
    re.IGNORECASE,
)
_MOST_TERMS = 16


@dataclass(frozen=True, slots=True)
class EventWindow:
    """Understander.

    Attributes:
        k1, b: of BM25, as in the lexical channel.
        candidates: memories that are read at most to find the event, from 1.
        least_share: of the phrase's different terms that the memory must hold, above 0, at most 1.
    """

    k1: float
    b: float
    candidates: int
    least_share: float

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError("candidates", f"{self.candidates} is below 1; give how many memories are read")
        if not 0 < self.least_share <= 1:
            raise InputError("least_share", f"{self.least_share} is not above 0 and at most 1")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        """The query with the time of the event it speaks of, if it speaks of one and has no time yet."""
        spoken = _PHRASE.search(query.text)
        if query.time is not None or spoken is None:
            return query
        event = spoken["event"].strip().rstrip(".")
        occurred = self._occurred(view, event, tools)
        if occurred is None:
            note = f"no dated memory tells of {shown(event)}, so the query has no time"
            return replace(query, notes=(*query.notes, note))
        return replace(query, time=beside(spoken["side"].lower(), occurred))

    def _occurred(self, view: View, event: str, tools: Tools) -> Interval | None:
        terms = tuple(dict.fromkeys(tools.analyser.query_terms(event)))[:_MOST_TERMS]
        if not terms:
            return None
        ordinals, scores = view.snapshot.postings.bm25(
            [(term, 1) for term in terms],
            view.visible,
            view.visible,
            field_weights={"text": 1.0},
            k1=self.k1,
            b=self.b,
        )
        dated = view.column("occurred_from", ordinals) < FOREVER
        nearest = view.ranking(ordinals[dated], scores[dated], self.candidates)
        for memory in view.memories(nearest.ordinals.tolist()):
            share = len({*terms} & {*tools.analyser.terms(memory.text)}) / len(terms)
            if share >= self.least_share:
                return memory.occurred
        return None


def beside(side: str, event: Interval) -> Interval:
    """The time that lies on that side of an event."""
    if side == "during":
        return event
    if side == "after":
        return Interval(event.end, FOREVER, Precision.RANGE)
    if side == "since":
        return Interval(event.start, FOREVER, Precision.RANGE)
    return Interval(BEGINNING, event.start, Precision.RANGE)
