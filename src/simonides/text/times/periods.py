"""Rules for what is longer than a day: week, weekend, month, quarter, season, half, year, decade, and parts.

A name without a year means the latest one that has started (``in March``, said in March, is this March), and
looking forward the first that is not over. "Last" with a name means the latest that is
over, "next" the first that has not started, "this" the month of this year or the nearest season; with a unit
they mean the calendar unit before, around and after today.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, TypeAlias

from simonides.records.interval import Precision
from simonides.text.times.calendar import (
    Period,
    Unit,
    days_from,
    half,
    holding,
    months_from,
    season,
    shift,
    third,
    weekday_in,
    weekend,
)
from simonides.text.times.grammar import Rule, choice, same
from simonides.text.times.guards import all_of, no_day_before, no_other_fall, uncounted, undetermined, unnamed
from simonides.text.times.meaning import Meaning, Now, derived, fixed

Year: TypeAlias = Callable[[Now], int]
Yearly: TypeAlias = Callable[[Now, int], Period]
"""What comes once a year, in a given year."""

STEPS: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}

_THIRDS: Final = {
    "early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2
}  # fmt: skip
_LAST: Final = -1
_MOST_WEEKS: Final = 4
_TWO_DIGITS: Final = 100
_FIRST_OPEN_CENTURY: Final = 2000


def named(yearly: Yearly) -> Meaning:
    """The latest that has started; looking forward, the first that is not over."""

    def at(now: Now) -> Period:
        this = yearly(now, now.today.year)
        return this if this.first <= now.today else yearly(now, now.today.year - 1)

    def onward(now: Now) -> Period:
        found = (yearly(now, now.today.year + ahead) for ahead in (-1, 0, 1))
        return next(period for period in found if period.following > now.today)

    return Meaning(at, onward)


def stepped(which: str, yearly: Yearly) -> Meaning:
    """Last, this or next of what comes once a year."""

    def last(now: Now) -> Period:
        # What started last year may not be over yet.
        found = (yearly(now, now.today.year - back) for back in range(3))
        return next(period for period in found if period.following <= now.today)

    def this(now: Now) -> Period:
        return yearly(now, now.today.year)

    def following(now: Now) -> Period:
        found = (yearly(now, now.today.year + ahead) for ahead in range(2))
        return next(period for period in found if period.first > now.today)

    return Meaning({-1: last, 0: this, 1: following}[STEPS[which]])


def nearest(yearly: Yearly) -> Meaning:
    """The one around today, or the one whose middle is nearest."""

    def distance(period: Period, now: Now) -> timedelta:
        return abs(period.first + (period.following - period.first) / 2 - now.today)

    def at(now: Now) -> Period:
        found = [yearly(now, now.today.year + ahead) for ahead in (-1, 0, 1)]
        return min(found, key=lambda period: distance(period, now))

    return Meaning(at)


def in_year(year: Year, yearly: Yearly) -> Meaning:
    """The one of that year."""
    return Meaning(lambda now: yearly(now, year(now)))


def month(number: int) -> Yearly:
    """Month 1 to 12."""
    return lambda _, year: months_from(year, number, 1, Precision.MONTH)


def unit_away(unit: Unit, count: int) -> Meaning:
    """The calendar unit *count* units after the one around today."""
    return Meaning(lambda now: holding(shift(holding(now.today, unit).first, count, unit), unit))


def weekend_away(count: int) -> Meaning:
    """Saturday and Sunday *count* weeks after this week's."""
    return Meaning(lambda now: weekend(shift(now.today, count, Unit.WEEK)))


def place_in(word: int | str) -> int:
    """First, second … as 1, 2 …; last as -1."""
    return word if isinstance(word, int) else _LAST


def part(which: str, of: Meaning) -> Meaning:
    """Early, mid or late in it."""
    return derived(of, lambda period, _: third(period, _THIRDS[which]))


def _quarter(number: int) -> Yearly:
    if not 1 <= number <= 4:
        raise ValueError("no such quarter")
    return lambda _, year: months_from(year, 3 * number - 2, 3, Precision.QUARTER)


def _half_year(number: int) -> Yearly:
    return lambda _, year: half(_year(year), number - 1)


def season_of(which: int) -> Yearly:
    """The season that starts in the year, in the hemisphere of the text."""
    return lambda now, year: season(year, which, southern=now.southern)


def _year(year: int) -> Period:
    return months_from(year, 1, 12, Precision.YEAR)


def _decade(first: int) -> Meaning:
    if first % 10:
        raise ValueError("no start of a decade")
    if first < _TWO_DIGITS:  # the '90s: the latest that has started

        def at(now: Now) -> Period:
            year = now.today.year // 100 * 100 + first
            return months_from(year if year <= now.today.year else year - 100, 1, 120, Precision.RANGE)

        return Meaning(at)
    # The 1900s are a century, the 2000s are no whole one yet.
    years = 100 if first % 100 == 0 and first < _FIRST_OPEN_CENTURY else 10
    return fixed(months_from(first, 1, 12 * years, Precision.RANGE))


def _week_from(first: date) -> Period:
    return days_from(first, 7, Precision.WEEK)


def _week_in(place: int | str, around: Meaning) -> Meaning:
    number = place_in(place)
    if number > _MOST_WEEKS:
        raise ValueError("no such week")

    def week(period: Period, _: Now) -> Period:
        edge = period.following if number < 0 else period.first
        return _week_from(shift(edge, number if number < 0 else number - 1, Unit.WEEK))

    return derived(around, week)


def _weekend_in(place: int | str, around: Meaning) -> Meaning:
    saturday = 5
    return derived(around, lambda period, _: weekend(weekday_in(period, saturday, place_in(place))))


def _half_of(place: int, of: Meaning) -> Meaning:
    if place > 2:
        raise ValueError("no such half")
    return derived(of, lambda period, _: half(period, place - 1))


def _the_latest_weekend() -> Meaning:
    """The latest that has started; looking forward, this week's."""

    def at(now: Now) -> Period:
        this = weekend(now.today)
        return this if this.first <= now.today else weekend(shift(now.today, -1, Unit.WEEK))

    return Meaning(at, lambda now: weekend(now.today))


# fmt: off
RULES: Final = (
    # {year} is a function from now to a number, everything else a Meaning; {bare…} has no year of its own.
    Rule("year", "<YEAR>", lambda year: lambda _: year),
    Rule("year", "{saidyear}", same),
    Rule("saidyear", "<last|this|next> year", lambda which: lambda now: now.today.year + STEPS[which]),

    Rule("span", "<last|this|next> <SPAN>", lambda which, unit: unit_away(unit, STEPS[which]), undetermined),
    Rule("span", "this coming <SPAN>", lambda unit: unit_away(unit, 1)),
    Rule("span", "the? <SPAN> before last", lambda unit: unit_away(unit, -2)),
    Rule("span", "the? <SPAN> after next", lambda unit: unit_away(unit, 2)),

    Rule("month", "<ANYMONTH> .? ,? of? <YEAR>", lambda number, year: in_year(lambda _: year, month(number)),
         all_of(no_day_before, uncounted)),
    Rule("month", "<MONTH|SHORTMONTH> .? ,? of? {saidyear}",
         lambda number, year: in_year(year, month(number)), no_day_before),
    Rule("month", "<ISOMONTH>", lambda first: fixed(holding(first, Unit.MONTH))),
    Rule("month", "<last|this|next> <MONTH>", lambda which, number: stepped(which, month(number)),
         all_of(undetermined, unnamed)),
    Rule("baremonth", "<MONTH|SHORTMONTH>", lambda number: named(month(number))),
    Rule("lowmonth", "<LOWMONTH>", lambda number: named(month(number))),
    Rule("lowmonth", "<LOWMONTH> of? {saidyear}", lambda number, year: in_year(year, month(number))),

    Rule("quarter", "<QUARTER> ,? of? {year}", lambda number, year: in_year(year, _quarter(number))),
    Rule("quarter", "<YEAR> <QUARTER>", lambda year, number: in_year(lambda _: year, _quarter(number))),
    Rule("quarter", "<DATEDQUARTER>", lambda both: in_year(lambda _: both[0], _quarter(both[1]))),
    Rule("quarter", "the? <PLACE> quarter of {year}", lambda number, year: in_year(year, _quarter(number))),
    Rule("barequarter", "<QUARTER>", lambda number: named(_quarter(number))),

    Rule("season", "<SEASON> ,? of? {year}", lambda which, year: in_year(year, season_of(which))),
    Rule("season", "the <SEASON> of {year}", lambda which, year: in_year(year, season_of(which))),
    Rule("season", "<last|next> <SEASON>", lambda which, name: stepped(which, season_of(name)),
         all_of(undetermined, no_other_fall)),
    Rule("season", "this <SEASON>", lambda which: nearest(season_of(which)),
         all_of(undetermined, no_other_fall)),
    Rule("bareseason", "<SEASON>", lambda which: named(season_of(which))),

    Rule("wholeyear", "the? year <YEAR>", lambda year: fixed(_year(year))),
    Rule("bareyear", "<YEAR>", lambda year: fixed(_year(year)), uncounted),
    Rule("modernyear", "<MODERN>", lambda year: fixed(_year(year)), uncounted),

    Rule("decade", "the {baredecade}", same),
    Rule("baredecade", "<DECADE>", _decade),
    Rule("baredecade", "<YEAR> 's", _decade),

    Rule("half", "<HALF> ,? of? {year}", lambda number, year: in_year(year, _half_year(number))),
    Rule("half", "the? <PLACE> half of {halvable}", _half_of),
    *choice("halvable", "month", "baremonth", "wholeyear", "bareyear", "decade", "span"),

    Rule("week", "the? week of {date}",
         lambda day: derived(day, lambda period, _: holding(period.first, Unit.WEEK))),
    Rule("week", "the? week beginning|starting|commencing|from on? {date}",
         lambda day: derived(day, lambda period, _: _week_from(period.first))),
    Rule("week", "the? week ending on? {date}",
         lambda day: derived(day, lambda period, _: _week_from(shift(period.following, -1, Unit.WEEK)))),
    Rule("week", "the? <PLACE|last> week of|in {monthly}", _week_in),
    Rule("week", "<ISOWEEK>", lambda monday: fixed(holding(monday, Unit.WEEK))),
    Rule("week", "week <NUMBER> of <YEAR>", lambda number, year: fixed(
        holding(date.fromisocalendar(year, number, 1), Unit.WEEK))),
    *choice("monthly", "month", "baremonth", "span"),

    Rule("weekend", "<last|this|next> weekend", lambda which: weekend_away(STEPS[which]), undetermined),
    Rule("weekend", "this past weekend", lambda: weekend_away(-1)),
    Rule("weekend", "this coming weekend", lambda: weekend_away(0)),
    Rule("weekend", "the? weekend before last", lambda: weekend_away(-2)),
    Rule("weekend", "the? weekend after next", lambda: weekend_away(2)),
    Rule("weekend", "at|on|over|during the weekend", _the_latest_weekend),
    Rule("weekend", "the? weekend of {date}",
         lambda day: derived(day, lambda period, _: weekend(period.first))),
    Rule("weekend", "the? <PLACE|last> weekend of|in {monthly}", _weekend_in),

    Rule("part", "the? <early|mid|late> DASH? in? {divisible}", part, undetermined),
    Rule("part", "the? <beginning|start|middle|end> of {divisible}", part),
    Rule("part", "the? <beginning|start|middle|end> of the <SPAN>",
         lambda which, unit: part(which, unit_away(unit, 0))),
    *choice("divisible", "month", "baremonth", "quarter", "barequarter", "season", "bareseason", "wholeyear",
            "bareyear", "decade", "baredecade", "span", "week"),
)
# fmt: on
