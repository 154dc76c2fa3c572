from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.text.times.expressions import GRAMMAR
from simonides.text.times.grammar import Grammar, Match, Parser, Rule
from simonides.text.times.lexer import Token

if TYPE_CHECKING:
    from collections.abc import Sequence


def tokens(text: str) -> list[Token]:
    """Words, each its own tag; digits also have the tag N, with their value."""
    found = [
        Token(word, 0, 0, {word: word, "N": int(word)} if word.isdigit() else {word: word})
        for word in text.split()
    ]
    return [*found, Token("", 0, 0, {})]


def match(rules: list[Rule], text: str, at: int = 0) -> Match | None:
    return Parser(Grammar(rules), tokens(text)).search("top", at)


def values(*captured: Any) -> tuple[Any, ...]:
    return captured


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a b", "a b c", ((), 2)),
        ("a b", "a c", None),
        ("a b", "a", None),
        ("a|b c", "b c", ((), 2)),
        ("<N>", "7", ((7,), 1)),
        ("<N> a", "a 7", None),
        ("<a|b> <N|c>", "b c", (("b", "c"), 2)),
        ("a? b", "b", ((), 1)),
        ("a? b", "a b", ((), 2)),
        ("<a>? b", "b", ((None,), 1)),
        ("b <a>?", "b", ((None,), 1)),
        ("b <a>?", "b a", (("a",), 2)),
        # Without going back: what an element took is taken.
        ("a? a", "a", None),
    ],
)
def test_patterns(pattern: str, text: str, expected: tuple[Any, int] | None) -> None:
    assert match([Rule("top", pattern, values)], text) == expected


def test_a_name_stands_for_its_longest_match() -> None:
    rules = [
        Rule("top", "{inner} c", values),
        Rule("inner", "a", lambda: "short"),
        Rule("inner", "a b", lambda: "long"),
    ]
    assert match(rules, "a b c") == (("long",), 3)
    assert match(rules, "a c") == (("short",), 2)
    # The shorter one is not tried when the longer one leads nowhere.
    assert match([*rules, Rule("inner", "a c", lambda: "greedy")], "a c") is None


def test_of_equally_long_matches_the_first_rule_wins() -> None:
    assert match([Rule("top", "a", lambda: 1), Rule("top", "<a>", lambda _: 2)], "a") == (1, 1)


def test_a_value_error_means_no_match_and_leaves_the_other_rules() -> None:
    def refuse(_: int) -> int:
        raise ValueError

    assert match([Rule("top", "<N> a", refuse)], "7 a") is None
    assert match([Rule("top", "<N> a", refuse), Rule("top", "<N>", lambda n: n)], "7 a") == (7, 1)


def test_a_guard_sees_all_tokens() -> None:
    def after_x(found: Sequence[Token], start: int, stop: int) -> bool:
        return found[start - 1].text == "x" and found[stop].text == ""

    rules = [Rule("top", "a", lambda: True, after_x)]
    assert match(rules, "x a", 1) == (True, 2)
    assert match(rules, "y a", 1) is None


def test_what_was_learned_of_two_tokens_does_not_outlive_a_guard_or_a_value() -> None:
    rules = [Rule("top", "<N> a", lambda n: n if n > 1 else int("no number"))]
    parser = Parser(Grammar(rules), tokens("1 a 2 a 1 b 2 a"))
    assert [parser.search("top", at) for at in range(8)] == [
        None,
        None,
        (2, 4),
        None,
        None,
        None,
        (2, 8),
        None,
    ]


def test_a_name_without_rules_or_around_itself_is_refused() -> None:
    with pytest.raises(ValueError, match=r"other.*has no rules"):
        Grammar([Rule("top", "{other}", values)])
    with pytest.raises(ValueError, match="leads back to itself"):
        Grammar([Rule("top", "a {inner}", values), Rule("inner", "b {top}", values)])


def test_the_grammar_asks_for_no_tag_that_no_token_has() -> None:
    known = {
        "ANYDAY", "ANYMONTH", "CLOCK", "DASH", "DATE", "DATEDQUARTER", "DAYOFMONTH", "DECADE", "HALF",
        "ISOMONTH", "ISOWEEK", "LOWMONTH", "MERIDIEM", "MODERN", "MOMENT", "MONTH", "NTH", "NUMBER", "PLACE",
        "QUARTER", "SEASON", "SEASONS", "SHORTDAY", "SHORTMONTH", "SPAN", "SURECLOCK", "UNIT", "UNITS",
        "WEEKDAY", "WEEKDAYS", "YEAR",
    }  # fmt: skip
    assert GRAMMAR.tags == known
    assert all(word == word.lower() for word in GRAMMAR.words)
