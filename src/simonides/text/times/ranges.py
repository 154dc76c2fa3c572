"""Rules for ranges, open ends and the words that lead into a time, and for times counted from a day.

A question is searched for ``expression``, what is told for ``told``. Both ends of a range belong to it.
``Since`` starts with its time and has no end, ``after`` starts when its time is over; ``until`` and ``by``
end with theirs and have no start, ``before`` ends when its time begins.

A count of a unit means the calendar unit that holds the day so far away, no finer: ``two weeks ago`` is that
week, ``a year ago`` that year, ``a year ago today`` that day. Hours are hours on the clock, minutes and
seconds are moments. Vague counts are ranges: a couple is 2 to 3, a few 3 to 5, several 3 to 7.

Rolling spans (``in the past three weeks``) reach from the start of the day so long ago until the end of
today, or from the start of today until the end of the day so far ahead; those of hours are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision, to_micros
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
from simonides.text.times.days import (
    STEPS,
    at_clock,
    away,
    bare_day,
    before_today,
    last_weekday,
    part,
    season_of,
    stepped,
    weekend_away,
)
from simonides.text.times.grammar import Rule, choice, same
from simonides.text.times.guards import (
    ahead,
    all_of,
    in_the_future,
    no_number_after,
    no_part,
    no_range,
    no_word_after,
    nobody,
    not_a_count,
    not_a_question_number,
    not_back_to,
    not_the_fall,
    once,
    once_on_a_weekday,
    owns_nothing,
    stands_alone,
    two_digits,
    uncombined,
    uncounted,
    undetermined,
    unnamed,
)
from simonides.text.times.meaning import (
    Meaning,
    Now,
    closing,
    coming,
    day_away,
    derived,
    first_day,
    fixed,
    joined,
    joined_ahead,
    span,
)
from simonides.text.times.tense import fixed_before, opens_clause, recorded_before, shifted_before, sure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simonides.text.times.days import Year
    from simonides.text.times.meaning import When


def since(meaning: Meaning) -> Meaning:
    """From its start, without end; it has started, whatever the sentence speaks of."""
    return _open(Meaning(meaning.at, follows=meaning.follows), lambda found: (found.start, FOREVER))


def onward(meaning: Meaning) -> Meaning:
    """From its start on, without end."""
    return _open(meaning, lambda found: (found.start, FOREVER))


def after(meaning: Meaning) -> Meaning:
    """From when it is over, without end."""
    return _open(meaning, lambda found: (closing(found), FOREVER))


def until(meaning: Meaning) -> Meaning:
    """Without start, until it is over."""
    return _open(meaning, lambda found: (BEGINNING, closing(found)))


def before(meaning: Meaning) -> Meaning:
    """Without start, until it starts."""
    return _open(meaning, lambda found: (BEGINNING, found.start))


def _open(meaning: Meaning, ends: Callable[[Interval], tuple[int, int]]) -> Meaning:
    def opened(resolve: Callable[[Now], When]) -> Callable[[Now], When]:
        return lambda now: Interval(*ends(span(resolve(now), now.zone)), Precision.RANGE)

    onward = None if meaning.onward is None else opened(meaning.onward)
    return Meaning(opened(meaning.at), onward, follows=meaning.follows)


def _days_of_month(first: int, last: int, month: int, year: Year | None = None) -> Meaning:
    date(2000, month, max(first, last))  # a leap year has them all

    def until_last(start: date) -> Period:
        # Refused only here, so that no part of "5 to 3 May" is read for itself.
        if first >= last:
            raise ValueError("days in no order")
        return Period(start, shift(start.replace(day=last), 1, Unit.DAY), Precision.RANGE)

    if year is None:
        return derived(bare_day(month, first), lambda period, _: until_last(period.first))
    return Meaning(lambda now: until_last(date(year(now), month, first)))


def _years(first: int, last: int) -> Meaning:
    if first >= last:
        raise ValueError("years in no order")
    return fixed(Period(date(first, 1, 1), date(last + 1, 1, 1), Precision.RANGE))


def _until_day(first: date, last: int) -> Meaning:
    """2026-05-03 to 05."""
    return Meaning(lambda _: _in_order(first, shift(first.replace(day=last), 1, Unit.DAY)))


def _until_month(first: date, last: int) -> Meaning:
    """2026-05 to 07."""
    return Meaning(lambda _: _in_order(first, shift(first.replace(month=last), 1, Unit.MONTH)))


def _in_order(first: date, following: date) -> Period:
    if first >= following:
        raise ValueError("in no order")
    return Period(first, following, Precision.RANGE)


def _habit(*_: Meaning) -> Meaning:
    """From Monday to Friday: no time, and no part of it is one."""

    def at(_: Now) -> Period:
        raise ValueError("a habit")

    return Meaning(at)


def _days_of_month_rules(lead: str, to: str) -> Iterator[Rule]:
    """3 to 5 June 2024, 3 to 5 June, June 3 to 5, 2024, June 3 to 5: after *lead*, with *to* between."""
    days = f"<DAYOFMONTH> {to} <DAYOFMONTH>"
    yield Rule(
        "expression",
        f"{lead} {days} of? <ANYMONTH> .? ,? of? <YEAR>",
        lambda first, last, month, year: _days_of_month(first, last, month, lambda _: year),
    )
    yield Rule("expression", f"{lead} {days} of? <MONTH|SHORTMONTH>", _days_of_month, no_number_after)
    yield Rule(
        "expression",
        f"{lead} <ANYMONTH> .? {days} ,? <YEAR>",
        lambda month, first, last, year: _days_of_month(first, last, month, lambda _: year),
    )
    yield Rule(
        "expression",
        f"{lead} <MONTH|SHORTMONTH> .? {days}",
        lambda month, first, last: _days_of_month(first, last, month),
        not_a_count,
    )


_TO: Final = "to|until|till|through|thru|DASH"

# fmt: off
RANGES_RULES: Final = (
    # {solid} is a time wherever it stands: a {dayish} one, a {longer} one, or an {offset}. The {side} of a
    # range, an {endpoint} and a {bound} are one only after a word such as "since".
    *choice("dayish", "date", "moment"),
    *choice("longer", "span", "month", "quarter", "season", "wholeyear", "decade", "half", "week", "weekend",
            "part"),
    *choice("solid", "dayish", "longer", "offset"),
    *choice("side", "solid", "modernyear"),
    Rule("side", "{baremonth}", same, unnamed),
    Rule("side", "{barequarter}", same, not_a_question_number),
    Rule("side", "the? {bareseason}", same, all_of(stands_alone, not_the_fall)),
    *choice("endpoint", "side", "bareweekday"),
    *choice("bound", "endpoint"),
    Rule("bound", "{clock}", at_clock),
    *choice("deadline", "solid", "bareweekday"),
    Rule("deadline", "{clock}", at_clock),
    *choice("dated", "dayish", "month", "quarter", "season", "decade"),

    Rule("expression", "{solid}", same),
    Rule("expression", "on {dayish}", same),
    Rule("expression", "on {lowday}", same, no_number_after),
    Rule("expression", "on {bareweekday}", same, once_on_a_weekday),
    Rule("expression", "in|during|over|throughout {longer}", same),
    Rule("expression", "at {part}", same),
    Rule("expression", "on|at {weekend}", same),
    Rule("expression", "at {clock}", at_clock),
    Rule("expression", "{sureclock}", at_clock),
    Rule("expression", "{hours}", same),
    Rule("expression", "on {hours}", same),

    Rule("expression", "in|during|throughout|over {baremonth}", same, owns_nothing),
    Rule("expression", "in|during {lowmonth}", same),
    Rule("expression", "in|during <early|mid|late> DASH? {lowmonth}", part),
    Rule("expression", "in|during|throughout {bareyear}", same),
    Rule("expression", "in|during|throughout|for {barequarter}", same, not_a_question_number),
    Rule("expression", "in|during|throughout|over the? {bareseason}", same,
         all_of(stands_alone, not_the_fall)),
    Rule("expression", "for {quarter}", same),
    Rule("expression", "from {solid}", same),
    Rule("expression", "from {baremonth}", same, nobody),
    Rule("expression", "from {modernyear}", same, no_range),

    Rule("expression", "since {bound}", since),
    Rule("expression", "since {bareyear}", since),
    Rule("expression", "since {lowmonth}", since),
    Rule("expression", "from {endpoint} onward|onwards", onward),
    Rule("expression", "from {endpoint} on", onward, no_word_after),
    Rule("expression", "after {bound}", after),
    Rule("expression", "before {bound}", before),
    Rule("expression", "prior to {bound}", before),
    Rule("expression", "up? until|till {bound}", lambda end: until(coming(end)), ahead),
    Rule("expression", "up? until|till {bound}", until),
    Rule("expression", "until|till {bareyear}", until),
    Rule("expression", "up to {solid}", until),
    Rule("expression", "by {deadline}", lambda end: until(coming(end)), ahead),
    Rule("expression", "by {deadline}", until),

    # Two weekdays without more are a habit: "from Monday to Friday".
    Rule("expression", "between {side} and {endpoint}", joined),
    Rule("expression", "between {endpoint} and {side}", joined),
    Rule("expression", f"from {{side}} {_TO} {{endpoint}}", joined),
    Rule("expression", f"from {{endpoint}} {_TO} {{side}}", joined),
    Rule("expression", f"{{side}} {_TO} {{dated}}", joined),
    Rule("expression", f"in|during|over|throughout|for {{side}} {_TO} {{dated}}", joined),
    Rule("expression", "in|during|over|throughout {baremonth} DASH|to|through {baremonth}", joined),

    Rule("expression", "in|during|from|between the? years? <YEAR> DASH <YEAR>", _years, uncounted),
    Rule("expression", f"from|between? <DATE> {_TO}|and <DAYOFMONTH>", _until_day, two_digits),
    Rule("expression", f"from|between? <ISOMONTH> {_TO}|and <DAYOFMONTH>", _until_month, two_digits),
    *_days_of_month_rules("between the?", "and the?"),
    *_days_of_month_rules("from? the?", f"{_TO} the?"),

    # What is a time only in what is told, where the tense says which one it is.
    *(Rule("told", f"from {{{first}}} {_TO} {{{then}}}", lambda _, other: other, shifted_before)
      for first, then in (("side", "endpoint"), ("endpoint", "side"), ("bareweekday", "bareweekday"),
                          ("baremonth", "baremonth"))),
    *choice("told", "expression"),
    Rule("told", "for|to {bareweekday}", same, fixed_before),
    Rule("told", "from {bareweekday}", same, recorded_before),
    Rule("told", "due {bareweekday}", same),
    Rule("told", f"from|between {{bareweekday}} {_TO}|and {{bareweekday}}", joined_ahead, sure),
    Rule("told", f"from|between {{bareweekday}} {_TO}|and {{bareweekday}}", _habit),
    Rule("told", "{bareweekday}", same, opens_clause),

    # What is a time only where it is the whole text.
    *choice("alone", "baremonth", "bareweekday", "barequarter"),
    Rule("alone", "the? {bareseason}", same, not_the_fall),
    Rule("alone", "{clock}", at_clock),
)
# fmt: on


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
    """Half an hour, a year or a decade; ``ValueError``: half of another unit is not understood."""
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
OFFSETS_RULES: Final = (
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
