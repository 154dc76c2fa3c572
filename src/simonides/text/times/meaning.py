"""What a phrase means, before it is known when it was said: a function from that moment to an interval.

A phrase is read first and resolved later, because ``from November to February 2022`` must know its right side
before its left one has a year.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from simonides.records.interval import Interval, Precision, to_micros
from simonides.text.times.calendar import Period, between, interval, local, midnight, single

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime, tzinfo

When: TypeAlias = Period | Interval
_TO_THE_MINUTE = frozenset({Precision.INSTANT, Precision.HOUR})


@dataclass(frozen=True, slots=True)
class Now:
    """When and where a text was said.

    Attributes:
        moment: aware, on the clock of the zone that days are reckoned in.
        zone: that zone.
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
