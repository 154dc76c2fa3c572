"""What a caller may say about how to search is checked before anything is read."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.options import RECALL, check
from simonides.recall.arguments import SearchOptions, read_recall_arguments

NOTHING: dict[str, Any] = {
    "entity_hints": None,
    "mode": None,
    "question_date": None,
    "budget": None,
    "budget_function": None,
    "include_chunks": False,
    "max_chunk_tokens": 0,
    "syntax": "plain",
    "aliases": None,
    "deadline_ms": None,
    "tier": "default",
}


def read(**given: object) -> SearchOptions:
    values = check(RECALL, {"query": "who?", **NOTHING, **given}, moments=False)
    return read_recall_arguments(values, principal=None, zone=UTC).search


def test_nothing_given_leaves_all_to_the_profile() -> None:
    assert read() == SearchOptions()


def test_what_is_given_is_kept() -> None:
    found = read(aliases={"DB": ["database", "data store"]}, deadline_ms=20, budget="low", syntax="extended")
    assert found.aliases == {"db": ("database", "data store")}
    assert (found.deadline_ms, found.budget, found.syntax) == (20.0, "low", "extended")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mode", "hybrid_rerank"),
        ("budget", "medium"),
        ("budget_function", "linear"),
        ("syntax", "lucene"),
        ("tier", "cloud"),
    ],
)
def test_a_choice_that_does_not_exist_is_named(field: str, value: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        read(**{field: value})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("include_chunks", 1),
        ("max_chunk_tokens", -1),
        ("max_chunk_tokens", True),
        ("aliases", [("db", "database")]),
        ("deadline_ms", 0),
        ("deadline_ms", float("nan")),
        ("deadline_ms", "20"),
        ("entity_hints", "Odalys"),
        ("tier", None),
    ],
)
def test_wrong_values_are_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=field):
        read(**{field: value})
