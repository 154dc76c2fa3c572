"""What a phrase means, before it is known when it was said: a function from that moment to an interval.

A phrase is read first and resolved later, because ``from November to February 2022`` must know its right side
before its left one has a year.

Whole dates in other languages (a day, a month by its name, a year of four digits) are read by dateparser. It
alone sees times in plain words and numbers, so it is only shown what has that form, and its answer counts
only if it has the day and the year that are written there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simonides.errors import InputError, MissingExtraError
from simonides.records.extraction import TimeMention
from simonides.records.interval import Interval, Precision, to_micros
from simonides.text.times.calendar import Period, between, interval, local, midnight, single

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from datetime import date, datetime, tzinfo


When: TypeAlias = Period | Interval
_TO_THE_MINUTE = frozenset({Precision.INSTANT, Precision.HOUR})


@dataclass(frozen=True, slots=True)
class Now:
    """When and where a text was said.

    Attributes:
        moment: aware, on the clock of the zone that days are reckoned in.
        southern: whether summer is from December to February.
    """

    moment: datetime
    zone: tzinfo
    southern: bool = False

    @property
    def today(self) -> date:
        """The local day."""
        return self.moment.date()

    def on(self, day: date) -> Now:
        """The start of another day."""
        return Now(midnight(day, self.zone), self.zone, self.southern)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a phrase means.

    Attributes:
        at: resolves it against the moment it was said. Raises ``ValueError`` or ``OverflowError`` when it
            means no time after all.
        onward: the same for a name without a year (``March``, ``8 May``, ``Friday``), looking forward: the
            first that is not over. ``None`` for everything else.
        follows: whether it leans on a time named before it in the same sentence (``at 3pm``, ``two days
            later``), and on the anchor only without one.
    """

    at: Callable[[Now], When]
    onward: Callable[[Now], When] | None = None
    follows: bool = False


def fixed(period: Period) -> Meaning:
    """The same days whenever it is said."""
    return Meaning(lambda _: period)


def derived(meaning: Meaning, change: Callable[[Period, Now], When]) -> Meaning:
    """A meaning that *change* makes of the days that *meaning* means."""

    def after(resolve: Callable[[Now], When]) -> Callable[[Now], When]:
        return lambda now: change(_days(resolve(now)), now)

    onward = None if meaning.onward is None else after(meaning.onward)
    return Meaning(after(meaning.at), onward, follows=meaning.follows)


def coming(meaning: Meaning) -> Meaning:
    """Looking forward, where it has no year of its own."""
    return meaning if meaning.onward is None else Meaning(meaning.onward)


def span(when: When, zone: tzinfo) -> Interval:
    """As an interval in UTC."""
    return when if isinstance(when, Interval) else interval(when, zone)


def first_day(when: When, zone: tzinfo) -> date:
    """The local day on which it starts."""
    return when.first if isinstance(when, Period) else local(when.start, zone).date()


def closing(found: Interval) -> int:
    """Where a range up to and including *found* ends; a time of day is a point: until 5pm ends at 17:00."""
    return found.start if found.precision in _TO_THE_MINUTE else found.end


def joined(left: Meaning, right: Meaning) -> Meaning:
    """From *left* until *right*, both included.

    A side without a year takes the one that makes the range follow from the other side: the latest not after
    the right side, or the first not before the left one. Two of them: the right one is the latest, or looking
    forward the first that is not over.
    """

    def between_them(start: When, stop: When, now: Now) -> Interval:
        return between(span(start, now.zone).start, closing(span(stop, now.zone)), precision=Precision.RANGE)

    def at(now: Now) -> When:
        if right.onward is not None and left.onward is None:
            start = left.at(now)
            stop = right.onward(now.on(first_day(start, now.zone)))
        else:
            stop = right.at(now)
            start = left.at(now if left.onward is None else now.on(first_day(stop, now.zone)))
        return between_them(start, stop, now)

    def onward(now: Now) -> When:
        stop = coming(right).at(now)
        return between_them(left.at(now.on(first_day(stop, now.zone))), stop, now)

    bare = left.onward is not None and right.onward is not None
    return Meaning(at, onward if bare else None, follows=left.follows or right.follows)


def joined_ahead(left: Meaning, right: Meaning) -> Meaning:
    """``joined``, but looking forward from the first *left* on: "from Monday to Thursday"."""

    def onward(now: Now) -> When:
        start = coming(left).at(now)
        stop = coming(right).at(now.on(first_day(start, now.zone)))
        return between(span(start, now.zone).start, closing(span(stop, now.zone)), precision=Precision.RANGE)

    return Meaning(joined(left, right).at, onward)


def day_away(now: Now, count: int) -> Period:
    """The day *count* days from today; one that the zone skipped (Apia, 30 December 2011) is passed over."""
    day = now.today + timedelta(days=count)
    if to_micros(midnight(day, now.zone)) >= to_micros(midnight(day + timedelta(days=1), now.zone)):
        day += timedelta(days=1 if count > 0 else -1)
    return single(day)


def _days(when: When) -> Period:
    if isinstance(when, Interval):
        raise ValueError("not whole days")  # noqa: TRY004 - what cannot be resolved is a ValueError
    return when


# 8 de mayo de 2023 · 8. Mai 2023 · 1er mai 2023; and 2023年5月8日. Each part is of bounded length.
_DATE: Final = re.compile(
    r"""(?<![\w/.,-]) (?P<day>[0-9]{1,2}) (?:\.|º|er)? \s
        (?:[^\W\d_]{1,3}\s)? [^\W\d_]{3,14} \.? ,? \s
        (?:[^\W\d_]{1,3}\s)? (?P<year>[0-9]{4}) (?![\w/-])
      | (?<!\d) (?P<first>[0-9]{4}) \s?[年년]\s? [0-9]{1,2} \s?[月월]\s?
        (?P<last>[0-9]{1,2}) \s?[日일]""",
    re.VERBOSE,
)
_SETTINGS: Final = {
    "REQUIRE_PARTS": ["day", "month", "year"],
    "STRICT_PARSING": True,
    "PARSERS": ["absolute-time"],
    "DATE_ORDER": "DMY",
}


def find_dates(text: str, *, languages: Collection[str], zone: tzinfo) -> tuple[TimeMention, ...]:
    """Whole dates in *text*, in order; *languages*: two-letter codes, such as ``de``.

    Raises:
        InputError: dateparser does not know a language; noticed only where there is something to read.
        MissingExtraError: dateparser is not installed.
    """
    try:
        dateparser = import_module("dateparser")
    except ImportError:
        raise MissingExtraError(
            "dates in other languages need dateparser; install it with: pip install 'simonides[dates]'"
        ) from None
    return tuple(_mentions(dateparser, text, sorted(languages), zone))


def _mentions(dateparser: Any, text: str, languages: list[str], zone: tzinfo) -> Iterator[TimeMention]:
    for found in _DATE.finditer(text):
        try:
            moment = dateparser.parse(found[0], languages=languages, settings=_SETTINGS)
        except ValueError as error:
            raise InputError("languages", f"{', '.join(languages)}: {error}") from None
        day, year = int(found["day"] or found["last"]), int(found["year"] or found["first"])
        if moment is None or (moment.day, moment.year) != (day, year):
            continue
        try:
            days = interval(single(moment.date()), zone)
        except (ValueError, OverflowError):
            continue
        yield TimeMention(found[0], found.start(), found.end(), days)
