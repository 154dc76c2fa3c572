"""Each option is declared once, and its declaration alone says what may be given."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.json_schema import UnsaidBySchemaError
from simonides.options import (
    ALIASES,
    AS_OF,
    DEADLINE_MS,
    ENTITY_HINTS,
    KINDS,
    LIMIT,
    QUERY,
    RECALL,
    TAGS,
    WINDOW,
    Option,
    check,
)
from simonides.surfaces.operations.table import OPERATIONS

if TYPE_CHECKING:
    from simonides.bank import Bank


@pytest.mark.parametrize(
    ("option", "given", "read"),
    [
        (LIMIT, np.int64(5), 5),
        (LIMIT, 5.0, 5),
        (DEADLINE_MS, 20, 20.0),
        (TAGS, {"b", "a"}, ["a", "b"]),
        (ENTITY_HINTS, ("Odalys",), ["Odalys"]),
        (ALIASES, {"db": ("database",)}, {"db": ["database"]}),
        (KINDS, "code", "code"),
        (AS_OF, date(2026, 3, 10), date(2026, 3, 10)),
        (WINDOW, (None, datetime(2026, 3, 10, tzinfo=UTC)), [None, datetime(2026, 3, 10, tzinfo=UTC)]),
        (WINDOW, date(2026, 3, 10), date(2026, 3, 10)),
    ],
)
def test_values_of_python_are_read_like_those_of_json(option: Option, given: Any, read: Any) -> None:
    found = check((option,), {option.name: given})[option.name]
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limit": 0}, "limit: expected a whole number from 1 to 10,000, got 0"),
        ({"deadline_ms": -1.5}, r"deadline_ms: expected a number above 0, at most 600,000, got -1\.5"),
        ({"seed": -1}, "seed: expected a whole number from 0, got -1"),
        ({"tags": "work"}, r"tags: expected a list, got a string; write \['work'\]"),
        ({"kinds": 3}, "kinds: expected one of episodic, .*, or a list of them, got 3"),
        ({"query": b"who?"}, "query: expected a string, got bytes; decode it first"),
        ({"query": "é" * 40_000}, "query: is 80,000 bytes long in UTF-8, at most 65,536 are allowed"),
        ({"lmit": 3}, "lmit: 'lmit' is not known; did you mean 'limit'"),
    ],
)
def test_a_message_names_the_value_the_place_and_what_may_be_given(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        check(RECALL, {"query": "who?", **given})


@pytest.mark.parametrize("text", ["a\ud83d", "\u200b\u2060", "é" * 40_000])
def test_what_no_schema_can_say_is_told_apart(text: str) -> None:
    with pytest.raises(UnsaidBySchemaError):
        check((QUERY,), {"query": text})


def test_python_and_an_interface_check_a_value_once_each(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[dict[str, object]] = []

    def counted(options: Any, values: dict[str, object], **more: Any) -> dict[str, Any]:
        checks.append({name: value for name, value in values.items() if name == "tags_match"})
        return check(options, values, **more)

    for module in ("context", "answering"):
        monkeypatch.setattr(f"simonides.services.{module}.check", counted)
    recall = OPERATIONS["recall"]
    recall.call(bank, recall.bind({"query": "who?", "tags_match": "all", "profile": "lexical"}))
    assert checks == []
    bank.recall("who?", tags_match="all", profile="lexical")
    assert [each for each in checks if each] == [{"tags_match": "all"}]
    with pytest.raises(UnknownNameError, match="tags_match"):
        bank.recall("who?", tags_match="al", profile="lexical")
