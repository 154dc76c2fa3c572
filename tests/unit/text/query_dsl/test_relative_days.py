from __future__ import annotations

from datetime import date

import pytest

from simonides.text.dates import spell_days

SATURDAY = date(2026, 4, 18)


@pytest.mark.spec("JB-13")
@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what did I read 3 days ago", [date(2026, 4, 15)]),
        ("what did I read a week ago", [date(2026, 4, 11)]),
        ("what did I read TWO Weeks ago", [date(2026, 4, 4)]),
        ("two months ago", [date(2026, 2, 18)]),
        ("sixteen months ago", []),
        ("today", [SATURDAY]),
        ("Yesterday's tea", [date(2026, 4, 17)]),
        ("last week", [date(2026, 4, day) for day in range(11, 18)]),
        ("last Friday", [date(2026, 4, 17)]),
        ("last saturday", [date(2026, 4, 11)]),
        ("last  sunday", [date(2026, 4, 12)]),
        ("today and yesterday and today", [SATURDAY, date(2026, 4, 17)]),
        ("next week", []),
        ("blast weekly", []),
        ("999999 months ago", []),
        ("999999 days ago", []),
    ],
)
def test_days(question: str, days: list[date]) -> None:
    assert list(spell_days(question, SATURDAY).days) == days


@pytest.mark.spec("JB-13")
def test_days_that_a_shorter_month_lacks_run_on_into_the_next() -> None:
    assert spell_days("1 month ago", date(2026, 3, 31)).days == (date(2026, 3, 3),)
    assert spell_days("1 month ago", date(2028, 3, 31)).days == (date(2028, 3, 2),)


@pytest.mark.spec("JB-13")
def test_both_spellings_go_to_the_search_and_one_to_the_reader() -> None:
    spelled = spell_days("what did I watch 2 weeks ago last Friday?", SATURDAY)
    assert spelled.searched == (
        "what did I watch 2 weeks ago last Friday? 2026/04/04 2026-04-04 2026/04/17 2026-04-17"
    )
    assert spelled.expanded == ("what did I watch 2 weeks ago (around 2026/04/04) last Friday (2026/04/17)?")


@pytest.mark.spec("JB-13")
@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("what came first", " [Note: look for the earliest dated event]"),
        ("before the flood, the latest", " [Note: look for the earliest dated event]"),
        ("the most recent tea", " [Note: look for the most recently dated event]"),
        ("the last time we met", " [Note: look for the most recently dated event]"),
        ("the tea", ""),
    ],
)
def test_words_of_order_leave_a_note(question: str, note: str) -> None:
    assert spell_days(question, SATURDAY).expanded == question + note


def test_a_week_is_shown_from_its_first_to_its_last_day() -> None:
    assert spell_days("last week", SATURDAY).expanded == "last week (2026/04/11 to 2026/04/17)"
