"""Times, half-open intervals and time zones.

Micros are plain ``int`` inside the engine (they go into int64 columns); ``datetime`` is used only at the
public rim. An open start is ``BEGINNING``, an open end is ``FOREVER`` (SPEC, general settlement 1).

    given in the call > the bank's own > SIMONIDES_ZONE > simonides.toml (command line only) > the system's

A zone is named as the IANA does (``Europe/Berlin``), ``UTC``, or by an offset (``+14:00``, ``UTC-03:30``).
"""

from __future__ import annotations

import difflib
import re
import warnings
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, available_timezones

from simonides.errors import InputError
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Mapping


BEGINNING = -(2**63)
FOREVER = 2**63 - 1

HEAD = FOREVER - 1
"""The viewpoint in recorded time of who states none: all that was written, whatever its stamps."""

DAY_MICROS = 86_400_000_000

CLOCK_SKEW = 5 * 60 * 1_000_000
"""Microseconds by which a recorded time may lie after the clock (ADR 0009)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FIRST_INSTANT = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
LAST_INSTANT = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class Precision(StrEnum):
    """How exactly a time is known; a year is a year, not its first of January (DF-07)."""

    INSTANT = "instant"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open interval ``[start, end)`` in microseconds UTC.

    An instant has ``end == start`` and precision ``INSTANT``: it lies at ``start`` and has no length.
    """

    start: int
    end: int
    precision: Precision = Precision.INSTANT

    def overlaps(self, start: int, end: int) -> bool:
        """Whether this interval meets ``[start, end)``; an instant meets it when it lies inside."""
        if self.start == self.end:
            return start <= self.start < end
        return self.start < end and start < self.end


def to_micros(moment: datetime) -> int:
    """Aware datetime → microseconds since 1970-01-01T00:00Z, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime | None:
    """Microseconds → aware UTC datetime; an open end → ``None``.

    A time outside years 1 to 9999, which an earlier version may have stored, becomes the nearest one.
    """
    if micros in {BEGINNING, FOREVER}:
        return None
    return _EPOCH + timedelta(microseconds=min(max(micros, FIRST_INSTANT), LAST_INSTANT))


def local_time(micros: int, zone: tzinfo) -> datetime | None:
    """A moment on the clock of *zone*; ``None`` for an open end, and outside years 1 to 9999 there."""
    moment = from_micros(micros)
    try:
        return None if moment is None else moment.astimezone(zone)
    except OverflowError:
        return None


def latest_recorded(now: int, last: int) -> int:
    """The moment at which everything written up to *last* is recorded: the clock, or *last* just after it.

    A *last* more than ``CLOCK_SKEW`` after the clock was written under a wrong clock, and is ignored.
    """
    return last if now < last <= now + CLOCK_SKEW else now


def check_recorded(micros: int, now: int, field: str) -> None:
    """Refuse a recorded time that lies more than ``CLOCK_SKEW`` after the clock *now*; microseconds UTC."""
    if micros > now + CLOCK_SKEW:
        raise InputError(field, later_than_clock(micros, now))


def later_than_clock(micros: int, now: int) -> str:
    """The message about a recorded time that lies after the clock."""
    stated, clock = from_micros(micros), from_micros(now)
    return (
        f"{stated.isoformat() if stated else 'an open end'} is later than the clock, "
        f"{clock.isoformat() if clock else micros}, by more than {CLOCK_SKEW // 60_000_000} minutes; "
        "a recorded time has passed: give an earlier one, or set the clock right"
    )


_YEAR = re.compile(r"[0-9]{4}")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_DAY = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}")
# fromisoformat() takes any character between day and time, so that it reads a day with an offset as a time.
_MOMENT = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt ].+")


def parse_time(value: object, field: str, *, zone: tzinfo = UTC) -> Interval:
    """Read one moment given by a caller, keeping its precision.

    Args:
        value: an aware or naive ``datetime`` (naive means *zone*), a ``date``, or an ISO 8601 string:
            ``2026``, ``2026-03``, ``2026-03-10``, ``2026-03-10T10:00``; a time may state its offset.

    Returns:
        An instant, or the whole day, month or year. What ends with the year 9999 ends at ``FOREVER``.

    Raises:
        InputError: the value is none of these, or starts outside years 1 to 9999 in UTC.
    """
    try:
        if isinstance(value, datetime):
            return _instant(value, zone)
        if isinstance(value, date):
            return _days(value, _day_after(value), Precision.DAY, zone)
        if isinstance(value, str):
            return _parse_text(value.strip(), zone)
    except (ValueError, OverflowError) as error:
        given = shown(value) if isinstance(value, str) else str(value)
        raise InputError(
            field,
            f"{given} is not a valid date or time ({error}); "
            f"write it like '2026-03-10' or '2026-03-10T10:00Z'",
        ) from None
    raise InputError(
        field,
        f"expected a datetime, a date or an ISO 8601 string such as '2026-03-10', got {type(value).__name__}",
    )


def _parse_text(text: str, zone: tzinfo) -> Interval:
    if _YEAR.fullmatch(text):
        first = date(int(text), 1, 1)
        return _days(first, _first_of_month_after(first.replace(month=12)), Precision.YEAR, zone)
    month = _MONTH.fullmatch(text)
    if month:
        first = date(int(month[1]), int(month[2]), 1)
        return _days(first, _first_of_month_after(first), Precision.MONTH, zone)
    if _DAY.fullmatch(text):
        day = date.fromisoformat(text)
        return _days(day, _day_after(day), Precision.DAY, zone)
    if not _MOMENT.fullmatch(text):
        raise ValueError("not ISO 8601")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        # Its message repeats the whole text where it has nothing else to say.
        raise ValueError("not ISO 8601" if "isoformat" in str(error) else str(error)) from None
    return _instant(moment, zone)


def _instant(moment: datetime, zone: tzinfo) -> Interval:
    aware = moment if moment.utcoffset() is not None else moment.replace(tzinfo=zone)
    micros = in_range(to_micros(aware))
    return Interval(micros, micros, Precision.INSTANT)


def _days(first: date, following: date | None, precision: Precision, zone: tzinfo) -> Interval:
    start = in_range(to_micros(_midnight(first, zone)))
    end = FOREVER if following is None else to_micros(_midnight(following, zone))
    return Interval(start, FOREVER if end > LAST_INSTANT else end, precision)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _day_after(day: date) -> date | None:
    """``None`` after the last day there is."""
    return None if day == date.max else day + timedelta(days=1)


def _first_of_month_after(day: date) -> date | None:
    last_possible = date.max.replace(day=1)
    return None if day >= last_possible else (day.replace(day=1) + timedelta(days=31)).replace(day=1)


def in_range(micros: int) -> int:
    """The same, if ``datetime`` can state it in UTC (years 1 to 9999), else ``ValueError``."""
    if not FIRST_INSTANT <= micros <= LAST_INSTANT:
        raise ValueError("outside years 1 to 9999 in UTC")
    return micros


VARIABLE = "SIMONIDES_ZONE"

_OFFSET: Final = re.compile(r"(?:UTC)?([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_LONGEST_NAME: Final = 60


def read_zone(value: object, place: str = "zone") -> tzinfo:
    """A zone as a ``tzinfo`` or a name gives it; ``InputError`` when there is no such zone."""
    if isinstance(value, tzinfo):
        return value
    if not isinstance(value, str):
        raise InputError(place, f"expected a time zone such as 'Europe/Berlin', got {shown(value)}")
    name = value.strip()
    if name.upper() == "UTC":  # known without time zone data
        return UTC
    if offset := _OFFSET.fullmatch(name):
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-length if offset[1] == "-" else length)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    raise InputError(place, f"{shown(value)} is no time zone; {_remedy(name)}")


def default_zone(environ: Mapping[str, str]) -> tzinfo:
    """The zone where the call and the bank state none: ``SIMONIDES_ZONE``, else the system's."""
    written = environ.get(VARIABLE, "").strip()
    return read_zone(written, VARIABLE) if written else _system_zone()


def _system_zone() -> tzinfo:
    from tzlocal import get_localzone  # noqa: PLC0415 only where nothing is set

    with warnings.catch_warnings():
        # A machine without any setting is on UTC; one that contradicts itself goes by the file of its clock.
        warnings.simplefilter("ignore")
        try:
            return get_localzone()
        except (KeyError, ValueError, OSError):
            return UTC


def _remedy(name: str) -> str:
    known = sorted(available_timezones() - {"localtime"})
    if not known:
        return "this machine has no time zone data: install it with pip install tzdata, or name an offset"
    folded = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name[:_LONGEST_NAME].lower(), folded, n=1)
    return f"did you mean {folded[close[0]]}?" if close else "names are like Europe/Berlin, UTC or +02:00"
