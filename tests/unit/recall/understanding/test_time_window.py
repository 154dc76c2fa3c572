from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from simonides.recall.understanding.times import TimeWindow, narrowest
from simonides.records.interval import FOREVER, Interval, Precision, to_micros
from simonides.testing.fakes import FakeView, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.query import Query

NOW = to_micros(datetime(2026, 3, 1, 9, tzinfo=UTC))


def understood(text: str, zone: str = "UTC", **changes: Any) -> Query:
    query = fake_query(text, **{"as_of": NOW, **changes})
    return TimeWindow().understand(FakeView.of([]), query, replace(fake_tools(), zone=ZoneInfo(zone)))


def time(text: str, **changes: Any) -> tuple[str, str] | None:
    found = understood(text, **changes).time
    return None if found is None else (day(found.start), day(found.end))


def day(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).isoformat()[:10]


@pytest.mark.spec("HI-02")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Odalys do in 2023?", ("2023-01-01", "2024-01-01")),
        ("What happened last spring?", ("2025-03-01", "2025-06-01")),
        ("What did Ines work on last year?", ("2025-01-01", "2026-01-01")),
        ("What was said from May to July 2025?", ("2025-05-01", "2025-08-01")),
        ("What did Tove do yesterday?", ("2026-02-28", "2026-03-01")),
        ("What does Tove like?", None),
    ],
)
def test_words_become_a_time(text: str, expected: tuple[str, str] | None) -> None:
    assert time(text) == expected


def test_relative_words_count_from_the_question_s_date() -> None:
    then = to_micros(datetime(2020, 7, 1, tzinfo=UTC))
    assert time("What did Ines do last year?", question_date=then) == ("2019-01-01", "2020-01-01")


def test_days_are_those_of_the_zone() -> None:
    found = understood("in 2023", zone="Asia/Tokyo").time
    assert found is not None
    assert found.start == to_micros(datetime(2022, 12, 31, 15, tzinfo=UTC))


def test_of_several_the_narrowest_is_taken() -> None:
    assert time("Was it in 2023 or on 5 May 2022?") == ("2022-05-05", "2022-05-06")
    assert narrowest([]) is None
    first, second, open_ = Interval(0, 5), Interval(7, 12), Interval(0, FOREVER, Precision.RANGE)
    assert narrowest([open_, first, second]) is first


def test_a_time_that_is_known_stays() -> None:
    known = Interval(1, 2)
    assert understood("in 2023", time=known).time is known


def test_a_viewpoint_without_a_date_is_noted() -> None:
    query = understood("last year", as_of=FOREVER)
    assert query.time is None
    assert query.notes == ("the viewpoint is no moment to count a time from",)
