from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from simonides.errors import InputError
from simonides.records.interval import (
    BEGINNING,
    FOREVER,
    Interval,
    Precision,
    from_micros,
    parse_time,
    to_micros,
)

DAY = 24 * 60 * 60 * 1_000_000
EAST = timezone(timedelta(hours=5, minutes=30))
WEST = timezone(timedelta(hours=-5))


def micros(*parts: int) -> int:
    return to_micros(datetime(*parts, tzinfo=UTC))  # type: ignore[arg-type,misc]


def test_micros_are_exact_and_reversible() -> None:
    assert to_micros(datetime(1970, 1, 1, tzinfo=UTC)) == 0
    assert to_micros(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1
    moment = datetime(2026, 3, 10, 10, 0, 0, 123_457, tzinfo=EAST)
    assert from_micros(to_micros(moment)) == moment


def test_open_ends_have_no_datetime() -> None:
    assert from_micros(BEGINNING) is None
    assert from_micros(FOREVER) is None


@pytest.mark.parametrize(
    ("text", "start", "end", "precision"),
    [
        ("2026", micros(2026, 1, 1), micros(2027, 1, 1), Precision.YEAR),
        ("2026-03", micros(2026, 3, 1), micros(2026, 4, 1), Precision.MONTH),
        ("2026-12", micros(2026, 12, 1), micros(2027, 1, 1), Precision.MONTH),
        ("2024-02", micros(2024, 2, 1), micros(2024, 3, 1), Precision.MONTH),
        ("2026-03-10", micros(2026, 3, 10), micros(2026, 3, 11), Precision.DAY),
        ("20260310", micros(2026, 3, 10), micros(2026, 3, 11), Precision.DAY),
        (" 2026-12-31\n", micros(2026, 12, 31), micros(2027, 1, 1), Precision.DAY),
        ("2026-03-10T10:00", micros(2026, 3, 10, 10), micros(2026, 3, 10, 10), Precision.INSTANT),
        ("2026-03-10 10:00Z", micros(2026, 3, 10, 10), micros(2026, 3, 10, 10), Precision.INSTANT),
        ("2026-03-10T10:00+02:00", micros(2026, 3, 10, 8), micros(2026, 3, 10, 8), Precision.INSTANT),
        ("20260310T100000Z", micros(2026, 3, 10, 10), micros(2026, 3, 10, 10), Precision.INSTANT),
    ],
)
def test_a_text_keeps_the_precision_it_states(text: str, start: int, end: int, precision: Precision) -> None:
    assert parse_time(text, "event_time") == Interval(start, end, precision)


def test_dates_and_datetimes_are_read_too() -> None:
    assert parse_time(date(2026, 3, 10), "t") == parse_time("2026-03-10", "t")
    assert parse_time(datetime(2026, 3, 10, 10, tzinfo=EAST), "t").start == micros(2026, 3, 10, 4, 30)
    naive = datetime(2026, 3, 10, 10)  # noqa: DTZ001 - a naive time is the case
    assert parse_time(naive, "t", zone=EAST).start == micros(2026, 3, 10, 4, 30)


def test_values_without_a_zone_mean_the_given_one() -> None:
    assert parse_time("2026-03-10", "t", zone=EAST).start == micros(2026, 3, 10) - to_micros(
        datetime(1970, 1, 1, 5, 30, tzinfo=UTC)
    )
    assert parse_time("2026-03-10T10:00", "t", zone=WEST).start == micros(2026, 3, 10, 15)
    assert parse_time("2026-03-10T10:00Z", "t", zone=WEST).start == micros(2026, 3, 10, 10)


def test_a_day_on_which_clocks_change_is_not_24_hours_long() -> None:
    london = ZoneInfo("Europe/London")
    spring, autumn = (parse_time(day, "t", zone=london) for day in ("2026-03-29", "2026-10-25"))
    assert (spring.end - spring.start, autumn.end - autumn.start) == (DAY * 23 // 24, DAY * 25 // 24)


def test_the_last_year_month_and_day_end_at_forever() -> None:
    assert parse_time("9999", "t") == Interval(micros(9999, 1, 1), FOREVER, Precision.YEAR)
    assert parse_time("9999-12", "t") == Interval(micros(9999, 12, 1), FOREVER, Precision.MONTH)
    assert parse_time("9999-12-31", "t") == Interval(micros(9999, 12, 31), FOREVER, Precision.DAY)
    assert parse_time(date.max, "t").end == FOREVER
    assert parse_time("9999-12-30", "t").end == micros(9999, 12, 31)


@pytest.mark.parametrize("text", ["0001", "0001-01-01", "9999", "9999-12-31", "9999-12-31T23:59:59.999999"])
def test_both_ends_of_what_is_read_have_a_datetime_or_are_open(text: str) -> None:
    read = parse_time(text, "t")
    assert from_micros(read.start) is not None
    assert read.end == FOREVER or from_micros(read.end) is not None


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        ("0001-01-01", EAST),
        ("0001-01-01T00:00+05:30", UTC),
        (datetime.min.replace(tzinfo=EAST), UTC),
        (datetime.max.replace(tzinfo=WEST), UTC),
        ("9999-12-31T23:00-05:00", UTC),
    ],
)
def test_an_offset_cannot_carry_a_time_out_of_the_years_of_utc(value: object, zone: tzinfo) -> None:
    with pytest.raises(InputError, match="outside years 1 to 9999 in UTC"):
        parse_time(value, "t", zone=zone)


def test_a_day_whose_end_an_offset_carries_out_ends_at_forever() -> None:
    assert parse_time("9999-12-31", "t", zone=WEST) == Interval(
        micros(9999, 12, 31, 5), FOREVER, Precision.DAY
    )


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "yesterday",
        "0000",
        "10000",
        "10000-01-01",
        "2026-13",
        "2026-00",
        "2026-02-30",
        "2026-3-1",
        "202603",
        "2026-069",
        "2026-W10",
        "2026-W10-2",
        "2026-03-10T25:00",
        "2026-03-10T",
        "10:00",
        "２０２６",
        "2026-03-1０",
        "2026-03-10\0",
        "\ud83d",
        pytest.param("x" * 10_000_000, id="long"),
    ],
)
@pytest.mark.fault("L6")
def test_what_is_no_time_is_refused_by_name_in_a_short_message(value: object) -> None:
    with pytest.raises(InputError, match="is not a valid date or time") as caught:
        parse_time(value, "items[0].event_time")
    assert caught.value.field == "items[0].event_time"
    assert len(str(caught.value).encode("utf-8")) < 250


@pytest.mark.parametrize("text", ["2026-03-10+05:00", "2026-03-10-05:00", "2026-03-10x10:00"])
def test_a_day_with_an_offset_is_not_mistaken_for_a_time_of_day(text: str) -> None:
    with pytest.raises(InputError, match="not ISO 8601"):
        parse_time(text, "t")


@pytest.mark.parametrize(("value", "name"), [(5, "int"), (True, "bool"), (1.5, "float"), (b"2026", "bytes")])
def test_other_types_are_refused(value: object, name: str) -> None:
    with pytest.raises(InputError, match=f"got {name}"):
        parse_time(value, "t")


@pytest.mark.parametrize(
    ("interval", "window", "meets"),
    [
        (Interval(10, 10), (10, 20), True),
        (Interval(20, 20), (10, 20), False),
        (Interval(9, 9), (10, 20), False),
        (Interval(0, 10), (10, 20), False),
        (Interval(0, 11), (10, 20), True),
        (Interval(19, 30), (10, 20), True),
        (Interval(20, 30), (10, 20), False),
        (Interval(0, 30), (10, 20), True),
        (Interval(12, 13), (BEGINNING, FOREVER), True),
    ],
)
def test_overlap_is_half_open(interval: Interval, window: tuple[int, int], *, meets: bool) -> None:
    assert interval.overlaps(*window) is meets
