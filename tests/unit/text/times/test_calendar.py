from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from simonides.records.interval import Precision, to_micros
from simonides.text.times.calendar import (
    Period,
    Unit,
    clock_hour,
    days_from,
    half,
    holding,
    interval,
    midnight,
    months_from,
    moved,
    season,
    shift,
    single,
    third,
    weekday_in,
    weekend,
)

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3_600_000_000


def days(period: Period) -> tuple[str, str]:
    return period.first.isoformat(), period.following.isoformat()


@pytest.mark.parametrize(
    ("day", "count", "unit", "expected"),
    [
        ("2027-01-31", 1, Unit.MONTH, "2027-02-28"),
        ("2028-01-31", 1, Unit.MONTH, "2028-02-29"),
        ("2027-03-31", -1, Unit.MONTH, "2027-02-28"),
        ("2027-05-31", 1, Unit.MONTH, "2027-06-30"),
        ("2028-02-29", -1, Unit.YEAR, "2027-02-28"),
        ("2028-02-29", -4, Unit.YEAR, "2024-02-29"),
        ("2028-02-29", 1, Unit.DECADE, "2038-02-28"),
        ("2027-12-31", 2, Unit.MONTH, "2028-02-29"),
        ("2027-11-30", 1, Unit.QUARTER, "2028-02-29"),
        ("2027-03-10", -14, Unit.MONTH, "2026-01-10"),
        ("2027-03-10", -1, Unit.FORTNIGHT, "2027-02-24"),
        ("2027-03-10", 2, Unit.WEEK, "2027-03-24"),
        ("2027-03-10", 0, Unit.MONTH, "2027-03-10"),
    ],
)
def test_shift_keeps_the_day_of_the_month_or_takes_the_last(
    day: str, count: int, unit: Unit, expected: str
) -> None:
    assert shift(date.fromisoformat(day), count, unit) == date.fromisoformat(expected)


@pytest.mark.parametrize(("day", "count"), [("9999-12-31", 1), ("0001-01-01", -1)])
@pytest.mark.parametrize("unit", [Unit.DAY, Unit.WEEK, Unit.MONTH, Unit.YEAR])
def test_shift_refuses_to_leave_the_calendar(day: str, count: int, unit: Unit) -> None:
    with pytest.raises((ValueError, OverflowError)):
        shift(date.fromisoformat(day), count, unit)


@pytest.mark.parametrize(
    ("unit", "first", "following", "precision"),
    [
        (Unit.DAY, "2027-12-31", "2028-01-01", Precision.DAY),
        (Unit.WEEK, "2027-12-27", "2028-01-03", Precision.WEEK),
        (Unit.FORTNIGHT, "2027-12-27", "2028-01-03", Precision.WEEK),
        (Unit.MONTH, "2027-12-01", "2028-01-01", Precision.MONTH),
        (Unit.QUARTER, "2027-10-01", "2028-01-01", Precision.QUARTER),
        (Unit.YEAR, "2027-01-01", "2028-01-01", Precision.YEAR),
        (Unit.DECADE, "2020-01-01", "2030-01-01", Precision.RANGE),
    ],
)
def test_the_unit_that_holds_a_day(unit: Unit, first: str, following: str, precision: Precision) -> None:
    found = holding(date(2027, 12, 31), unit)
    assert days(found) == (first, following)
    assert found.precision is precision


def test_weekends_belong_to_the_week_that_starts_on_monday() -> None:
    monday = date(2027, 3, 8)
    for distance in range(7):
        assert days(weekend(monday + timedelta(days=distance))) == ("2027-03-13", "2027-03-15")


def test_seasons() -> None:
    north = [days(season(2027, which, southern=False)) for which in range(4)]
    south = [days(season(2027, which, southern=True)) for which in range(4)]
    assert north == [
        ("2027-03-01", "2027-06-01"),
        ("2027-06-01", "2027-09-01"),
        ("2027-09-01", "2027-12-01"),
        ("2027-12-01", "2028-03-01"),
    ]
    assert south == [north[2], north[3], north[0], north[1]]


@pytest.mark.parametrize(
    ("weekday", "place", "expected"),
    [
        (0, 1, "2027-03-01"),
        (0, 5, "2027-03-29"),
        (6, 1, "2027-03-07"),
        (2, -1, "2027-03-31"),
        (3, -1, "2027-03-25"),
    ],
)
def test_the_nth_weekday(weekday: int, place: int, expected: str) -> None:
    march = months_from(2027, 3, 1, Precision.MONTH)
    assert weekday_in(march, weekday, place).isoformat() == expected


def test_a_month_has_no_fifth_thursday_unless_it_has() -> None:
    with pytest.raises(ValueError, match="no such day"):
        weekday_in(months_from(2027, 3, 1, Precision.MONTH), 3, 5)
    with pytest.raises(ValueError, match="no such day"):
        weekday_in(single(date(2027, 3, 1)), 3, -1)


PERIODS = {
    "week": holding(date(2027, 3, 10), Unit.WEEK),
    "month": holding(date(2027, 2, 10), Unit.MONTH),
    "quarter": holding(date(2027, 3, 10), Unit.QUARTER),
    "season": season(2027, 3, southern=False),
    "year": holding(date(2028, 3, 10), Unit.YEAR),
    "decade": holding(date(2027, 3, 10), Unit.DECADE),
}


@pytest.mark.parametrize(
    ("name", "cuts"),
    [
        ("week", ["2027-03-08", "2027-03-10", "2027-03-12", "2027-03-15"]),
        ("month", ["2027-02-01", "2027-02-11", "2027-02-21", "2027-03-01"]),
        ("quarter", ["2027-01-01", "2027-02-01", "2027-03-01", "2027-04-01"]),
        ("season", ["2027-12-01", "2028-01-01", "2028-02-01", "2028-03-01"]),
        ("year", ["2028-01-01", "2028-05-01", "2028-09-01", "2029-01-01"]),
        ("decade", ["2020-01-01", "2024-01-01", "2027-01-01", "2030-01-01"]),
    ],
)
def test_thirds(name: str, cuts: list[str]) -> None:
    assert [days(third(PERIODS[name], which)) for which in range(3)] == list(pairwise(cuts))


@pytest.mark.parametrize(
    ("name", "middle"), [("month", "2027-02-16"), ("year", "2028-07-01"), ("decade", "2025-01-01")]
)
def test_halves(name: str, middle: str) -> None:
    whole = days(PERIODS[name])
    assert [days(half(PERIODS[name], which)) for which in range(2)] == [
        (whole[0], middle),
        (middle, whole[1]),
    ]


def test_what_has_no_parts() -> None:
    with pytest.raises(ValueError, match="thirds"):
        third(single(date(2027, 3, 10)), 0)
    with pytest.raises(ValueError, match="halves"):
        half(PERIODS["week"], 0)


def test_a_change_of_clocks_makes_a_day_longer_or_shorter() -> None:
    lengths = []
    for day in (date(2027, 3, 28), date(2027, 3, 29), date(2027, 10, 31)):
        found = interval(single(day), BERLIN)
        lengths.append((found.end - found.start) // HOUR)
    assert lengths == [23, 24, 25]


def test_an_interval_is_never_empty() -> None:
    with pytest.raises(ValueError, match="empty"):
        interval(single(date(2011, 12, 30)), ZoneInfo("Pacific/Apia"))
    with pytest.raises(ValueError, match="empty"):
        interval(days_from(date(2027, 3, 10), 0), UTC)


def test_an_interval_stays_in_the_years_of_utc() -> None:
    with pytest.raises(ValueError, match="outside years 1 to 9999"):
        interval(single(date(1, 1, 1)), ZoneInfo("Asia/Kolkata"))
    with pytest.raises(OverflowError):
        single(date.max)


def test_midnight_where_the_clocks_skip_it_is_the_moment_they_do() -> None:
    assert midnight(date(2022, 3, 27), ZoneInfo("Asia/Beirut")).astimezone(UTC) == datetime(
        2022, 3, 26, 22, tzinfo=UTC
    )


def test_exact_lengths_do_not_follow_the_clock() -> None:
    after = moved(datetime(2027, 3, 28, 1, 30, tzinfo=BERLIN), timedelta(hours=1))
    assert after.isoformat() == "2027-03-28T03:30:00+02:00"


def test_an_hour_that_comes_twice_is_the_one_that_was_meant() -> None:
    first, second = (datetime(2026, 10, 25, 2, 30, fold=fold, tzinfo=BERLIN) for fold in (0, 1))
    assert clock_hour(first).start == to_micros(datetime(2026, 10, 25, 0, tzinfo=UTC))
    assert clock_hour(second).start == to_micros(datetime(2026, 10, 25, 1, tzinfo=UTC))
