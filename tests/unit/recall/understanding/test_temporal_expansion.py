from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from simonides.recall.understanding.times import TemporalExpansion
from simonides.records.interval import BEGINNING, to_micros
from simonides.testing.fakes import FakeView, fake_query, fake_tools

ASKED = to_micros(datetime(2026, 4, 18, 23, 30, tzinfo=UTC))
VIEW = FakeView.of([])


@pytest.mark.spec("JB-13")
def test_days_are_counted_from_the_questions_date() -> None:
    query = fake_query("tea yesterday", question_date=ASKED)
    found = TemporalExpansion().understand(VIEW, query, fake_tools())
    assert found == replace(query, spelled="tea yesterday 2026/04/17 2026-04-17")


@pytest.mark.spec("JB-13")
def test_days_are_the_callers() -> None:
    tools = replace(fake_tools(), zone=ZoneInfo("Asia/Tokyo"))
    found = TemporalExpansion().understand(VIEW, fake_query("tea today", question_date=ASKED), tools)
    assert found.spelled == "tea today 2026/04/19 2026-04-19"


@pytest.mark.spec("JB-13")
@pytest.mark.parametrize(
    ("text", "asked"), [("tea yesterday", None), ("tea", ASKED), ("tea today", BEGINNING)]
)
def test_without_a_date_or_a_day_nothing_is_spelled_out(text: str, asked: int | None) -> None:
    query = fake_query(text, as_of=ASKED, question_date=asked)
    assert TemporalExpansion().understand(VIEW, query, fake_tools()) == query


def test_a_day_that_the_zone_does_not_have_is_left_alone() -> None:
    first = to_micros(datetime(1, 1, 1, tzinfo=UTC))
    tools = replace(fake_tools(), zone=ZoneInfo("America/Lima"))
    query = fake_query("tea today", question_date=first)
    assert TemporalExpansion().understand(VIEW, query, tools) == query
