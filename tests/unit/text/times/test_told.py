"""What is told: plans look ahead, reports look back, and what is neither has no date.

The rules of ``told.txt`` are evaluated here by the standard library alone, day by day, so that the grammar is
compared with something that shares no code with it.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from simonides.text.times.expressions import find_stated_times

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.records.extraction import TimeMention

DAY = timedelta(days=1)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
MOMENTS = {
    "a Wednesday after midnight": datetime(2026, 11, 18, 0, 40),  # noqa: DTZ001 - read in each zone
    "a leap day": datetime(2028, 2, 29, 10),  # noqa: DTZ001
    "a change of clocks": datetime(2027, 3, 28, 10),  # noqa: DTZ001
    "the end of a year": datetime(2027, 12, 31, 23, 30),  # noqa: DTZ001
}
ZONES = ("Europe/Berlin", "America/Chicago", "Pacific/Kiritimati")
ROWS = [
    tuple(cell.strip() for cell in line.split("|"))
    for line in (Path(__file__).parent / "told.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Ends = tuple[datetime | None, datetime | None]


def search(today: date, step: int, fits: Callable[[date], bool]) -> date:
    """The first day that fits, from today on (1) or back (-1)."""
    day = today
    while not fits(day):
        day += step * DAY
    return day


def named_days(name: str, way: str, today: date) -> tuple[date, date]:
    """First and last day of what a name means: Monday, 3 June, May, 4-6 May, 28 December - 3 January."""
    step = 1 if way == "next" else -1
    if name in WEEKDAYS:
        found = search(today + step * DAY, step, lambda day: WEEKDAYS[day.weekday()] == name)
        return found, found
    if name in MONTHS:
        inside = search(today, step, lambda day: MONTHS[day.month - 1] == name)
        return span_around(inside, lambda day: MONTHS[day.month - 1] == name)
    edges = [part.strip() for part in name.split(" - ")]
    if len(edges) == 2:
        first, last = (part.split() for part in edges)
    else:
        days, month = name.split()
        first, last = ([day, month] for day in (days.split("-") * 2)[:2])

    def is_day(parts: list[str]) -> Callable[[date], bool]:
        return lambda day: [str(day.day), MONTHS[day.month - 1]] == parts

    if step > 0:  # the first that is not over
        stop = search(today, 1, is_day(last))
        return search(stop, -1, is_day(first)), stop
    start = search(today, -1, is_day(first))  # the latest that has begun
    return start, search(start, 1, is_day(last))


def span_around(inside: date, belongs: Callable[[date], bool]) -> tuple[date, date]:
    return (
        search(inside, -1, lambda day: not belongs(day - DAY)),
        search(inside, 1, lambda day: not belongs(day + DAY)),
    )


def unit_around(unit: str, today: date, count: int) -> tuple[date, date]:
    """The calendar unit so many units away."""

    def key(day: date) -> tuple[int, ...]:
        return {"week": day.isocalendar()[:2], "month": (day.year, day.month), "year": (day.year,)}[unit]

    first, last = span_around(today, lambda day: key(day) == key(today))
    if not count:
        return first, last
    step = 1 if count > 0 else -1
    return unit_around(unit, last + DAY if count > 0 else first - DAY, count - step)


def means(rule: str, today: date, zone: ZoneInfo) -> Ends | None:  # noqa: C901, PLR0911, PLR0912 - a rule a line
    """What a rule means: the moments between which it lies; one moment twice for an instant."""

    def at(day: date, hour: int = 0, minute: int = 0) -> datetime:
        days, hour = divmod(hour, 24)
        return datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone) + days * DAY

    def whole(first: date, last: date) -> Ends:
        return at(first), at(last + DAY)

    if rule == "none":
        return None
    if open_end := re.fullmatch(r"(until|from) (next|last) (.+)", rule):
        first, last = named_days(open_end[3], open_end[2], today)
        return (None, at(last + DAY)) if open_end[1] == "until" else (at(first), None)
    if stated := re.fullmatch(r"date (\S+)", rule):
        return whole(date.fromisoformat(stated[1]), date.fromisoformat(stated[1]))
    if stated := re.fullmatch(r"days (\S+) (\S+)", rule):
        return whole(date.fromisoformat(stated[1]), date.fromisoformat(stated[2]))
    if year := re.fullmatch(r"year (\d{4})", rule):
        return whole(date(int(year[1]), 1, 1), date(int(year[1]), 12, 31))
    if unit := re.fullmatch(r"(week|month|year) ([+-]\d)", rule):
        return whole(*unit_around(unit[1], today, int(unit[2])))
    if before := re.fullmatch(r"day before (next|last) (.+)", rule):
        eve = named_days(before[2], before[1], today)[0] - DAY
        return whole(eve, eve)
    if later := re.fullmatch(r"week of (\d+) days after (next|last) (.+)", rule):
        away = named_days(later[3], later[2], today)[0] + int(later[1]) * DAY
        return whole(*unit_around("week", away, 0))
    if rule == "weekend":
        sunday = search(today, 1, lambda day: day.weekday() == 6)
        return whole(sunday - DAY, sunday)
    if rule == "last weekend":
        saturday = search(today, -1, lambda day: day.weekday() == 5)
        return whole(saturday, saturday + DAY)
    timed = re.fullmatch(r"(day|next|last) (.+?)(?: at (\d\d):(\d\d)| hour (\d+)| (\d+)-(\d+))?", rule)
    assert timed is not None, rule
    way, name, hour, minute, only_hour, begin, end = timed.groups()
    first = last = today
    if way == "day":
        first = last = today + int(name) * DAY
    else:
        first, last = named_days(name, way, today)
    if hour:
        return (at(first, int(hour), int(minute)),) * 2
    if only_hour:
        return at(first, int(only_hour)), at(first, int(only_hour) + 1)
    if begin:
        return at(first, int(begin)), at(first, int(end))
    return whole(first, last)


def ends(mention: TimeMention) -> Ends:
    def moment(micros: int) -> datetime | None:
        return None if abs(micros) > 2**62 else EPOCH + timedelta(microseconds=micros)

    return moment(mention.interval.start), moment(mention.interval.end)


def test_there_are_enough_of_each() -> None:
    rules = [rule for _, rule in ROWS]
    assert len({text for text, _ in ROWS}) == len(ROWS) >= 200
    assert sum(rule.startswith("next") for rule in rules) >= 60
    assert sum(rule.startswith("last") for rule in rules) >= 60
    assert rules.count("none") >= 50


@pytest.mark.fault("N20")
@pytest.mark.fault("N25")
@pytest.mark.parametrize(("text", "rule"), ROWS, ids=[text for text, _ in ROWS])
def test_what_is_told_lies_where_its_tense_says(text: str, rule: str) -> None:
    for said in MOMENTS.values():
        for name in ZONES:
            zone = ZoneInfo(name)
            found = find_stated_times(text, anchor=said, zone=zone)
            right = means(rule, said.date(), zone)
            assert (ends(found[0]) if found else None) == right, (text, said, name, found)
