from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.query_printer import print_query

from simonides.text.query_dsl import expand_aliases, parse_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.text.query_dsl import Syntax


def expanded(query: str, aliases: Mapping[str, tuple[str, ...]], syntax: Syntax = "plain") -> str:
    return print_query(expand_aliases(parse_query(query, syntax=syntax), aliases))


@pytest.mark.spec("JB-02")
@pytest.mark.parametrize(
    ("query", "aliases", "printed"),
    [
        ("pump", {"pump": ("Impeller",)}, "impeller"),
        ("pump", {"pump": ("water mover",)}, '"water mover"'),
        ("pump", {"pump": ("heat-pump",)}, '"heat pump"'),
        ("pump fuse", {"pump": ("pump", "mover")}, "pump mover fuse"),
        ("lamp AND pump", {"pump": ("mover", "impeller")}, "lamp AND mover impeller"),
        ("pump", {"pump": ("mover", "Mover", "mover!")}, "mover"),
        ("pump impeller", {"pump": ("mover",), "impeller": ("mover",)}, "mover"),
        ("pump", {"pump": ()}, "pump"),
        ("pump", {"pump": ("!!",)}, "pump"),
        ('"pump" pum*', {"pump": ("mover",), "pum": ("x",)}, '"pump" pum*'),
        ("PUMP", {"pump": ("mover",)}, "mover"),
        ("pump", {}, "pump"),
    ],
)
def test_alternatives_take_the_place_of_a_term(
    query: str, aliases: dict[str, tuple[str, ...]], printed: str
) -> None:
    assert expanded(query, aliases) == printed


@pytest.mark.spec("JB-02")
def test_an_alternative_that_an_operator_needs_is_kept_twice() -> None:
    aliases = {"pump": ("mover",), "impeller": ("mover",)}
    assert expanded("pump AND impeller", aliases) == "mover AND mover"


def test_groups_are_expanded_inside() -> None:
    aliases = {"pump": ("mover", "water mover")}
    assert expanded("(pump AND fuse)", aliases, syntax="extended") == '(mover "water mover" AND fuse)'
