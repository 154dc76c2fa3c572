"""A date in English words, as people write it in notes and questions: ``8 May 2023``, ``May 2023``, ``2023``.

Words say no more than is known: a year is a year (DF-07). Hours and minutes are left out; few look for them.
Days are UTC's, but a day, month or year is read inside its interval: it begins at midnight of the zone that
it was told in, perhaps the day before in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.records.interval import FIRST_INSTANT, FOREVER, LAST_INSTANT, Precision, from_micros

if TYPE_CHECKING:
    from datetime import datetime

    from simonides.records.interval import Interval

# Not strftime: its month names follow the locale of the process.
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_HALF_A_DAY = 43_200_000_000


def spell_date(when: Interval) -> str:
    """The words for an interval, by its precision; of a span of days its first and last.

    Returns:
        such as ``8 May 2023``; empty for an open start and where no calendar reaches.
    """
    if when.precision in {Precision.INSTANT, Precision.HOUR}:
        return _day(_moment(when.start))
    length = _HALF_A_DAY * 2 if when.end == FOREVER else when.end - when.start
    middle = _moment(when.start + length // 2)
    if when.precision is Precision.YEAR:
        return str(middle.year) if middle else ""
    if when.precision is Precision.MONTH:
        return f"{MONTHS[middle.month - 1]} {middle.year}" if middle else ""
    inside = min(_HALF_A_DAY, length // 2)
    first = _day(_moment(when.start + inside))
    last = "" if when.end == FOREVER else _day(_moment(when.end - inside))
    return f"{first} to {last}" if first and last and first != last else first


def _day(moment: datetime | None) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}" if moment else ""


def _moment(micros: int) -> datetime | None:
    return from_micros(micros) if FIRST_INSTANT <= micros <= LAST_INSTANT else None
