"""Texts are cleaned and cut so that they can be stored and nothing else of them is lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.records.interval import parse_time
from simonides.retain.importing.sources import clean_characters, cut, readable_time

ANY = st.text(st.characters(), max_size=60) | st.text(alphabet="a\0\ud83d\ude00\udc80 \n", max_size=60)


@given(ANY)
def test_any_text_can_be_stored_then(text: str) -> None:
    cleaned = clean_characters(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert clean_characters(cleaned) == cleaned
    if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert cleaned == text


@given(st.text(alphabet="ab é\U0001f600\n", max_size=200), st.integers(4, 40))
def test_any_text_is_cut_into_parts_that_fit(text: str, most: int) -> None:
    parts = cut(text, most)
    assert all(part.strip() and len(part.encode()) <= most for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
    if text.strip() and len(text.encode()) <= most:
        assert parts == [text]


def test_parts_end_where_a_line_or_word_does() -> None:
    assert cut("one two\nthree four", 12) == ["one two", "\nthree four"]
    assert cut("one two three", 9) == ["one two", " three"]


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.lists(st.none()))
def test_any_time_is_read_or_refused_with_a_reason(value: object) -> None:
    time, problem = readable_time(value)
    if time is not None:
        parse_time(time, "time")
        assert problem == ""
    else:
        assert problem or value in (None, "")


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-02-03T10:00:00.000Z", "2026-02-03T10:00:00.000Z"),
        (1_772_000_000, datetime.fromtimestamp(1_772_000_000, UTC)),
        (1_772_000_000_000, datetime.fromtimestamp(1_772_000_000, UTC)),
        (datetime(2026, 2, 3, tzinfo=UTC), datetime(2026, 2, 3, tzinfo=UTC)),
        ("3 February 2026", "2026-02-03"),
        ("3/2/2026", None),
        ("yesterday", None),
        (f"3 February 2026 {'x' * 200}", None),
    ],
)
def test_times(value: object, time: object) -> None:
    assert readable_time(value)[0] == time
