"""What expressions mean: the tables beside this file, and what a table cannot show."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from simonides.errors import InputError
from simonides.records.interval import BEGINNING, FOREVER, Precision, from_micros, to_micros
from simonides.text.times.expressions import find_times, parse_time_expression

if TYPE_CHECKING:
    from datetime import tzinfo

    from simonides.records.interval import Interval

HERE = Path(__file__).parent
BERLIN = ZoneInfo("Europe/Berlin")
ANCHORS = {
    "leap day": datetime(2028, 2, 29, 10, tzinfo=BERLIN),
    "the 31st": datetime(2027, 1, 31, 10, tzinfo=BERLIN),
    "change of clock": datetime(2027, 3, 28, 10, tzinfo=BERLIN),
    "end of a year": datetime(2027, 12, 31, 23, 30, tzinfo=BERLIN),
}
# A Wednesday.
NOW = datetime(2027, 3, 10, 10, tzinfo=BERLIN)


def rows(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if not line.startswith("#")]


RELATIVE, ABSOLUTE = rows("relative.txt"), rows("absolute.txt")


def read(text: str, anchor: datetime = NOW, zone: tzinfo = BERLIN, *, southern: bool = False) -> Interval:
    found = parse_time_expression(text, anchor=anchor, zone=zone, southern=southern)
    assert found is not None, text
    assert found.text == text
    return found.interval


def expected(cell: str, precision: str, zone: tzinfo = BERLIN) -> tuple[int, int, str]:
    """A cell of a table: one day, one instant, or a start and an end."""

    def micros(text: str, day: int = 0) -> int:
        moment = datetime.fromisoformat(text)
        return to_micros(moment if moment.tzinfo else (moment + timedelta(days=day)).replace(tzinfo=zone))

    parts = cell.split()
    if len(parts) == 1:
        return micros(cell), micros(cell, day=1 if precision == "day" else 0), precision
    start, end = parts
    return (
        BEGINNING if start == "…" else micros(start),
        FOREVER if end == "…" else micros(end),
        precision,
    )


def local(interval: Interval, zone: tzinfo = BERLIN) -> list[str | None]:
    ends = from_micros(interval.start), from_micros(interval.end)
    return [moment.astimezone(zone).isoformat() if moment else None for moment in ends]


def test_the_tables_are_as_large_as_they_should_be() -> None:
    assert len(RELATIVE) >= 120
    assert len({row[0] for row in RELATIVE + ABSOLUTE}) == len(RELATIVE) + len(ABSOLUTE)
    assert all(len(row) == 2 + len(ANCHORS) for row in RELATIVE)


@pytest.mark.spec("DF-07")
@pytest.mark.fault("T2")
@pytest.mark.parametrize(("name", "anchor"), ANCHORS.items(), ids=ANCHORS)
@pytest.mark.parametrize("row", RELATIVE, ids=lambda row: row[0])
def test_relative(row: list[str], name: str, anchor: datetime) -> None:
    text, precision, *cells = row
    found = read(text, anchor)
    assert (found.start, found.end, found.precision) == expected(cells[list(ANCHORS).index(name)], precision)


@pytest.mark.spec("DF-07")
@pytest.mark.fault("T2")
@pytest.mark.parametrize("row", ABSOLUTE, ids=lambda row: row[0])
def test_absolute(row: list[str]) -> None:
    text, precision, cell = row
    for anchor in ANCHORS.values():
        found = read(text, anchor)
        assert (found.start, found.end, found.precision) == expected(cell, precision)


_LED_IN = (
    "on ",
    "in ",
    "at ",
    "from ",
    "between ",
    "since ",
    "until ",
    "before ",
    "after ",
    "by ",
    "during ",
    "prior ",
)


@pytest.mark.parametrize(
    "carrier", ["It was {}.", "the plan from {}, which", "for {}", "({}):", "about {} and more"]
)
def test_an_expression_means_the_same_within_a_sentence(carrier: str) -> None:
    for text, *_ in ABSOLUTE:
        if text.startswith(_LED_IN):
            continue
        (found,) = find_times(carrier.format(text), anchor=NOW, zone=BERLIN)
        assert found.text.removeprefix("for ").removeprefix("from ") == text
        assert found.interval == read(text)


@pytest.mark.fault("T2")
@pytest.mark.parametrize(
    ("text", "cell", "precision"),
    [
        ("last Friday", "2027-03-05", "day"),
        ("the day before yesterday", "2027-03-08", "day"),
        ("last week", "2027-03-01 2027-03-08", "week"),
        ("in March", "2027-03-01 2027-04-01", "month"),
        ("in December", "2026-12-01 2027-01-01", "month"),
        ("last spring", "2026-03-01 2026-06-01", "season"),
        ("last weekend", "2027-03-06 2027-03-08", "range"),
        ("Q3 2026", "2026-07-01 2026-10-01", "quarter"),
    ],
)
def test_the_published_examples(text: str, cell: str, precision: str) -> None:
    found = read(text)
    assert (found.start, found.end, found.precision) == expected(cell, precision)
    assert find_times(text, anchor=NOW, zone=BERLIN)[0].interval == found


@pytest.mark.spec("DF-07")
def test_a_year_is_a_year_and_not_its_first_day() -> None:
    assert local(read("in 2023")) == ["2023-01-01T00:00:00+01:00", "2024-01-01T00:00:00+01:00"]
    assert read("in 2023").precision is Precision.YEAR


@pytest.mark.fault("T3")
@pytest.mark.parametrize(
    ("zone", "anchor", "text", "start", "end", "hours"),
    [
        ("Europe/Berlin", "2026-10-26T09:00+01:00", "yesterday", "2026-10-24T22:00Z", "2026-10-25T23:00Z", 25),
        ("Europe/Berlin", "2027-03-29T09:00+02:00", "yesterday", "2027-03-27T23:00Z", "2027-03-28T22:00Z", 23),
        ("Europe/Berlin", "2026-10-25T01:30Z", "today", "2026-10-24T22:00Z", "2026-10-25T23:00Z", 25),
        ("Asia/Kolkata", "2026-10-26T01:00Z", "yesterday", "2026-10-24T18:30Z", "2026-10-25T18:30Z", 24),
        ("Asia/Kolkata", "2026-10-25T18:29Z", "today", "2026-10-24T18:30Z", "2026-10-25T18:30Z", 24),
        ("Asia/Kolkata", "2026-10-26T01:00Z", "two hours ago", "2026-10-25T22:30Z", "2026-10-25T23:30Z", 1),
        ("Pacific/Apia", "2026-10-26T01:00Z", "yesterday", "2026-10-24T11:00Z", "2026-10-25T11:00Z", 24),
        # Apia had no 30 December 2011.
        ("Pacific/Apia", "2011-12-31T09:00+14:00", "yesterday", "2011-12-29T10:00Z", "2011-12-30T10:00Z", 24),
        ("Pacific/Apia", "2011-12-29T09:00-10:00", "tomorrow", "2011-12-30T10:00Z", "2011-12-31T10:00Z", 24),
        ("Pacific/Apia", "2012-01-02T09:00+14:00", "December 2011", "2011-12-01T10:00Z", "2011-12-31T10:00Z", 720),
        # Beirut changes its clocks at midnight: 27 March 2022 starts at 01:00.
        ("Asia/Beirut", "2022-03-28T09:00+03:00", "yesterday", "2022-03-26T22:00Z", "2022-03-27T21:00Z", 23),
        # An hour that the clocks show twice is the later one here.
        ("Europe/Berlin", "2026-10-25T02:30+01:00", "an hour ago", "2026-10-25T00:00Z", "2026-10-25T01:00Z", 1),
    ],
)  # fmt: skip
def test_days_have_their_length_in_their_zone(
    zone: str, anchor: str, text: str, start: str, end: str, hours: int
) -> None:
    found = read(text, datetime.fromisoformat(anchor), ZoneInfo(zone))
    assert (found.start, found.end) == tuple(to_micros(datetime.fromisoformat(t)) for t in (start, end))
    assert found.end - found.start == hours * 3_600_000_000


@pytest.mark.fault("T3")
def test_rows_at_the_end_of_a_long_day_fall_on_the_right_side() -> None:
    found = read("yesterday", datetime.fromisoformat("2026-10-26T09:00+01:00"))
    inside, outside = (to_micros(datetime(2026, 10, 25, h, m, tzinfo=UTC)) for h, m in ((22, 30), (23, 5)))
    assert found.start <= inside < found.end
    assert not found.start <= outside < found.end


@pytest.mark.fault("T3")
def test_a_day_that_the_zone_skipped_is_no_day() -> None:
    anchor = datetime(2012, 6, 1, tzinfo=UTC)
    assert parse_time_expression("30 December 2011", anchor=anchor, zone=ZoneInfo("Pacific/Apia")) is None


@pytest.mark.fault("T3")
def test_the_zone_of_the_process_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {text: read(text) for text in ("yesterday", "at 3pm", "2023-05-08T10:00", "in March")}
    try:
        for zone in ("Pacific/Apia", "America/Los_Angeles"):
            monkeypatch.setitem(os.environ, "TZ", zone)
            time.tzset()
            assert {text: read(text) for text in before} == before
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_anchor_may_be_in_any_zone_or_in_none() -> None:
    same = [
        NOW,
        NOW.astimezone(UTC),
        NOW.astimezone(timezone(timedelta(hours=-11))),
        NOW.replace(tzinfo=None),
    ]
    assert len({read("yesterday", anchor) for anchor in same}) == 1
    assert read("two hours ago", NOW.replace(tzinfo=None)) == read("two hours ago")


@pytest.mark.parametrize(
    ("text", "northern", "southern"),
    [
        ("last summer", "2026-06-01 2026-09-01", "2026-12-01 2027-03-01"),
        ("last spring", "2026-03-01 2026-06-01", "2026-09-01 2026-12-01"),
        ("this winter", "2026-12-01 2027-03-01", "2027-06-01 2027-09-01"),
        ("next autumn", "2027-09-01 2027-12-01", "2028-03-01 2028-06-01"),
        ("summer 2024", "2024-06-01 2024-09-01", "2024-12-01 2025-03-01"),
        ("winter 2024", "2024-12-01 2025-03-01", "2024-06-01 2024-09-01"),
        ("in the summer", "2026-06-01 2026-09-01", "2026-12-01 2027-03-01"),
    ],
)
def test_seasons_of_both_hemispheres(text: str, northern: str, southern: str) -> None:
    for is_southern, cell in ((False, northern), (True, southern)):
        found = read(text, southern=is_southern)
        assert (found.start, found.end, found.precision) == expected(cell, "season")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("March", "2027-03-01"),
        ("Friday", "2027-03-05"),
        ("Q1", "2027-01-01"),
        ("summer", "2026-06-01"),
        ("the summer", "2026-06-01"),
    ],
)
def test_a_name_alone_is_a_time_only_when_it_is_the_whole_text(text: str, start: str) -> None:
    assert str(local(read(text))[0]).startswith(start)
    assert find_times(text, anchor=NOW, zone=BERLIN) == ()


@pytest.mark.parametrize(
    "text", ["", "  ", "...", "march", "may", "2031", "fall", "sun", "we", "yesterday or today"]
)
def test_what_is_no_single_expression(text: str) -> None:
    assert parse_time_expression(text, anchor=NOW, zone=BERLIN) is None


@pytest.mark.parametrize(
    "text", ['"last Friday"', "(last Friday)", "last Friday?", " last Friday.\n", "LAST FRIDAY"]
)
def test_punctuation_around_an_expression_and_its_case_do_not_matter(text: str) -> None:
    found = parse_time_expression(text, anchor=NOW, zone=BERLIN)
    assert found is not None
    assert found.interval == read("last Friday")
    assert found.text.lower() == "last friday"
    assert text[found.start : found.stop] == found.text


@pytest.mark.parametrize(
    ("text", "years"),
    [("in 1500", 1), ("in 2099", 1), ("in 1499", 0), ("in 2100", 0), ("before 1900", 1), ("before 1899", 0)],
)
def test_numbers_that_can_be_years(text: str, years: int) -> None:
    assert len(find_times(text, anchor=NOW, zone=BERLIN)) == years


@pytest.mark.parametrize(
    "text",
    [
        "9999 years ago", "in 9999 years", "tomorrow", "next year", "the next decade", "over the next year",
        "in 3 hours", "at 3pm", "last decade", "9000 months from now",
    ],
)  # fmt: skip
def test_what_leaves_the_calendar_is_no_time(text: str) -> None:
    last = datetime(9999, 12, 31, 22, tzinfo=UTC)
    for anchor in (last, datetime(1, 1, 1, 1, tzinfo=UTC), NOW):
        for mention in find_times(text, anchor=anchor, zone=UTC):
            assert mention.interval.start <= mention.interval.end
    assert find_times("next year", anchor=last, zone=UTC) == ()
    assert find_times("yesterday", anchor=datetime(1, 1, 1, 1, tzinfo=UTC), zone=UTC) == ()


@pytest.mark.parametrize(
    ("anchor", "zone", "field"),
    [
        ("2027-03-10", BERLIN, "anchor"),
        (NOW, "Europe/Berlin", "zone"),
        (datetime.max.replace(tzinfo=UTC), timezone(timedelta(hours=14)), "anchor"),
        (datetime.min.replace(tzinfo=UTC), timezone(timedelta(hours=-1)), "anchor"),
        (datetime(1, 1, 1), timezone(timedelta(hours=1)), "anchor"),  # noqa: DTZ001 - naive on purpose
    ],
)
def test_a_wrong_anchor_or_zone_is_named(anchor: datetime, zone: tzinfo, field: str) -> None:
    for read_any in (find_times, parse_time_expression):
        with pytest.raises(InputError, match=f"^{field}: "):
            read_any("yesterday", anchor=anchor, zone=zone)
