from __future__ import annotations

import math
import unicodedata
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from simonides.text.token_count import ApproximateTokenCounter

TEXT = st.one_of(st.text(st.characters()), st.text("ab1. \t\n猫한é🟢", max_size=40))
COUNTER = ApproximateTokenCounter()


def kind(character: str) -> str:
    if character in " \t":
        return "blank"
    if character.isascii():
        return "letter" if character.isalpha() else "digit" if character.isdigit() else "single"
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    if category[0] in "LMN":
        unspaced = ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL")
        dense = (*unspaced, "THAI", "LAO", "KHMER", "MYANMAR")
        is_letter = category[0] == "L" or category == "Nl"
        return "single" if is_letter and name.startswith(dense) else "other"
    return "single" if category[0] in "PZ" else "symbol"


def slow_count(text: str) -> int:
    """The table of the module's docstring, run by run."""
    runs = [(which, len(list(run))) for which, run in groupby(text, kind)]
    per_token = {"letter": 4, "digit": 3, "other": 2, "single": 1, "blank": 4, "symbol": 1 / 3}
    total = 0
    position = 0
    for which, length in runs:
        position += length
        before_word = position < len(text) and text[position] != "\n"
        if which == "blank" and before_word and length % 4 == 1:
            length -= 1  # noqa: PLW2901 - the blank that belongs to the word
        total += math.ceil(length / per_token[which])
    return total


@given(TEXT)
def test_count_is_the_sum_over_runs(text: str) -> None:
    assert COUNTER.count(text) == slow_count(text)


@given(TEXT, TEXT)
def test_joining_lines_adds_exactly_the_newline(first: str, second: str) -> None:
    assert COUNTER.count(f"{first}\n{second}") == COUNTER.count(first) + 1 + COUNTER.count(second)


@given(TEXT, TEXT)
def test_more_text_never_costs_less(first: str, second: str) -> None:
    assert COUNTER.count(first + second) >= max(COUNTER.count(first), COUNTER.count(second))
