"""JSON files piece by piece, with the lines on which the pieces begin."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.retain.importing.sources import NamedFile, json_rows, kind_of, moment, refuse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def rows(text: str, *keys: str) -> list[tuple[int, object]]:
    return list(json_rows(io.StringIO(text), NamedFile("x"), refuse, *keys))


@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 0, 2]))
def test_entries_of_a_list_are_what_json_reads(values: list[object], indent: int | None) -> None:
    text = json.dumps(values, indent=indent)
    assert [value for _, value in rows(text)] == values
    for line, value in rows(text):
        if indent == 2 and isinstance(value, int):
            assert json.dumps(value) in text.splitlines()[line - 1]


def test_lines_are_those_on_which_an_entry_begins() -> None:
    assert rows('\ufeff\n[\n {"a":\n 1},\n\n 2]\n') == [(3, {"a": 1}), (6, 2)]
    assert rows('\n {"b": 1}') == [(2, {"b": 1})]
    assert rows('{"rows": [1, 2], "more": [3]}', "rows", "more") == [(1, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[1,\n2", 2),
        ("[1\n2]", 2),
        ("[1,\n{]", 2),
        ("[1]\n[2]", 1),
        ("[1] x", 1),
        ("[\n", 2),
        ("{", 1),
        ('{"a": 1,\n}', 2),
        ("", 1),
        ("[" * 100_000, 1),
    ],
)
def test_what_is_no_json_is_refused_by_its_line(text: str, line: int) -> None:
    with pytest.raises(InputError, match=f"^x:{line}: "):
        rows(text)


@pytest.mark.fault("N41")
def test_a_list_that_is_cut_off_gives_what_stands_before() -> None:
    lost: list[InputError] = []
    found = list(json_rows(io.StringIO('[{"a": 1},\n{"b": NaN},\n{"c": '), NamedFile("x"), lost.append))
    assert found == [(1, {"a": 1}), (2, {"b": None})]
    assert [error.field for error in lost] == ["x:3"]


def test_lines_may_hold_an_object_each() -> None:
    lost: list[InputError] = []
    found = list(json_rows(io.StringIO('{"a": 1\n{"b": 2}\n5\n{"c": 3}'), NamedFile("x"), lost.append))
    assert found == [(2, {"b": 2}), (4, {"c": 3})]
    assert [error.field for error in lost] == ["x:1", "x:3"]


def test_times() -> None:
    assert moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert moment(1_780_000_000_500) == datetime.fromtimestamp(1_780_000_000.5, UTC)
    assert moment(1.5) == datetime.fromtimestamp(1.5, UTC)
    assert moment("2026") == "2026"
    assert moment(None) is moment("") is None
    for value in (1e300, 10**400, float("inf")):
        with pytest.raises((ValueError, OverflowError)):
            moment(value)
    others: list[object] = [True, [1], {}]
    for other in others:
        with pytest.raises(TypeError):
            moment(other)


def test_what_a_value_is() -> None:
    assert kind_of({"a": 1, "b": 2}) == "an object with the keys 'a', 'b'"
    assert kind_of([]) == "an empty list"
    assert [kind_of(v) for v in (True, None, "x", 2.5)] == ["true", "null", "a text", "a number"]
