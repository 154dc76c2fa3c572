from __future__ import annotations

import pytest

from simonides.text.query_dsl import _Plain, clean_phrase, clean_word, is_short, normalise_query


@pytest.mark.spec("JB-01")
@pytest.mark.parametrize(
    ("word", "cleaned"),
    [
        ("Pump!", "pump"),
        ("it's", "its"),
        ("tx_queue", "tx_queue"),
        ("^a+b<c>d|e$f=g~h`", "abcdefgh"),
        ("\u201cCaf\u00e9\u201d", "caf\u00e9"),
        ("Cafe\u0301", "caf\u00e9"),
        ("pu\u200bmp", "pump"),
        ("5\u20ac", "5\u20ac"),
        ("...", ""),
    ],
)
def test_a_word_keeps_letters_digits_and_the_underscore_in_lower_case(word: str, cleaned: str) -> None:
    assert clean_word(word) == cleaned


def test_what_is_no_part_of_a_word_is_settled_character_by_character() -> None:
    # A table of its own: that of the module has met these characters already.
    assert "a_b-c^d, \u00e9\u2019\u20ac".translate(_Plain()) == "a_bcd \u00e9\u20ac"


@pytest.mark.parametrize(
    ("phrase", "cleaned"),
    [
        ("Don't  Panic!", "don't panic!"),
        ('say "Hello" now', "say hello now"),
        ('one"two', "one two"),
        ("\u200bA\u030aland", "\u00e5land"),
        ('""', ""),
    ],
)
def test_a_phrase_keeps_its_punctuation_but_no_quotes(phrase: str, cleaned: str) -> None:
    assert clean_phrase(phrase) == cleaned


def test_a_query_is_composed_and_its_white_space_is_single() -> None:
    assert normalise_query(" e\u0301\u00a0 a\t\u200bb\n") == "\u00e9 a b"
    assert normalise_query("\u00a0\u200b") == ""


@pytest.mark.parametrize(
    ("word", "short"), [("ab", True), ("abc", False), ("\u6771\u4eac", False), ("a\u6771", False), ("", True)]
)
def test_two_letters_are_short_except_in_scripts_without_spaces(word: str, short: bool) -> None:
    assert is_short(word) is short
