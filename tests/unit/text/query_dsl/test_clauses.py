from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from simonides.errors import QuerySyntaxError
from simonides.records.interval import BEGINNING, FOREVER, to_micros
from simonides.records.kind import Kind
from simonides.text.query_dsl import Conditions, parse_query, read_clauses


def conditions(query: str) -> Conditions:
    return read_clauses(parse_query(query, syntax="extended"), UTC)


def at(year: int, month: int, day: int, hour: int = 0) -> int:
    return to_micros(datetime(year, month, day, hour, tzinfo=UTC))


def test_clauses_add_up() -> None:
    found = conditions('tag:work pump kind:code kind:DECISION tag:"night shift" entity:Odalys entity:Odalys')
    assert found == Conditions(
        tags=("night shift", "work"), kinds=(Kind.DECISION, Kind.CODE), entities=("Odalys",)
    )


@pytest.mark.parametrize(
    ("query", "window"),
    [
        ("after:2026-03", (at(2026, 4, 1), FOREVER)),
        ("before:2026-03", (BEGINNING, at(2026, 3, 1))),
        ("after:2025 before:2026-03-10", (at(2026, 1, 1), at(2026, 3, 10))),
        ("after:2025 after:2026", (at(2027, 1, 1), FOREVER)),
        ("after:2026-03-10T10:00Z", (at(2026, 3, 10, 10) + 1, FOREVER)),
        ("pump", None),
    ],
)
def test_dates_leave_a_window(query: str, window: tuple[int, int] | None) -> None:
    assert conditions(query).window == window


def test_dates_mean_the_callers_zone() -> None:
    parsed = parse_query("before:2026-03-01", syntax="extended")
    found = read_clauses(parsed, ZoneInfo("Asia/Tokyo"))
    assert found.window == (BEGINNING, at(2026, 2, 28, 15))


@pytest.mark.parametrize(
    ("query", "position", "says"),
    [
        ("pump kind:cod", 5, "no kind 'cod'"),
        ("pump before:soon", 5, "not a valid date"),
        ("after:2026 pump before:2026", 16, "no time between"),
    ],
)
def test_a_wrong_value_is_said_with_its_place(query: str, position: int, says: str) -> None:
    with pytest.raises(QuerySyntaxError, match=says) as caught:
        conditions(query)
    assert caught.value.position == position
