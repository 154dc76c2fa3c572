"""The time that the query's words speak of: "in 2023", "last spring", "from March to May", "since Monday".

Fills ``query.time``. Relative words count from the question's date, else from the viewpoint, in the caller's
zone. Of several expressions the narrowest is taken, the first of equal ones: "on 3 May of that year, 2023" is
about a day. A time found in words raises what happened then and excludes nothing; only an explicit window of
the call excludes.
Cost: linear in the query, under 1 ms for a sentence (``text.times``).
Weakness: a question that compares two times ("2022 or 2023?") keeps only one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.interval import local_time
from simonides.text.times.expressions import find_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.protocols import Tools, View
    from simonides.records.interval import Interval
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Understander.

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
