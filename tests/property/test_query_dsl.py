"""The query language: any text is a query, and what is printed parses to what was printed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.query_printer import print_query

from simonides.errors import QuerySyntaxError
from simonides.recall.word_search import WordSearch
from simonides.records.expression import Clause, Group, Operator, Part, Token
from simonides.testing.fakes import FakeView, WordAnalyser, fake_memory
from simonides.text.dates import spell_days
from simonides.text.query_dsl import (
    clean_phrase,
    clean_word,
    compile_match,
    expand_aliases,
    normalise_query,
    parse_query,
)

if TYPE_CHECKING:
    from datetime import date

WORDS = st.sampled_from(
    ["pump", "The", "fu*", "AND", "OR", "NOT", '"', '"a b"', "caf\u00e9", "e\u0301", "(", ")", "tag:x", "kind:code",
     "foo:bar", 'entity:"A b"', "\u200b", "*", "!", "it's", "ab", "\u00a0", "\u017fpin", "\u0130", "A\u030a"]
)  # fmt: skip
QUERIES = st.one_of(st.text(), st.lists(WORDS).map(" ".join), st.lists(WORDS).map("".join))
# What both syntaxes read alike: no parenthesis, no colon, and every quote closed.
COMMON = QUERIES.filter(lambda text: not set("():") & set(text) and text.count('"') % 2 == 0)


@given(QUERIES)
def test_any_text_is_a_plain_query_and_printing_inverts_parsing(text: str) -> None:
    parsed = parse_query(text)
    again = parse_query(print_query(parsed))
    assert (again.tokens, again.has_operators) == (parsed.tokens, parsed.has_operators)
    assert print_query(again) == print_query(parsed)


@given(QUERIES)
def test_the_extended_syntax_parses_or_says_where_it_is_wrong(text: str) -> None:
    try:
        parsed = parse_query(text, syntax="extended")
    except QuerySyntaxError as error:
        position: int | None = error.position
    else:
        position = None
    if position is not None:
        assert 0 <= position <= len(text)
        return
    again = parse_query(print_query(parsed), syntax="extended")
    assert (again.tokens, again.has_operators) == (parsed.tokens, parsed.has_operators)


@given(COMMON)
def test_a_plain_query_means_the_same_in_the_extended_syntax(text: str) -> None:
    assert parse_query(text, syntax="extended") == parse_query(text)


@given(QUERIES)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    for clean in (clean_word, clean_phrase, normalise_query):
        assert clean(clean(text)) == clean(text)
    assert parse_query(normalise_query(text)).tokens == parse_query(text).tokens


@given(QUERIES, st.dictionaries(st.sampled_from(["pump", "spin"]), st.lists(st.text(), max_size=3)))
def test_compiled_strings_are_compiled_from_words_alone(text: str, aliases: dict[str, list[str]]) -> None:
    expression = expand_aliases(parse_query(text), aliases)
    compiled = compile_match(expression)
    assert bool(compiled) == bool(expression.tokens)
    assert not compiled.startswith(("AND ", "OR ", "NOT "))
    assert all(isinstance(part, Token) and part.text for part in expression.tokens)


def true_of(parts: tuple[Part, ...], held: frozenset[str]) -> bool:
    """By the words of the rule: NOT binds tighter than AND, AND tighter than OR."""
    words = [part for part in parts if not isinstance(part, Clause)]
    runs: list[list[Token | Group]] = []
    for place, part in enumerate(words):
        if place == 0 or part.operator in {None, Operator.OR}:
            runs.append([replace(part, operator=None)])
        else:
            runs[-1].append(part)

    def one(part: Token | Group) -> bool:
        inside = true_of(part.parts, held) if isinstance(part, Group) else part.text in held
        return inside is not (part.operator is Operator.NOT)

    return any(all(map(one, run)) for run in runs)


LETTERS = st.sampled_from("abcdef")
EXPRESSIONS = st.recursive(
    LETTERS,
    lambda inner: st.lists(
        st.tuples(st.sampled_from(["", "AND ", "OR ", "NOT "]), inner), min_size=1, max_size=4
    ).map(lambda parts: "(" + " ".join(operator + part for operator, part in parts) + ")"),
    max_leaves=8,
)


@given(EXPRESSIONS, st.frozensets(LETTERS))
def test_word_search_finds_what_the_expression_is_true_of(text: str, held: frozenset[str]) -> None:
    expression = parse_query(text, syntax="extended")
    view = FakeView.of([fake_memory(" ".join(sorted(held)) or "z"), fake_memory("other z")])
    search = WordSearch(view, WordAnalyser(), {"text": 1.0}, 1.2, 0.75, 10)
    found = search.search(expression.tokens)
    assert (0 in found.ordinals.tolist()) == true_of(expression.tokens, held)
    assert 1 not in found.ordinals.tolist()


@given(st.text(), st.dates())
def test_a_text_that_means_no_day_is_searched_as_it_is(text: str, day: date) -> None:
    spelled = spell_days(text, day)
    assert spelled.searched.startswith(text)
    assert bool(spelled.days) == (spelled.searched != text)
