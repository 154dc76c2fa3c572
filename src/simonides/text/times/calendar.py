"""Calendar arithmetic on whole days, times of day, and the words of the grammar.

Everything is computed in the local calendar of a zone, and each midnight is turned into UTC on its own, so a
day has 23 or 25 hours where the clocks change. Weeks start on Monday (ISO 8601). Adding months keeps the day
of the month, or takes the last day of a shorter month: 31 January + 1 month = 28 February. What leaves the
years 1 to 9999 raises ``ValueError`` or ``OverflowError``, as ``datetime`` does; the grammar reads both as
"no time". ``3pm`` is an hour, ``15:00`` a moment, ``morning`` six hours.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from simonides.records.interval import Interval, Precision, from_micros, in_range, to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping


_DAY = timedelta(days=1)
_HOUR_MICROS = 3_600_000_000
_MONTHS_IN_YEAR = 12


class Unit(Enum):
    """A length of time that is counted."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    FORTNIGHT = "fortnight"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


EXACT = {
    Unit.SECOND: timedelta(seconds=1),
    Unit.MINUTE: timedelta(minutes=1),
    Unit.HOUR: timedelta(hours=1),
}
"""Units with one length everywhere; all others follow the calendar."""

_DAYS = {Unit.DAY: 1, Unit.WEEK: 7, Unit.FORTNIGHT: 14}
_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12, Unit.DECADE: 120}
_PRECISION = {
    Unit.MONTH: Precision.MONTH,
    Unit.QUARTER: Precision.QUARTER,
    Unit.YEAR: Precision.YEAR,
    Unit.DECADE: Precision.RANGE,
}

# Spring to winter, as whole months of the meteorological calendar.
_SEASON_STARTS = {False: (3, 6, 9, 12), True: (9, 12, 3, 6)}


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days of the local calendar, from *first* until the day before *following*."""

    first: date
    following: date
    precision: Precision


def single(day: date) -> Period:
    """One day."""
    return Period(day, day + _DAY, Precision.DAY)


def days_from(day: date, count: int, precision: Precision = Precision.RANGE) -> Period:
    """*count* days, starting with *day*."""
    return Period(day, day + count * _DAY, precision)


def months_from(year: int, month: int, count: int, precision: Precision) -> Period:
    """*count* whole months, starting with *month* (1 to 12) of *year*."""
    first = date(year, month, 1)
    return Period(first, shift(first, count, Unit.MONTH), precision)


def shift(day: date, count: int, unit: Unit) -> date:
    """*day* moved by *count* units of a day or longer; a missing day of the month becomes its last."""
    if unit in _DAYS:
        return day + count * _DAYS[unit] * _DAY
    months = day.year * _MONTHS_IN_YEAR + day.month - 1 + count * _MONTHS[unit]
    year, month = months // _MONTHS_IN_YEAR, months % _MONTHS_IN_YEAR + 1
    first = date(year, month, 1)
    return first.replace(day=min(day.day, calendar.monthrange(year, month)[1]))


def holding(day: date, unit: Unit) -> Period:
    """The calendar unit that *day* lies in; a fortnight is known to the week, a decade starts in year …0."""
    if unit is Unit.DAY:
        return single(day)
    if unit in _DAYS:
        return days_from(day - day.weekday() * _DAY, 7, Precision.WEEK)
    if unit is Unit.DECADE:
        return months_from(day.year // 10 * 10, 1, 120, Precision.RANGE)
    length = _MONTHS[unit]
    return months_from(day.year, (day.month - 1) // length * length + 1, length, _PRECISION[unit])


def weekend(day: date) -> Period:
    """Saturday and Sunday of the week that *day* lies in."""
    return days_from(day + (5 - day.weekday()) * _DAY, 2)


def season(year: int, which: int, *, southern: bool) -> Period:
    """Season 0 (spring) to 3 (winter) that starts in *year*: three whole months, winter from December."""
    return months_from(year, _SEASON_STARTS[southern][which], 3, Precision.SEASON)


def weekday_in(period: Period, weekday: int, place: int) -> date:
    """The *place*-th (from 1, or -1 for the last) day of *period* that is *weekday* (0 = Monday).

    ``ValueError``: the period has no such day.
    """
    if place < 0:
        last = period.following - _DAY
        found = last - (last.weekday() - weekday) % 7 * _DAY
    else:
        found = period.first + ((weekday - period.first.weekday()) % 7 + 7 * (place - 1)) * _DAY
    if not period.first <= found < period.following:
        raise ValueError("no such day in the period")
    return found


def third(period: Period, which: int) -> Period:
    """Early, mid or late (0, 1, 2) in *period*.

    A week is cut into Monday–Tuesday, Wednesday–Thursday and Friday–Sunday, a month at the 11th and 21st,
    three months by month, a year into four months each, a decade after its fourth and seventh year.
    ``ValueError``: the period is of another length.
    """
    cuts = [period.first, *_cuts(period), period.following]
    return Period(cuts[which], cuts[which + 1], Precision.RANGE)


def half(period: Period, which: int) -> Period:
    """The first or second half (0, 1): of a month until the 15th, of a year until June, of a decade 5 years.

    ``ValueError``: the period is of another length.
    """
    if period.precision is Precision.MONTH:
        middle = period.first + 15 * _DAY
    elif period.precision is Precision.YEAR:
        middle = shift(period.first, 6, Unit.MONTH)
    elif _is_decade(period):
        middle = shift(period.first, 5, Unit.YEAR)
    else:
        raise ValueError("not known in halves")
    cuts = [period.first, middle, period.following]
    return Period(cuts[which], cuts[which + 1], Precision.RANGE)


def _cuts(period: Period) -> tuple[date, date]:
    first = period.first
    match period.precision:
        case Precision.WEEK:
            return first + 2 * _DAY, first + 4 * _DAY
        case Precision.MONTH:
            return first + 10 * _DAY, first + 20 * _DAY
        case Precision.QUARTER | Precision.SEASON:
            return shift(first, 1, Unit.MONTH), shift(first, 2, Unit.MONTH)
        case Precision.YEAR:
            return shift(first, 4, Unit.MONTH), shift(first, 8, Unit.MONTH)
        case _ if _is_decade(period):
            return shift(first, 4, Unit.YEAR), shift(first, 7, Unit.YEAR)
    raise ValueError("not known in thirds")


def _is_decade(period: Period) -> bool:
    return period.following == shift(period.first, 1, Unit.DECADE)


def midnight(day: date, zone: tzinfo) -> datetime:
    """The start of *day*; where the clocks skip midnight, the moment at which they do."""
    return datetime.combine(day, time.min, tzinfo=zone)


def interval(period: Period, zone: tzinfo) -> Interval:
    """*period* in UTC; ``ValueError``: the zone skipped these days, as Apia did 30 December 2011."""
    start, end = (to_micros(midnight(day, zone)) for day in (period.first, period.following))
    return between(start, end, period.precision)


def between(start: int, end: int, precision: Precision) -> Interval:
    """A half-open interval, checked; ``ValueError``: it is empty, or leaves the years 1 to 9999 in UTC."""
    if start >= end:
        raise ValueError("an empty interval")
    return Interval(in_range(start), in_range(end), precision)


def instant(moment: datetime) -> Interval:
    """*moment* as an interval without length."""
    micros = in_range(to_micros(moment))
    return Interval(micros, micros, Precision.INSTANT)


def clock_hour(moment: datetime) -> Interval:
    """The hour on the clock that *moment* lies in."""
    start = to_micros(moment.replace(minute=0, second=0, microsecond=0))
    return between(start, start + _HOUR_MICROS, Precision.HOUR)


def moved(moment: datetime, length: timedelta) -> datetime:
    """*moment* plus an exact length, whatever the clocks do in between."""
    return (moment.astimezone(UTC) + length).astimezone(moment.tzinfo)


def local(micros: int, zone: tzinfo) -> datetime:
    """A moment, not an open end, on the clock of *zone*."""
    moment = from_micros(in_range(micros))
    assert moment is not None
    return moment.astimezone(zone)


_HALF_DAY = 12

# Hours of the day from and until; a night ends on the next one.
PARTS: Final = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; not *exact* when only its hour was said."""

    of_day: time
    exact: bool

    def on(self, day: date, zone: tzinfo) -> Interval:
        """This time on *day*: an instant, or a whole hour."""
        moment = datetime.combine(day, self.of_day, tzinfo=zone)
        return instant(moment) if self.exact else clock_hour(moment)


def clock(hour: int, minute: int | None = None, second: int = 0, meridiem: str = "") -> Clock:
    """A time on a 12-hour clock (*meridiem* am or pm) or a 24-hour one.

    Raises:
        ValueError: there is no such time.
    """
    if meridiem:
        if not 1 <= hour <= _HALF_DAY:
            raise ValueError("no such hour")
        hour = hour % _HALF_DAY + (_HALF_DAY if meridiem == "pm" else 0)
    return Clock(time(hour, minute or 0, second), exact=minute is not None)


def part_of_day(day: date, part: str, zone: tzinfo) -> Interval:
    """The morning, afternoon, evening or night of *day*."""
    begin, end = (_at_hour(day, hour, zone) for hour in PARTS[part])
    return between(begin, end, Precision.RANGE)


def _at_hour(day: date, hour: int, zone: tzinfo) -> int:
    days, hour = divmod(hour, 24)
    return to_micros(datetime.combine(day + timedelta(days=days), time(hour), tzinfo=zone))


def word_list(section: str) -> tuple[str, ...]:
    """The words of one section, in order."""
    return _sections()[section]


def word_set(section: str) -> frozenset[str]:
    """The words of one section in lower case."""
    return frozenset(word.lower() for word in word_list(section))


def spellings(section: str) -> tuple[tuple[str, ...], ...]:
    """For each word of a section its spellings; none where the word is missing."""
    return tuple(() if word == "-" else tuple(word.split("/")) for word in word_list(section))


@cache
def _sections() -> Mapping[str, tuple[str, ...]]:
    sections: dict[str, tuple[str, ...]] = {}
    text = files("simonides.text.times").joinpath("english.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, words = line.split(":", 1)
            sections[name] = (*sections.get(name, ()), *words.split())
    return sections
