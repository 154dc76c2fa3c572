from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision, parse_time, to_micros
from simonides.text.dates import spell_date


@pytest.mark.spec("DF-07")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2023", "2023"),
        ("2023-05", "May 2023"),
        ("2023-05-08", "8 May 2023"),
        ("2023-05-08T13:56", "8 May 2023"),
        ("0001-01-01", "1 January 1"),
        ("9999", "9999"),
        ("9999-12-31", "31 December 9999"),
    ],
)
def test_words_say_no_more_than_is_known(given: str, expected: str) -> None:
    assert spell_date(parse_time(given, "when")) == expected


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "Europe/Berlin", "UTC", "America/Los_Angeles"])
@pytest.mark.parametrize(
    ("given", "expected"), [("2023-05-08", "8 May 2023"), ("2023-05", "May 2023"), ("2023", "2023")]
)
def test_a_day_is_the_day_of_the_zone_that_it_was_told_in(zone: str, given: str, expected: str) -> None:
    assert spell_date(parse_time(given, "when", zone=ZoneInfo(zone))) == expected


def span(start: str, length: timedelta, precision: Precision) -> Interval:
    first = to_micros(datetime.fromisoformat(start).replace(tzinfo=UTC))
    return Interval(first, first + length // timedelta(microseconds=1), precision)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (span("2023-05-08", timedelta(days=7), Precision.WEEK), "8 May 2023 to 14 May 2023"),
        (span("2023-04-01", timedelta(days=91), Precision.QUARTER), "1 April 2023 to 30 June 2023"),
        (span("2023-05-08T15:00", timedelta(hours=2), Precision.RANGE), "8 May 2023"),
        (span("2023-05-08T23:00", timedelta(hours=1), Precision.HOUR), "8 May 2023"),
    ],
)
def test_a_span_has_its_first_and_last_day(interval: Interval, expected: str) -> None:
    assert spell_date(interval) == expected


def test_open_ends() -> None:
    first = to_micros(datetime(2019, 3, 1, tzinfo=UTC))
    assert spell_date(Interval(first, FOREVER, Precision.RANGE)) == "1 March 2019"
    assert spell_date(Interval(BEGINNING, BEGINNING, Precision.INSTANT)) == ""
