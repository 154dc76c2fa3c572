from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.recall.understanding.question import QueryEntities
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.query import Query

ISLE, NORRHAV, ODALYS = 1, 2, 3  # numbered by name
VIEW = FakeView.of(
    [fake_memory("a"), fake_memory("b"), fake_memory("c")],
    entities=[["Odalys", "Norrhav"], ["Isle"], []],
    visible=[True, False, True],
)


def understood(text: str, *hints: str, view: FakeView = VIEW) -> Query:
    return QueryEntities().understand(view, fake_query(text, hints=hints), fake_tools())


def test_names_are_found_in_the_words_in_their_order() -> None:
    query = understood("Does Norrhav know Odalys?")
    assert query.entities == (NORRHAV, ODALYS)
    assert query.notes == ()


@pytest.mark.spec("ME-04")
def test_hints_come_first_and_each_entity_once() -> None:
    assert understood("Norrhav and Odalys", "Odalys").entities == (ODALYS, NORRHAV)
    assert understood("who is it?", "Odalys").entities == (ODALYS,)


def test_nothing_found_is_noted() -> None:
    assert understood("tea?").notes == ("no entity",)
    assert understood("tea?", "Vesna").notes == ("no entity", "no entity is named 'Vesna'")
    assert understood("Odalys?", "Vesna").notes == ("no entity is named 'Vesna'",)


def test_a_name_that_only_hidden_memories_hold_is_no_name() -> None:
    assert understood("where is Isle?", "Isle").entities == ()
    seen = FakeView.of([fake_memory("b")], entities=[["Isle"]])
    assert understood("where is Isle?", view=seen).entities == (1,)
