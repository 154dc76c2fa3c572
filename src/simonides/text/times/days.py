"""Rules for single days.

A date without a year (``8 May``) means the latest such day until today, a weekday without more (``on
Friday``) the latest before today; looking forward, the first date from today on and the first weekday after
today. ``Last Friday`` is the latest before today, ``this Friday`` the one of this week, ``next Friday`` the
one of next week, ``this coming Friday`` the first after today.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from simonides.text.times.calendar import Unit, shift, single, weekday_in
from simonides.text.times.grammar import Rule, choice, same
from simonides.text.times.guards import (
    all_of,
    no_day_before,
    no_number_after,
    no_part,
    not_a_count,
    undetermined,
    unnamed,
    untitled,
)
from simonides.text.times.meaning import Meaning, Now, coming, day_away, derived, fixed
from simonides.text.times.periods import STEPS, place_in

if TYPE_CHECKING:
    from simonides.text.times.calendar import Period
    from simonides.text.times.periods import Year

_DAY: Final = timedelta(days=1)
_LONGEST_LEAP_GAP: Final = 8


def away(count: int) -> Meaning:
    """The day *count* days from today."""
    return Meaning(lambda now: day_away(now, count))


def day_of_year(month: int, day: int, year: Year) -> Meaning:
    """That day of that year."""
    return Meaning(lambda now: single(date(year(now), month, day)))


def bare_day(month: int, day: int) -> Meaning:
    """That day of the latest year that has it and is not after today.

    Raises:
        ValueError: no year has such a day.
    """
    date(2000, month, day)  # a leap year has them all

    def nearest(now: Now, direction: int) -> Period:
        for distance in range(_LONGEST_LEAP_GAP + 1):
            year = now.today.year + direction * distance
            # 29 February is missing in most years.
            if (month, day) == (2, 29) and not _is_leap(year):
                continue
            found = date(year, month, day)
            if found == now.today or (found > now.today) == (direction > 0):
                return single(found)
        raise AssertionError("every date comes back within eight years")

    return Meaning(lambda now: nearest(now, -1), lambda now: nearest(now, 1))


def before_today(weekday: int) -> Meaning:
    """The latest such weekday before today; looking forward, the first after today: it is never today."""

    def at(now: Now) -> Period:
        return single(now.today - ((now.today.weekday() - weekday - 1) % 7 + 1) * _DAY)

    def onward(now: Now) -> Period:
        return single(now.today + ((weekday - now.today.weekday() - 1) % 7 + 1) * _DAY)

    return Meaning(at, onward)


def weekday_of_week(weekday: int, weeks: int) -> Meaning:
    """That weekday of the week *weeks* after this one."""
    return Meaning(lambda now: single(now.today + (weekday - now.today.weekday() + 7 * weeks) * _DAY))


def last_weekday(weekday: int, weeks_before: int = 0) -> Meaning:
    """The latest such weekday before today, or one some weeks earlier."""
    latest = before_today(weekday)
    return derived(
        Meaning(latest.at), lambda period, _: single(shift(period.first, -weeks_before, Unit.WEEK))
    )


def _stepped_weekday(which: str, weekday: int) -> Meaning:
    match which:
        case "last" | "past":
            return last_weekday(weekday)
        case "coming":
            return coming(before_today(weekday))
        case _:
            return weekday_of_week(weekday, STEPS[which])


def _weekday_in(place: int | str, weekday: int, around: Meaning) -> Meaning:
    return derived(around, lambda period, _: single(weekday_in(period, weekday, place_in(place))))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


# fmt: off
RULES: Final = (
    # {day} knows its date or says how to find it; {bareday} has no year, {bareweekday} no week;
    # {date} is one of the first two. A {lowday} (8 may) is a day only after "on".
    Rule("day", "{dayname}? <DATE>", lambda _, day: fixed(single(day))),
    Rule("day", "{dayname}? the? <DAYOFMONTH> of? <ANYMONTH> .? ,? of? <YEAR>",
         lambda _, day, month, year: day_of_year(month, day, lambda _: year)),
    Rule("day", "{dayname}? <ANYMONTH> .? the? <DAYOFMONTH> ,? of? <YEAR>",
         lambda _, month, day, year: day_of_year(month, day, lambda _: year), no_day_before),
    Rule("day", "{dayname}? the? <DAYOFMONTH> of? <MONTH|SHORTMONTH> of? {saidyear}",
         lambda _, day, month, year: day_of_year(month, day, year)),
    Rule("day", "{dayname}? <MONTH|SHORTMONTH> .? the? <DAYOFMONTH> of? {saidyear}",
         lambda _, month, day, year: day_of_year(month, day, year), no_day_before),
    Rule("day", "the <PLACE> of <ANYMONTH> ,? {year}",
         lambda day, month, year: day_of_year(month, day, year)),
    Rule("dayname", "<ANYDAY> .? ,?", same),

    Rule("day", "today", lambda: away(0), untitled),
    Rule("day", "yesterday", lambda: away(-1)),
    Rule("day", "tomorrow", lambda: away(1)),
    Rule("day", "<last|this|next> <WEEKDAY>", _stepped_weekday, all_of(undetermined, no_part)),
    Rule("day", "<last|next> <SHORTDAY>", _stepped_weekday, all_of(undetermined, no_part)),
    Rule("day", "this <past|coming> <WEEKDAY>", _stepped_weekday),
    Rule("day", "<WEEKDAY> of? <last|this|next> week",
         lambda weekday, which: weekday_of_week(weekday, STEPS[which])),
    Rule("day", "<last|this|next> week on? <WEEKDAY>",
         lambda which, weekday: weekday_of_week(weekday, STEPS[which]), undetermined),
    Rule("day", "the? <WEEKDAY> before last", lambda weekday: last_weekday(weekday, 1)),
    Rule("day", "the? <WEEKDAY> after next", lambda weekday: weekday_of_week(weekday, 2)),
    Rule("day", "the? <PLACE|last> <WEEKDAY> of|in {monthly}", _weekday_in),

    Rule("bareday", "{dayname}? the? <DAYOFMONTH> of? <MONTH|SHORTMONTH>",
         lambda _, day, month: bare_day(month, day), no_number_after),
    Rule("bareday", "{dayname}? <MONTH|SHORTMONTH> .? the? <DAYOFMONTH>",
         lambda _, month, day: bare_day(month, day), all_of(not_a_count, no_day_before)),
    Rule("bareday", "the? <NTH> of? <LOWMONTH>", lambda day, month: bare_day(month, day), no_number_after),
    Rule("bareday", "<LOWMONTH> the? <NTH>", bare_day, no_number_after),
    Rule("bareday", "the <PLACE> of <MONTH>", lambda day, month: bare_day(month, day),
         all_of(no_number_after, unnamed)),
    *choice("date", "day", "bareday"),

    Rule("lowday", "the? <DAYOFMONTH> of? <LOWMONTH>", lambda day, month: bare_day(month, day)),
    Rule("lowday", "<LOWMONTH> the? <DAYOFMONTH>", bare_day),
    Rule("bareweekday", "<WEEKDAY>", before_today),
)
# fmt: on
