"""Rules that count from a day: ``two weeks ago``, ``in three days``, ``the week before 9 June``.

A count of a unit means the calendar unit that holds the day so far away, no finer: ``two weeks ago`` is that
week, ``a year ago`` that year, ``a year ago today`` that day. Hours are hours on the clock, minutes and
seconds are moments. Vague counts are ranges: a couple is 2 to 3, a few 3 to 5, several 3 to 7.

Rolling spans (``in the past three weeks``) reach from the start of the day so long ago until the end of
today, or from the start of today until the end of the day so far ahead; those of hours are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from simonides.records.interval import Interval, Precision, to_micros
from simonides.text.times.calendar import (
    EXACT,
    Period,
    Unit,
    between,
    clock_hour,
    holding,
    instant,
    moved,
    shift,
    single,
    weekend,
)
from simonides.text.times.days import away, before_today, last_weekday
from simonides.text.times.grammar import Rule, choice
from simonides.text.times.guards import (
    all_of,
    in_the_future,
    no_part,
    not_back_to,
    once,
    uncombined,
    undetermined,
)
from simonides.text.times.meaning import Meaning, Now, coming, day_away, derived, first_day, span
from simonides.text.times.periods import STEPS, season_of, stepped, weekend_away

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date


class Count(NamedTuple):
    """At least and at most so many."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Amount:
    """A count of units."""

    count: Count
    unit: Unit


_HALVES: Final = {
    Unit.HOUR: Amount(Count(30, 30), Unit.MINUTE),
    Unit.YEAR: Amount(Count(6, 6), Unit.MONTH),
    Unit.DECADE: Amount(Count(5, 5), Unit.YEAR),
}
_IN_A_WHOLE: Final = {Unit.MINUTE: 60, Unit.MONTH: 12, Unit.YEAR: 10}


def half_of(unit: Unit) -> Amount:
    """Half an hour, a year or a decade.

    Raises:
        ValueError: half of another unit is not understood.
    """
    if unit not in _HALVES:
        raise ValueError("no such half")
    return _HALVES[unit]


def one_and_a_half(unit: Unit) -> Amount:
    """One and a half hours, years or decades, see ``half_of``."""
    half = half_of(unit)
    count = half.count.least + _IN_A_WHOLE[half.unit]
    return Amount(Count(count, count), half.unit)


def from_now(amount: Amount, direction: int) -> Meaning:
    """So long before (-1) or after (1) now."""
    return Meaning(lambda now: _away(now, amount, direction))


def from_day(amount: Amount, word: str, reference: Meaning) -> Meaning:
    """So long before or after the days of *reference*."""
    direction = -1 if word == "before" else 1
    return _counted(reference, direction, lambda day, now: _away(now.on(day), amount, direction))


def exact_day(amount: Amount, direction: int, reference: Meaning) -> Meaning:
    """The very day so long before or after a day: a week from Friday, a year ago today."""
    count = _sure(amount)
    if amount.unit in EXACT:
        raise ValueError("not whole days")
    return derived(reference, lambda period, _: single(shift(period.first, direction * count, amount.unit)))


def later(amount: Amount, word: str) -> Meaning:
    """So long before or after the time spoken of."""
    direction = -1 if word == "earlier" else 1
    return Meaning(lambda now: _away(now, amount, direction), follows=True)


def rolling(amount: Amount, word: str) -> Meaning:
    """The past or next so many units, with today."""
    direction = STEPS[word]
    count = amount.count.most

    def at(now: Now) -> Period | Interval:
        if amount.unit in EXACT:
            ends = (now.moment, moved(now.moment, direction * count * EXACT[amount.unit]))
            start, end = sorted(map(to_micros, ends))
            return between(start, end, Precision.RANGE)
        first, last = sorted((now.today, shift(now.today, direction * count, amount.unit)))
        return Period(first, shift(last, 1, Unit.DAY), Precision.RANGE)

    return Meaning(at)


def beside(unit: Unit, word: str, reference: Meaning) -> Meaning:
    """The calendar unit before or after the one that holds *reference*."""
    if unit in EXACT:
        raise ValueError("not whole days")
    return from_day(Amount(Count(1, 1), unit), word, reference)


def weekend_beside(count: int, word: str, reference: Meaning) -> Meaning:
    """The weekend so many before or after a time; the first is in the week before, or the first to follow."""

    def away_from(day: date, _: Now) -> Period:
        if word == "before":
            return weekend(shift(day, -count, Unit.WEEK))
        to_come = weekend(day).first > day
        return weekend(shift(day, count - 1 if to_come else count, Unit.WEEK))

    return _counted(reference, -1 if word == "before" else 1, away_from)


def weekday_beside(weekday: int, word: str, reference: Meaning) -> Meaning:
    """The nearest such weekday before or after a time."""
    finder = before_today(weekday)
    if word == "before":
        return _counted(reference, -1, lambda day, now: finder.at(now.on(day)))
    return _counted(reference, 1, lambda day, now: coming(finder).at(now.on(day)))


def seasons_ago(count: Count, which: int) -> Meaning:
    """The season so many times ago; once is the latest that is over."""
    number = _sure(Amount(count, Unit.YEAR))
    latest = stepped("last", season_of(which))

    def at(now: Now) -> Period | Interval:
        last = first_day(latest.at(now), now.zone)
        return season_of(which)(now, last.year - number + 1)

    return Meaning(at)


def earlier_or_later(word: str, unit: Unit) -> Meaning:
    """The calendar unit around today until the end of today, or from its start."""

    def at(now: Now) -> Period:
        around = holding(now.today, unit)
        tomorrow = shift(now.today, 1, Unit.DAY)
        if word == "earlier":
            return Period(around.first, tomorrow, Precision.RANGE)
        return Period(now.today, around.following, Precision.RANGE)

    return Meaning(at)


def _away(now: Now, amount: Amount, direction: int) -> Period | Interval:
    near = _unit_away(now, direction * amount.count.least, amount.unit)
    if amount.count.least == amount.count.most:
        return near
    far = _unit_away(now, direction * amount.count.most, amount.unit)
    first, last = (far, near) if direction < 0 else (near, far)
    if isinstance(first, Period) and isinstance(last, Period):
        return Period(first.first, last.following, Precision.RANGE)
    return between(span(first, now.zone).start, span(last, now.zone).end, Precision.RANGE)


def _unit_away(now: Now, count: int, unit: Unit) -> Period | Interval:
    if unit in EXACT:
        moment = moved(now.moment, count * EXACT[unit])
        return clock_hour(moment) if unit is Unit.HOUR else instant(moment)
    if unit is Unit.DAY:
        return day_away(now, count)
    return holding(shift(now.today, count, unit), unit)


def _counted(
    reference: Meaning, direction: int, away_from: Callable[[date, Now], Period | Interval]
) -> Meaning:
    """Counted from the first day of *reference*, or from its last one when looking forward."""

    def counted(resolve: Callable[[Now], Period | Interval]) -> Callable[[Now], Period | Interval]:
        return lambda now: away_from(_edge(resolve(now), now, direction), now)

    return Meaning(counted(reference.at), None if reference.onward is None else counted(reference.onward))


def _edge(when: Period | Interval, now: Now, direction: int) -> date:
    """The first day of *when*, or its last one when looking forward."""
    if isinstance(when, Period) and direction > 0:
        return shift(when.following, -1, Unit.DAY)
    return first_day(when, now.zone)


def _sure(amount: Amount) -> int:
    if amount.count.least != amount.count.most:
        raise ValueError("a vague count")
    return amount.count.least


# fmt: off
RULES: Final = (
    # {count} is a Count, {amount} an Amount.
    Rule("count", "a|an", lambda: Count(1, 1)),
    Rule("count", "<NUMBER>", lambda number: Count(number, number)),
    Rule("count", "a? couple of?", lambda: Count(2, 3)),
    Rule("count", "a? few", lambda: Count(3, 5)),
    Rule("count", "several", lambda: Count(3, 7)),

    Rule("amount", "{count} <UNIT|UNITS>", Amount, uncombined),
    Rule("amount", "half a|an <UNIT>", half_of),
    Rule("amount", "a|an|one <UNIT> and a half", one_and_a_half),
    Rule("amount", "one and a half <UNITS>", one_and_a_half),

    *choice("reference", "date", "bareweekday", "month", "baremonth", "quarter", "season", "wholeyear",
            "bareyear", "span", "week", "weekend"),

    Rule("offset", "{amount} ago", lambda amount: from_now(amount, -1)),
    Rule("offset", "{amount} back", lambda amount: from_now(amount, -1), not_back_to),
    Rule("offset", "{amount} ago <today|yesterday>",
         lambda amount, day: exact_day(amount, -1, away(0 if day == "today" else -1))),
    Rule("offset", "{amount} from now", lambda amount: from_now(amount, 1)),
    Rule("offset", "{amount} from {day}", lambda amount, day: exact_day(amount, 1, day)),
    Rule("offset", "{amount} from {bareweekday}", lambda amount, day: exact_day(amount, 1, coming(day))),
    Rule("offset", "in {amount} '? time?", lambda amount: from_now(amount, 1), in_the_future),
    Rule("offset", "{amount} <later|afterwards|earlier>", later),
    Rule("offset", "{amount} <before|after> {reference}", from_day),
    Rule("offset", "the? <UNIT> <before|after> {reference}", beside, once),
    Rule("offset", "the? weekend <before|after> {reference}",
         lambda word, reference: weekend_beside(1, word, reference)),
    Rule("offset", "the? <WEEKDAY> <before|after> {reference}", weekday_beside, once),
    Rule("offset", "<NUMBER> weekends <before|after> {reference}", weekend_beside),
    Rule("offset", "{count} weekends ago", lambda count: weekend_away(-_sure(Amount(count, Unit.WEEK)))),
    Rule("offset", "{count} <WEEKDAYS> ago",
         lambda count, weekday: last_weekday(weekday, _sure(Amount(count, Unit.WEEK)) - 1)),
    Rule("offset", "{count} <SEASONS> ago", seasons_ago),

    Rule("offset", "in|over|during|for|within|throughout|across the|these|this? "
         "<last|past|previous|next|coming> {amount}", lambda word, amount: rolling(amount, word), no_part),
    Rule("offset", "in|over|during|for|within|throughout|across the|this <last|past|next|coming> <UNIT>",
         lambda word, unit: rolling(Amount(Count(1, 1), unit), word), no_part),
    Rule("offset", "the|these <last|past> {amount}", lambda word, amount: rolling(amount, word), no_part),
    Rule("offset", "<last|past> <NUMBER> <UNITS>",
         lambda word, number, unit: rolling(Amount(Count(number, number), unit), word),
         all_of(undetermined, no_part)),
    Rule("offset", "the|this past <UNIT>", lambda unit: rolling(Amount(Count(1, 1), unit), "past"), no_part),

    Rule("offset", "<earlier|later> this <SPAN>", earlier_or_later),
    Rule("offset", "earlier|later today", lambda: Meaning(lambda now: day_away(now, 0))),
)
# fmt: on
