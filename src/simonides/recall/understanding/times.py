"""Understanders of times in the query."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.hygiene import shown
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision, local_time
from simonides.text.dates import spell_days
from simonides.text.times.expressions import find_times

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """A time told by an event: "before Odalys joined Norrhav", "since the flood", "during the strike".

    Fills ``query.time`` from the memory that tells the event, when no other expression gave one (HI-02):

        before, until    everything up to the event's start
        after            everything from the event's end
        since            everything from the event's start
        during           the event's own time

    The event is the first dated memory, by BM25 over the texts of visible rows, that holds at least
    *least_share* of the phrase's terms. A phrase that no such memory tells leaves the query without a time
    and says so.
    Cost: one lexical search of a few terms. Weakness: it takes the words' best match for the event, also when
    the bank knows the event by other words or not at all.

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


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The time that the query's words speak of: "in 2023", "last spring", "from March to May".

    Fills ``query.time``. Relative words count from the question's date, else from the viewpoint, in the
    caller's zone. Of several expressions the narrowest is taken, the first of equal ones: "on 3 May of that
    year, 2023" is about a day. A time found in words raises what happened then and excludes nothing; only an
    explicit window of the call excludes.
    Cost: linear in the query, under 1 ms for a sentence (``text.times``).
    Weakness: a question that compares two times ("2022 or 2023?") keeps only one of them.

    Attributes:
        southern: seasons of the southern hemisphere.
    """

    southern: bool = False

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with the time it speaks of, unless it has one already or names none."""
        if query.time is not None:
            return query
        asked_at = query.as_of if query.question_date is None else query.question_date
        anchor = local_time(asked_at, tools.zone)
        if anchor is None:
            return replace(query, notes=(*query.notes, "the viewpoint is no moment to count a time from"))
        found = find_times(query.text, anchor=anchor, zone=tools.zone, southern=self.southern)
        return replace(query, time=narrowest([mention.interval for mention in found]))


def narrowest(intervals: Sequence[Interval]) -> Interval | None:
    """The shortest interval, the first of equal ones; one that is open to a side is longer than any other."""
    return min(intervals, key=lambda interval: interval.end - interval.start, default=None)


@dataclass(frozen=True, slots=True)
class TemporalExpansion:
    """The days that a question means ("2 weeks ago", "last Friday"), added to its words (JB-13).

    Fills ``query.spelled`` with the question and each day it means, written 2026/04/04 and 2026-04-04,
    counted from the question's date in the caller's zone. Without a question's date, or days, it stays empty:
    no clock is read. Cost: linear in the query. Weakness: English only, and days only; ``time_window``
    understands far more.
    """

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its days spelled out, if it means any."""
        asked_at = None if query.question_date is None else local_time(query.question_date, tools.zone)
        if asked_at is None:
            return query
        spelled = spell_days(query.text, asked_at.date())
        return replace(query, spelled=spelled.searched) if spelled.days else query
