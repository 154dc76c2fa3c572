"""Rules for days, for times of day, and for what is longer than a day.

A name without a year means the latest one that has started (``in March``, said in March, is this March), and
looking forward the first that is not over. "Last" with a name means the latest that is over, "next" the first
that has not started, "this" the month of this year or the nearest season; with a unit they mean the calendar
unit before, around and after today.

A date without a year (``8 May``) means the latest such day until today, a weekday without more (``on
Friday``) the latest before today; looking forward, the first date from today on and the first weekday after
today. ``Last Friday`` is the latest before today, ``this Friday`` the one of this week, ``next Friday`` the
one of next week, ``this coming Friday`` the first after today.

A time of day alone belongs to the day named before it in the sentence, else to the anchor's day.
"""

from __future__ import annotations

from calendar import isleap
from collections.abc import Callable
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simonides.records.interval import Interval, Precision
from simonides.text.times.calendar import (
    Clock,
    Period,
    Unit,
    between,
    clock,
    days_from,
    half,
    holding,
    instant,
    months_from,
    part_of_day,
    season,
    shift,
    single,
    third,
    weekday_in,
    weekend,
)
from simonides.text.times.grammar import Rule, choice, same
from simonides.text.times.guards import (
    all_of,
    local_time,
    no_day_before,
    no_number_after,
    no_other_fall,
    no_part,
    not_a_count,
    uncounted,
    undetermined,
    unnamed,
    untitled,
)
from simonides.text.times.meaning import Meaning, Now, coming, day_away, derived, fixed

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

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
PERIODS_RULES: Final = (
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


_DAY: Final = timedelta(days=1)
_LONGEST_LEAP_GAP: Final = 8


def away(count: int) -> Meaning:
    """The day *count* days from today."""
    return Meaning(lambda now: day_away(now, count))


def day_of_year(month: int, day: int, year: Year) -> Meaning:
    """That day of that year."""
    return Meaning(lambda now: single(date(year(now), month, day)))


def bare_day(month: int, day: int) -> Meaning:
    """That day of the latest year that has it and is not after today; ``ValueError``: no year has it."""
    date(2000, month, day)  # a leap year has them all

    def nearest(now: Now, direction: int) -> Period:
        for distance in range(_LONGEST_LEAP_GAP + 1):
            year = now.today.year + direction * distance
            # 29 February is missing in most years.
            if (month, day) == (2, 29) and not isleap(year):
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


# fmt: off
DAYS_RULES: Final = (
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


def on_day(day: Meaning, time: Clock) -> Meaning:
    """At *time* on *day*."""
    return derived(day, lambda period, now: time.on(_one_day(period), now.zone))


def at_clock(time: Clock) -> Meaning:
    """At *time* on the day spoken of."""
    return Meaning(lambda now: time.on(now.today, now.zone), follows=True)


class PartOfDay(NamedTuple):
    """A part of a day, kept apart so that a time of day can take its place."""

    day: Meaning
    part: str


def within(found: PartOfDay) -> Meaning:
    """The morning, afternoon, evening or night of a day."""
    return derived(found.day, lambda period, now: part_of_day(_one_day(period), found.part, now.zone))


def hours(first: Clock, last: Clock, day: Meaning | None = None) -> Meaning:
    """From one time of day until another, on *day* or on the day spoken of."""

    def on(day: date, zone: tzinfo) -> Interval:
        return between(first.on(day, zone).start, last.on(day, zone).start, Precision.RANGE)

    if day is None:
        return Meaning(lambda now: on(now.today, now.zone), follows=True)
    return derived(day, lambda period, now: on(_one_day(period), now.zone))


def _moment(moment: datetime) -> Meaning:
    if moment.utcoffset() is not None:
        return Meaning(lambda _: instant(moment))
    return Meaning(lambda now: instant(moment.replace(tzinfo=now.zone)))


def _with_meridiem(time: Clock, meridiem: str) -> Clock:
    of_day = time.of_day
    return clock(of_day.hour, of_day.minute, of_day.second, meridiem=meridiem)


def _hour(hour: int, meridiem: str) -> Clock:
    return clock(hour, meridiem=meridiem)


def _part_beside(part: str, word: str, day: Meaning) -> PartOfDay:
    step = -1 if word == "before" else 1
    return PartOfDay(derived(day, lambda period, _: single(shift(period.first, step, Unit.DAY))), part)


def _one_day(period: Period) -> date:
    if period.precision is not Precision.DAY:
        raise ValueError("no single day")
    return period.first


_NAMES: Final = {"noon": 12, "midday": 12, "midnight": 0}

# fmt: off
MOMENTS_RULES: Final = (
    *choice("anyday", "date", "bareweekday"),

    # {clock} is a Clock; {sureclock} needs no "at" to be one.
    Rule("clock", "<CLOCK>", same, local_time),
    Rule("clock", "<noon|midday|midnight>", lambda name: clock(_NAMES[name], 0)),
    Rule("clock", "{sureclock}", same),
    Rule("sureclock", "<SURECLOCK>", same, local_time),
    Rule("sureclock", "<CLOCK> <MERIDIEM>", _with_meridiem, local_time),
    Rule("sureclock", "<NUMBER> <MERIDIEM>", _hour, local_time),

    Rule("moment", "<MOMENT>", _moment),
    Rule("moment", "{anyday} ,? at? {clock}", on_day),
    Rule("moment", "at? {clock} ,? on? {anyday}", lambda time, day: on_day(day, time)),
    Rule("moment", "{partofday} ,? at? {clock}", lambda part, time: on_day(part.day, time)),
    Rule("moment", "at? {clock} ,? on? {partofday}", lambda time, part: on_day(part.day, time)),
    Rule("moment", "{partofday}", within),

    # {partofday} is a PartOfDay.
    Rule("partofday", "this <morning|afternoon|evening>", lambda part: PartOfDay(away(0), part)),
    Rule("partofday", "tonight", lambda: PartOfDay(away(0), "night")),
    Rule("partofday", "last <night|evening>", lambda part: PartOfDay(away(-1), part)),
    Rule("partofday", "the? night before last", lambda: PartOfDay(away(-2), "night")),
    Rule("partofday", "{anyday} ,? <morning|afternoon|evening|night>", PartOfDay),
    Rule("partofday", "{anyday} in the <morning|afternoon|evening>", PartOfDay),
    Rule("partofday", "the? <morning|afternoon|evening|night> of {anyday}",
         lambda part, day: PartOfDay(day, part)),
    Rule("partofday", "the? <morning|afternoon|evening|night> <before|after> {anyday}", _part_beside),

    # Between times of one day; {hours} needs no "from" or "between" before it.
    Rule("hours", "{clock} DASH|to|until|till {clock} ,? on? {anyday}", hours),
    Rule("hours", "{anyday} ,? from? {clock} DASH|to|until|till {clock}", lambda day, a, b: hours(a, b, day)),
    Rule("hours", "{anyday} ,? between {clock} and {clock}", lambda day, a, b: hours(a, b, day)),
    Rule("hours", "{sureclock} DASH|to|until|till {sureclock}", hours),
    Rule("hours", "from {clock} DASH|to|until|till {clock} ,? on? {anyday}", hours),
    Rule("hours", "from {clock} DASH|to|until|till {clock}", hours),
    Rule("hours", "between {clock} and {clock} ,? on? {anyday}", hours),
    Rule("hours", "between {clock} and {clock}", hours),
)
# fmt: on
