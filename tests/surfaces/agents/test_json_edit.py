"""A value in a JSON file changes, and no other byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.surfaces.agents.json_edit import ByHandError, cut, parse, put

NEW = {"command": "x", "args": ["a"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "s": {\n    "n": 1\n  }\n}\n'),
        ('{"a":1}', '{"a":1, "s": {"n": 1}}'),
        ('{\n\t"a": 1.0\n}', '{\n\t"a": 1.0,\n\t"s": {\n\t\t"n": 1\n\t}\n}'),
        ('{\r\n  "s": {}\r\n}', '{\r\n  "s": {\r\n    "n": 1\r\n  }\r\n}'),
        ('{"s": {"m" : 2 }, "z":[1,2]}', '{"s": {"m" : 2, "n": 1 }, "z":[1,2]}'),
        (
            '{\n    "s": {\n        "n": 7\n    }, "k": "ü\\u00fc"\n}',
            '{\n    "s": {\n        "n": 1\n    }, "k": "ü\\u00fc"\n}',
        ),
    ],
)
def test_a_value_is_put_where_it_belongs_in_the_files_own_form(before: str, after: str) -> None:
    assert put(before, ("s", "n"), 1) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ('{"a": 1, "b": 2, "c": 3}', ("b",), '{"a": 1, "c": 3}'),
        ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
        ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
        ('{\n  "a": {\n    "b": 2\n  }\n}', ("a", "b"), '{\n  "a": {}\n}'),
        ('{"a": [1, [2], 3]}', ("a", 1), '{"a": [1, 3]}'),
    ],
)
def test_a_value_is_cut_out_with_its_comma(before: str, path: tuple[str | int, ...], after: str) -> None:
    assert cut(before, path) == after


_KEYS = st.text(max_size=3)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(_KEYS, _VALUES, max_size=4),
    _KEYS,
    _KEYS,
    st.sampled_from([None, 1, 2, "\t"]),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
def test_what_is_put_in_and_cut_out_again_leaves_the_values(
    whole: dict[str, Any], outer: str, inner: str, indent: Any, separators: Any
) -> None:
    text = json.dumps(whole, indent=indent, separators=separators, ensure_ascii=False)
    if not isinstance(whole.get(outer, {}), dict):
        return
    changed = put(text, (outer, inner), NEW)
    assert json.loads(changed) == {**whole, outer: {**whole.get(outer, {}), inner: NEW}}
    if inner not in whole.get(outer, {}):
        assert json.loads(cut(changed, (outer, inner))) == {outer: {}, **whole}


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"a": 1,\n "b" 2}', "f:2:6"), ("", "f:1:1"), ('{"a": "', "f:1:7"), ("[" * 100_000, "f: is nested")],
)
def test_a_broken_file_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(InputError, match=place):
        parse(text, "f")


@pytest.mark.parametrize(
    "text", ['{"a": 1} // why', '{/* b */ "a": 1}', '{"a": [1, 2,],}', '{"a": "// no comment", /* */ "b": 1}']
)
def test_a_file_with_comments_is_for_hands(text: str) -> None:
    with pytest.raises(ByHandError, match="comments"):
        parse(text, "f")


def test_a_text_that_looks_like_a_comment_is_none() -> None:
    assert parse('{"url": "http://x/*y*/,]"}', "f") == {"url": "http://x/*y*/,]"}


def test_a_key_that_stands_twice_is_not_guessed() -> None:
    text = '{"s": {"x": 1}, "s": {"y": 2}}'
    # The last one counts, and it is the one that is changed.
    assert put(text, ("s", "y"), 3) == '{"s": {"x": 1}, "s": {"y": 3}}'
    with pytest.raises(InputError, match="a key twice"):
        cut(text, ("s",))
