from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import QuerySyntaxError
from simonides.recall.understanding.query_dsl import Aliases, QueryLanguage
from simonides.testing.fakes import FakeView, fake_query, fake_tools
from simonides.text.query_dsl import compile_match

if TYPE_CHECKING:
    from simonides.records.query import Query

VIEW = FakeView.of([])


def understood(text: str, **changes: object) -> Query:
    query = QueryLanguage().understand(VIEW, fake_query(text, **changes), fake_tools())
    return Aliases().understand(VIEW, query, fake_tools())


def compiled(query: Query) -> str:
    assert query.expression is not None
    return compile_match(query.expression)


@pytest.mark.spec("JB-01")
def test_the_words_become_an_expression() -> None:
    assert compiled(understood('"blown fuse" NOT lamp')) == '"blown fuse" AND NOT lamp'


def test_days_that_were_spelled_out_are_read_with_the_words() -> None:
    query = understood("tea today", spelled="tea today 2026/04/18 2026-04-18")
    assert compiled(query) == "tea OR today OR 20260418 OR 20260418"
    assert query.text == "tea today"


@pytest.mark.spec("JB-02")
def test_the_callers_aliases_are_put_in() -> None:
    assert (
        compiled(understood("pump", aliases={"pump": ("mover", "water mover")})) == 'mover OR "water mover"'
    )
    assert understood("pump").expression == understood("pump", aliases={"x": ("y",)}).expression


def test_aliases_without_an_expression_change_nothing() -> None:
    query = fake_query("pump", aliases={"pump": ("mover",)})
    assert Aliases().understand(VIEW, query, fake_tools()) == query


@pytest.mark.spec("JB-01")
def test_an_entity_of_the_extended_syntax_is_a_hint_and_a_phrase() -> None:
    query = understood('tea entity:"Odalys Venn" tag:work', syntax="extended", hints=("Norrhav",))
    assert query.hints == ("Norrhav", "Odalys Venn")
    assert compiled(query) == 'tea OR "odalys venn"'


def test_what_is_wrong_in_the_extended_syntax_is_raised() -> None:
    with pytest.raises(QuerySyntaxError, match="at character 4"):
        understood("tea (", syntax="extended")
    assert compiled(understood("tea (")) == "tea"
