"""Times of day: ``3pm`` is an hour, ``15:00`` a moment, ``morning`` six hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from simonides.records.interval import Interval, Precision, to_micros
from simonides.text.times.calendar import between, clock_hour, instant

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
