"""Rules for ranges, open ends and the words that lead into a time.

A question is searched for ``expression``, what is told for ``told``.
Both ends of a range belong to it. ``Since`` starts with its time and has no end, ``after`` starts when its
time is over; ``until`` and ``by`` end with theirs and have no start, ``before`` ends when its time begins.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision
from simonides.text.times.calendar import Period, Unit, shift
from simonides.text.times.days import bare_day
from simonides.text.times.grammar import Rule, choice, same
from simonides.text.times.guards import (
    ahead,
    all_of,
    no_number_after,
    no_range,
    no_word_after,
    nobody,
    not_a_count,
    not_a_question_number,
    not_the_fall,
    once_on_a_weekday,
    owns_nothing,
    stands_alone,
    two_digits,
    uncounted,
    unnamed,
)
from simonides.text.times.meaning import Meaning, closing, coming, derived, fixed, joined, joined_ahead, span
from simonides.text.times.moments import at_clock
from simonides.text.times.periods import part
from simonides.text.times.tense import fixed_before, opens_clause, recorded_before, shifted_before, sure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simonides.text.times.meaning import Now, When
    from simonides.text.times.periods import Year


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


def _second(_: Meaning, other: Meaning) -> Meaning:
    """Moved from Friday to Monday: Monday."""
    return other


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
RULES: Final = (
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
    *(Rule("told", f"from {{{first}}} {_TO} {{{then}}}", _second, shifted_before)
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
