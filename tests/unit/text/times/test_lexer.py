from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import pytest

from simonides.text.times.calendar import Clock
from simonides.text.times.expressions import GRAMMAR
from simonides.text.times.lexer import Token, lex, vocabulary

VOCABULARY = vocabulary(GRAMMAR.words)


def tokens(text: str) -> list[Token]:
    found = lex(text, VOCABULARY)
    assert found[-1].text == ""
    for token in found:
        assert text[token.start : token.stop] == token.text
    return found[:-1]


def tags(text: str) -> list[set[str]]:
    return [{tag for tag in token.tags if tag.isupper()} for token in tokens(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("last Friday", ["last", "Friday"]),
        ("(8 May 2023),", ["(", "8", "May", "2023", "),"]),
        ("last week's", ["last", "week", "'s"]),
        ("we’ll", ["we", "’ll"]),
        ("mid-2025", ["mid", "-", "2025"]),
        ("3–5", ["3", "–", "5"]),
        ("yesterday—then", ["yesterday", "—", "then"]),
        ("build-2031", ["build", "-", "2031"]),
        ("the ’90s", ["the", "’90s"]),
        ("3 p.m.", ["3", "p.m."]),
        ("3p.m., then", ["3p.m.", ",", "then"]),
        ("port:8443", ["port:8443"]),
        ("a\n\nb", ["a", "\n\n", "b"]),
        ("a\n \t\nb", ["a", "\n \t\n", "b"]),
        ("a\nb", ["a", "b"]),
        ("日2024-05-08本", ["日", "2024-05-08"]),
        ("x" * 65 + "-a", ["x" * 65 + "-a"]),
        ("", []),
        ("\ud83d", ["\ud83d"]),
    ],
)
def test_pieces(text: str, pieces: list[str]) -> None:
    assert [token.text for token in tokens(text)] == pieces


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [
        ("2023-05-08", "DATE", date(2023, 5, 8)),
        ("2023/5/8", "DATE", date(2023, 5, 8)),
        ("13.05.2023", "DATE", date(2023, 5, 13)),
        ("5/13/2023", "DATE", date(2023, 5, 13)),
        ("05-05-2023", "DATE", date(2023, 5, 5)),
        ("2023-05", "ISOMONTH", date(2023, 5, 1)),
        ("2023-W19", "ISOWEEK", date(2023, 5, 8)),
        ("2023-05-08T10:00", "MOMENT", datetime(2023, 5, 8, 10)),  # noqa: DTZ001 - no offset is written
        ("2023-05-08t10:00:01.5z", "MOMENT", datetime(2023, 5, 8, 10, 0, 1, 500_000, tzinfo=UTC)),
        ("2026-Q3", "DATEDQUARTER", (2026, 3)),
        ("q3-2026", "DATEDQUARTER", (2026, 3)),
        ("10:05", "CLOCK", Clock(time(10, 5), exact=True)),
        ("10:05:07", "CLOCK", Clock(time(10, 5, 7), exact=True)),
        ("1:56pm", "SURECLOCK", Clock(time(13, 56), exact=True)),
        ("3PM", "SURECLOCK", Clock(time(15), exact=False)),
        ("12am", "CLOCK", Clock(time(0), exact=False)),
        ("3rd", "NTH", 3),
        ("31", "DAYOFMONTH", 31),
        ("1990s", "DECADE", 1990),
        ("'90s", "DECADE", 90),
        ("2023", "YEAR", 2023),
        ("1899", "YEAR", 1899),
        ("2023", "MODERN", 2023),
        ("May", "MONTH", 5),
        ("may", "LOWMONTH", 5),
        ("MAY", "LOWMONTH", 5),
        ("june", "MONTH", 6),
        ("Sept", "SHORTMONTH", 9),
        ("sept", "ANYMONTH", 9),
        ("Fri", "SHORTDAY", 4),
        ("sun", "ANYDAY", 6),
        ("p.m.", "MERIDIEM", "pm"),
        ("seven", "NUMBER", 7),
        ("second", "PLACE", 2),
    ],
)
def test_forms(text: str, tag: str, value: Any) -> None:
    (token,) = tokens(text)
    assert token.tags[tag] == value


@pytest.mark.parametrize(
    ("text", "tag"),
    [("1899", "MODERN"), ("may", "MONTH"), ("sun", "SHORTDAY"), ("Sun", "SHORTDAY"), ("32", "DAYOFMONTH"),
     ("008", "DAYOFMONTH"), ("1499", "YEAR"), ("sept", "SHORTMONTH"), ("10:05", "SURECLOCK")],
)  # fmt: skip
def test_tags_that_a_form_does_not_have(text: str, tag: str) -> None:
    (token,) = tokens(text)
    assert tag not in token.tags


@pytest.mark.parametrize(
    "text",
    [
        "05/08/2023", "8.5.2023", "2023-02-30", "2023-13", "2023-W60", "25:00", "13pm", "0am", "2023-05-08T25:00",
        "2024.1", "v2023", "8May", "$2023", "2023%", "#2023", "1/2", "3.14", "may_pole", "monday.com", "12345",
        "2,000", "a@b", "2023=x", "~2019", "٣", "２０２３",
    ],
)  # fmt: skip
def test_other_forms_have_no_tags(text: str) -> None:
    assert [found for found in tags(text) if found] == []


def test_a_dash_ties_pieces_together() -> None:
    assert [token.glued for token in tokens("a-b c - d --e")] == [
        False,
        True,
        True,
        False,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [("a - b", True), ("a – b", True), ("a — b", False), ("a\n- b", False), ("a -- b", False)],
)
def test_only_a_dash_within_a_line_may_be_a_range(text: str, found: bool) -> None:
    assert any("DASH" in token.tags for token in tokens(text)) == found


@pytest.mark.parametrize("end", [".", "!", "?", "…", ".)", '."', "...", "\n\nb"])
def test_ends_of_sentences(end: str) -> None:
    assert "STOP" in tokens(f"a{end}")[1].tags


@pytest.mark.parametrize("text", ["a, b", "a b", "a: b", "a; b", "e.g. b", "3.5 b"])
def test_no_ends_of_sentences(text: str) -> None:
    assert not any("STOP" in token.tags for token in tokens(text)[:-1] if token.text != ".")
