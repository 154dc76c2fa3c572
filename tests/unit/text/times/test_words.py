from __future__ import annotations

import re
from pathlib import Path

import pytest

import simonides.text.times as package
from simonides.text.times import calendar as english
from simonides.text.times.calendar import Unit, spellings, word_list, word_set
from simonides.text.times.lexer import vocabulary

ROOM = Path(package.__path__[0])


def test_lists_have_their_lengths() -> None:
    sizes = {
        "months": 12,
        "short months": 12,
        "weekdays": 7,
        "short weekdays": 7,
        "seasons": 4,
        "numbers": 20,
    }
    assert {section: len(word_list(section)) for section in sizes} == sizes


def test_no_section_is_left_unused_and_none_is_missing() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in ROOM.glob("*.py"))
    asked = set(re.findall(r'(?:word_list|word_set|spellings)\("([^"]+)"\)', code))
    assert asked == set(english._sections())


def test_no_word_stands_twice_in_a_section() -> None:
    for section, words in english._sections().items():
        assert len({word.lower() for word in words}) == len(words), section


def test_a_word_may_have_several_spellings_or_none() -> None:
    assert spellings("short months")[8] == ("Sep", "Sept")
    assert spellings("short months")[4] == ()
    assert "May" in word_list("months that are words")
    assert "may" in word_set("months that are names")


@pytest.mark.parametrize(
    ("word", "tags"),
    [
        ("May", {"MONTH": 5, "ANYMONTH": 5, "may": "may"}),
        ("may", {"LOWMONTH": 5, "ANYMONTH": 5, "may": "may"}),
        ("week", {"UNIT": Unit.WEEK, "SPAN": Unit.WEEK}),
        ("second", {"UNIT": Unit.SECOND, "PLACE": 2}),
        ("fall", {"SEASON": 2}),
        ("thirty", {"NUMBER": 30}),
        ("before", {"before": "before"}),
    ],
)
def test_words_have_their_tags(word: str, tags: dict[str, object]) -> None:
    assert vocabulary(["before", "may"])[word] == tags
