from __future__ import annotations

import time

import pytest

from simonides.errors import InputError
from simonides.text.split import MAX_CHARS, Heading, headings, split_document


def pieces(text: str, max_chars: int = MAX_CHARS) -> list[str]:
    return [text[start:stop] for start, stop in split_document(text, max_chars=max_chars)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n ", []),
        ("one", ["one"]),
        ("  one\ntwo  \n\n\n three\n", ["one\ntwo", "three"]),
        ("one\r\n\r\ntwo\r\n", ["one", "two"]),
        ("one\n  \t \ntwo", ["one", "two"]),
        ("# Title\n\ntext\n\nmore", ["# Title\n\ntext", "more"]),
        ("text\n## Part\nmore", ["text", "## Part\nmore"]),
        ("# A\n\n## B\n\ntext", ["# A\n\n## B\n\ntext"]),
        ("text\n\n# Last", ["text", "# Last"]),
        ("Title\n=====\n\ntext", ["Title\n=====\n\ntext"]),
        ("one\n\n---\n\ntwo", ["one", "---\n\ntwo"]),
        ("#tag is no heading\nmore", ["#tag is no heading\nmore"]),
        ("- item\n- item\n\nafter", ["- item\n- item", "after"]),
        ("run:\n```\n# a comment\n\nmake\n```\n\nafter", ["run:\n```\n# a comment\n\nmake\n```", "after"]),
        ("~~~\na\n\n```\n\n~~~\n\nb", ["~~~\na\n\n```\n\n~~~", "b"]),
        ("```never closed\n\na", ["```never closed\n\na"]),
        ("```inline``` code\n\nafter", ["```inline``` code", "after"]),
    ],
)
def test_paragraphs(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One two. Three four. Five.", ["One two.", "Three four.", "Five."]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
        ("Is it? Yes! It is so.", ["Is it? Yes!", "It is so."]),
        ("短い文。もう一つの長い文です。終わり。", ["短い文。", "もう一つの長い文です。", "終わり。"]),
        ("no end of sentence here", ["no end of", "sentence here"]),
        ("version 3.14159 is out", ["version", "3.14159 is", "out"]),
        ("abcdefghijklmnopqrstuvwxyz", ["abcdefghijklm", "nopqrstuvwxyz"]),
        ("# Go. \n\nOne two three four", ["# Go. \n\nOne", "two three", "four"]),
    ],
)
def test_a_long_paragraph_is_cut_at_sentences_then_spaces_then_hard(text: str, expected: list[str]) -> None:
    assert pieces(text, 13) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        (
            "- pears and plums\n- figs, sold out\n- dates",
            20,
            ["- pears and plums", "- figs, sold out", "- dates"],
        ),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", 20, ["| a | b |\n|---|---|", "| 1 | 2 |\n| 3 | 4 |"]),
        ("```\nx = 1\ny = 2\nz = 3\n```", 14, ["```", "x = 1\ny = 2", "z = 3\n```"]),
        ("e\u0301e\u0301e\u0301", 3, ["e\u0301", "e\u0301", "e\u0301"]),
        ("👩‍👩‍👧👩‍👩‍👧", 6, ["👩‍👩‍👧", "👩‍👩‍👧"]),
        ("ab \ud800 cd ef", 5, ["ab \ud800", "cd ef"]),
    ],
)
def test_a_long_paragraph_is_divided_by_its_structure_and_between_whole_characters(
    text: str, limit: int, expected: list[str]
) -> None:
    assert pieces(text, limit) == expected


def test_a_heading_keeps_the_first_part_of_a_long_paragraph() -> None:
    text = "intro\n\n## Ferries\n\n" + "The boat left at nine. " * 5
    assert pieces(text, 60) == [
        "intro",
        "## Ferries\n\nThe boat left at nine. The boat left at nine.",
        "The boat left at nine. The boat left at nine.",
        "The boat left at nine.",
    ]


def test_headings_have_a_level_a_title_and_a_place() -> None:
    text = "# Garden\n\nPears\n---\nripe\n\n### Figs ###\n\n```\n# a comment\n```\n\nLast\n===="
    found = [(heading.level, heading.title, text[heading.start :][:5]) for heading in headings(text)]
    assert found == [
        (1, "Garden", "# Gar"),
        (2, "Pears", "Pears"),
        (3, "Figs", "### F"),
        (1, "Last", "Last\n"),
    ]


def test_an_underline_below_two_lines_makes_no_heading() -> None:
    assert headings("one\ntwo\n---\nthree") == []
    assert headings("#tag") == []
    assert headings("#") == [Heading(1, "", 0)]


def test_a_paragraph_at_the_limit_is_not_cut() -> None:
    assert pieces("a b c d", 7) == ["a b c d"]
    assert pieces("a b c d", 6) == ["a b c", "d"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(InputError, match="max_chars"):
        split_document("text", max_chars=limit)


@pytest.mark.parametrize(
    "unit", ["a", ".", " ", "a ", "\n", "`", "# a\n", "a\n===\n", "- ", '."', "```\na\n"]
)
def test_long_input_takes_linear_time(unit: str) -> None:
    # A quadratic step would take minutes at this length; a linear one takes about 0.2 s.
    text = unit * (400_000 // len(unit)) + "x"
    start = time.process_time()
    split_document(text)
    assert time.process_time() - start < 5
