"""Time expressions: properties over any text and any moment, and families against a reckoning day by day."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simonides.records.interval import BEGINNING, FOREVER, Precision, from_micros, to_micros
from simonides.text.times.expressions import GRAMMAR, find_times, parse_time_expression
from simonides.text.times.lexer import vocabulary

ZONES = [UTC, *map(ZoneInfo, ("Europe/Berlin", "Pacific/Apia", "Asia/Kolkata", "America/Sao_Paulo"))]
ANYTHING = st.text(st.characters())  # lone surrogates and NUL included
FORMS = [
    "8", "8th", "31", "2023", "1990s", "'90s", "Q3", "H1", "10:00", "3pm", "2024-05-08", "2024-05", "2026-W12",
    "2024-05-08T10:00Z", "3-5", "mid-2025", "13.05.2023", ",", ".", "-", "–", "?", "\n", "\n\n", "'", "'s", "were",
    "will", "files", "I", "Mira", "every",
]  # fmt: skip
WORDS = [*sorted(vocabulary(GRAMMAR.words)), *FORMS]
WORDY = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive
ANY_MOMENT = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive


@given(st.one_of(ANYTHING, WORDY), ANY_MOMENT, st.sampled_from(ZONES), st.booleans())
@example("in 2 weeks 2024-05-08T10:00", datetime(9999, 12, 28, tzinfo=UTC), UTC, True)
def test_any_text_has_ordered_mentions_with_true_spans_and_intervals(
    text: str, anchor: datetime, zone: ZoneInfo, southern: bool
) -> None:
    found = find_times(text, anchor=anchor, zone=zone, southern=southern)
    for mention in found:
        assert 0 <= mention.start < mention.stop <= len(text)
        assert text[mention.start : mention.stop] == mention.text
        interval = mention.interval
        assert interval.start < interval.end or interval.precision is Precision.INSTANT
        for end in {interval.start, interval.end} - {BEGINNING, FOREVER}:
            assert from_micros(end) is not None
    assert all(a.stop <= b.start for a, b in pairwise(found))
    assert find_times(text, anchor=anchor, zone=zone, southern=southern) == found


@given(WORDY, MOMENTS)
def test_a_text_that_is_one_expression_is_one_wherever_it_stands(text: str, anchor: datetime) -> None:
    whole = parse_time_expression(text, anchor=anchor, zone=UTC)
    padded = parse_time_expression(f"  ({text}) ", anchor=anchor, zone=UTC)
    assert (whole is None) == (padded is None)
    if whole is not None and padded is not None:
        assert whole.interval == padded.interval
        assert padded.start == whole.start + 3


@given(WORDY, WORDY, MOMENTS)
def test_paragraphs_do_not_touch_each_other(first: str, second: str, anchor: datetime) -> None:
    def found(text: str) -> list[tuple[str, int]]:
        return [(m.text, m.interval.start) for m in find_times(text, anchor=anchor, zone=UTC)]

    assert found(f"{first}\n\n{second}") == found(first) + found(second)


RELATIVE = [
    "today", "yesterday", "the day after tomorrow", "last week", "the week before last", "next weekend",
    "last Friday", "this Monday", "next Sunday", "on Tuesday", "three days ago", "two weeks ago",
    "a few days ago", "in two weeks", "in the last 10 days", "over the past three weeks", "a week from Friday",
    "since yesterday", "before last week", "earlier this week", "late last week", "tonight", "at 3pm",
    "yesterday at 10:30", "two hours ago", "five minutes ago", "in the past 24 hours", "two weekends ago",
    "the Friday before last", "from last Monday to yesterday", "the week after next", "last night",
]  # fmt: skip


@given(st.sampled_from(RELATIVE), MOMENTS, st.integers(-2_000, 2_000))
def test_moving_the_anchor_by_whole_weeks_moves_what_counts_in_days(
    text: str, anchor: datetime, weeks: int
) -> None:
    zone = (
        ZoneInfo("Asia/Kolkata")
        if anchor.year > 1945 and (anchor + timedelta(weeks=weeks)).year > 1945
        else UTC
    )
    step = timedelta(weeks=weeks)
    here, there = (parse_time_expression(text, anchor=a, zone=zone) for a in (anchor, anchor + step))
    assert here is not None
    assert there is not None
    moved = weeks * 7 * 86_400 * 1_000_000
    for before, after in (
        (here.interval.start, there.interval.start),
        (here.interval.end, there.interval.end),
    ):
        assert after == (before if before in {BEGINNING, FOREVER} else before + moved)


def whole_days(text: str, anchor: datetime) -> tuple[date, date]:
    """The days of an expression in UTC: the first, and the one after the last."""
    found = parse_time_expression(text, anchor=anchor, zone=UTC)
    assert found is not None, text
    start, end = from_micros(found.interval.start), from_micros(found.interval.end)
    assert start is not None
    assert end is not None
    assert start.time() == end.time()
    return start.date(), end.date()


def all_days(test: object, day: date) -> tuple[date, date]:
    """All days around *day* that pass a test, as the first and the one after the last."""
    assert callable(test)
    first = last = day
    while test(first - timedelta(days=1)):
        first -= timedelta(days=1)
    while test(last + timedelta(days=1)):
        last += timedelta(days=1)
    return first, last + timedelta(days=1)


@pytest.mark.fault("T2")
@given(MOMENTS, st.integers(0, 400))
def test_days_and_weeks_are_counted_one_by_one(anchor: datetime, count: int) -> None:
    day = anchor.date()
    for _ in range(count):
        day -= timedelta(days=1)
    assert whole_days(f"{count} days ago", anchor) == (day, day + timedelta(days=1))
    week = all_days(lambda d: d.isocalendar()[:2] == day.isocalendar()[:2], day)
    assert count % 7 or whole_days(f"{count // 7} weeks ago", anchor) == week


@pytest.mark.fault("T2")
@given(MOMENTS, st.integers(0, 60))
@example(datetime(2027, 5, 31, tzinfo=UTC), 3)
@example(datetime(2028, 2, 29, tzinfo=UTC), 12)
def test_months_and_years_are_counted_one_by_one(anchor: datetime, count: int) -> None:
    year, month = anchor.year, anchor.month
    for _ in range(count):
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    last = calendar.monthrange(year, month)[1]
    assert whole_days(f"{count} months ago", anchor) == (
        date(year, month, 1),
        date(year, month, last) + timedelta(days=1),
    )
    assert whole_days(f"{count} years ago", anchor) == (
        date(anchor.year - count, 1, 1),
        date(anchor.year - count + 1, 1, 1),
    )
    same_day = date(year, month, min(anchor.day, last))
    assert whole_days(f"{count} months ago today", anchor) == (same_day, same_day + timedelta(days=1))


@pytest.mark.fault("T2")
@given(MOMENTS, st.sampled_from(list(calendar.day_name)))
def test_weekdays_are_the_nearest_ones(anchor: datetime, name: str) -> None:
    today = anchor.date()
    weekday = list(calendar.day_name).index(name)
    before = next(d for d in (today - timedelta(days=n) for n in range(1, 8)) if d.weekday() == weekday)
    after = next(d for d in (today + timedelta(days=n) for n in range(1, 8)) if d.weekday() == weekday)
    assert whole_days(f"last {name}", anchor)[0] == before
    assert whole_days(f"on {name}", anchor)[0] == before
    assert whole_days(f"this coming {name}", anchor)[0] == after
    assert whole_days(f"the {name} before last", anchor)[0] == before - timedelta(days=7)


@pytest.mark.fault("T2")
@given(MOMENTS, st.integers(1, 12))
def test_a_month_without_a_year_is_the_latest_that_has_started(anchor: datetime, month: int) -> None:
    today = anchor.date()
    first = next(
        date(year, month, 1) for year in (today.year, today.year - 1) if date(year, month, 1) <= today
    )
    name = calendar.month_name[month]
    last = date(first.year, month, calendar.monthrange(first.year, month)[1])
    assert whole_days(f"in {name}", anchor) == (first, last + timedelta(days=1))
    assert whole_days(f"{name} {first.year}", anchor) == (first, last + timedelta(days=1))


@pytest.mark.fault("T3")
@given(MOMENTS, st.sampled_from(ZONES))
def test_days_meet_without_gap_or_overlap_in_every_zone(anchor: datetime, zone: ZoneInfo) -> None:
    found = [parse_time_expression(t, anchor=anchor, zone=zone) for t in ("yesterday", "today", "tomorrow")]
    yesterday, today, tomorrow = (mention.interval for mention in found if mention)
    assert yesterday.end == today.start <= to_micros(anchor) < today.end == tomorrow.start
