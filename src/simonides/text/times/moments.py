"""Rules for times of day, with the day they belong to.

A time of day alone belongs to the day named before it in the sentence, else to the anchor's day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simonides.records.interval import Interval, Precision
from simonides.text.times.calendar import Unit, between, instant, shift, single
from simonides.text.times.clock import Clock, clock, part_of_day
from simonides.text.times.days import away
from simonides.text.times.grammar import Rule, choice, same
from simonides.text.times.guards import local_time
from simonides.text.times.meaning import Meaning, derived

if TYPE_CHECKING:
    from datetime import date, datetime, tzinfo

    from simonides.text.times.calendar import Period


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


def _part_of(part: str, day: Meaning) -> PartOfDay:
    return PartOfDay(day, part)


def _part_beside(part: str, word: str, day: Meaning) -> PartOfDay:
    step = -1 if word == "before" else 1
    return PartOfDay(derived(day, lambda period, _: single(shift(period.first, step, Unit.DAY))), part)


def _one_day(period: Period) -> date:
    if period.precision is not Precision.DAY:
        raise ValueError("no single day")
    return period.first


_NAMES: Final = {"noon": 12, "midday": 12, "midnight": 0}

# fmt: off
RULES: Final = (
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
    Rule("partofday", "the? <morning|afternoon|evening|night> of {anyday}", _part_of),
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
