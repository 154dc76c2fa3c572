from __future__ import annotations

import pytest
from tests.query_printer import print_query

from simonides.text.query_dsl import compile_match, parse_query


@pytest.mark.spec("JB-01")
@pytest.mark.parametrize(
    ("query", "compiled"),
    [
        ("pump fuse", "pump OR fuse"),
        ("pump AND fuse NOT lamp", "pump AND fuse AND NOT lamp"),
        ("NOT pump fuse", "pump OR fuse"),
        ("AND pump", "pump"),
        ("OR pump AND fuse", "pump AND fuse"),
        ('"pump fuse" lam*', '"pump fuse" OR lam*'),
        ("to do list", ""),
        ("", ""),
    ],
)
def test_compiled(query: str, compiled: str) -> None:
    assert compile_match(parse_query(query)) == compiled


def test_groups_compile_to_parentheses_and_clauses_to_nothing() -> None:
    parsed = parse_query("tag:x pump AND (NOT fuse lamp) kind:code", syntax="extended")
    assert compile_match(parsed) == "pump AND (fuse OR lamp)"
    assert compile_match(parse_query("tag:x", syntax="extended")) == ""


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("What is the Pump?", "pump"),
        ("the AND Pump!", "the AND pump"),
        ('"Pump  fuse" lam*', '"pump fuse" lam*'),
        ('the pump "', 'the pump ""'),
        ("AND", '""'),
        ("", ""),
    ],
)
def test_printed(query: str, printed: str) -> None:
    assert print_query(parse_query(query)) == printed


def test_the_extended_syntax_is_printed_with_quoted_values() -> None:
    parsed = parse_query("entity:Odalys (pump AND fuse) NOT lamp", syntax="extended")
    assert print_query(parsed) == 'entity:"Odalys" (pump AND fuse) NOT lamp'
