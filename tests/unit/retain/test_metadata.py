import json
from types import MappingProxyType

import pytest

from simonides.errors import InputError
from simonides.options import MAX_METADATA_BYTES
from simonides.retain.items import MAX_METADATA_DEPTH, canonical_json


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_equal_metadata_gives_equal_text() -> None:
    first = {"b": [1, 2.5, True, None], "a": {"y": "é", "x": ""}}
    second = MappingProxyType({"a": MappingProxyType({"x": "", "y": "é"}), "b": (1, 2.5, True, None)})
    assert canonical_json(first, "metadata") == '{"a":{"x":"","y":"é"},"b":[1,2.5,true,null]}'
    assert canonical_json(second, "metadata") == canonical_json(first, "metadata")
    assert canonical_json({}, "metadata") == "{}"


@pytest.mark.fault("F2")
def test_keys_may_hold_quotes_and_operators_of_query_languages() -> None:
    metadata = {"'; --": 1, '$."x"[0])': 2, "": 3}
    assert json.loads(canonical_json(metadata, "metadata")) == metadata


@pytest.mark.parametrize(
    ("value", "field", "problem"),
    [
        ("text", "metadata", "expected a mapping"),
        ([("a", 1)], "metadata", "expected a mapping"),
        ({1: "a"}, "metadata", "has a key of type int"),
        ({"a": {None: 1}}, "metadata['a']", "has a key of type NoneType"),
        ({"a": float("nan")}, "metadata['a']", "is nan"),
        ({"a": [0.5, float("-inf")]}, "metadata['a'][1]", "is -inf"),
        ({"a": {"b": "x\ud83d"}}, "metadata['a']['b']", "lone surrogate"),
        ({"a": ["\0"]}, "metadata['a'][0]", "NUL"),
        ({"\ud83d": 1}, r"metadata['\ud83d'] (the key)", "lone surrogate"),
        ({"a": b"bytes"}, "metadata['a']", "has the type bytes"),
        ({"a": {1, 2}}, "metadata['a']", "has the type set"),
        ({"a": object()}, "metadata['a']", "has the type object"),
        ({"a": 2**63}, "metadata['a']", "beyond 64 bits"),
        pytest.param({"a": 10**5000}, "metadata['a']", "beyond 64 bits", id="huge"),
    ],
)
@pytest.mark.fault("L6")
def test_what_json_cannot_say_is_refused_by_place(value: object, field: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        canonical_json(value, "metadata")
    assert caught.value.field == field
    str(caught.value).encode("utf-8")


def test_the_limit_counts_bytes_of_the_canonical_text() -> None:
    room = MAX_METADATA_BYTES - len('{"k":""}')
    assert len(canonical_json({"k": "x" * room}, "metadata")) == MAX_METADATA_BYTES
    for fat in ({"k": "x" * (room + 1)}, {"k": "é" * (room // 2 + 1)}, {"k": [0] * MAX_METADATA_BYTES}):
        with pytest.raises(InputError, match=r"^metadata: is longer than 65,536 bytes"):
            canonical_json(fat, "metadata")


def test_depth_is_limited() -> None:
    assert canonical_json({"k": nested(MAX_METADATA_DEPTH - 1)}, "metadata")
    with pytest.raises(InputError, match="nested more than 32 levels"):
        canonical_json({"k": nested(MAX_METADATA_DEPTH)}, "metadata")


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["again"] = loop
    with pytest.raises(InputError, match="nested more than"):
        canonical_json(loop, "metadata")


def test_shared_parts_cannot_multiply_the_work() -> None:
    value: object = 1
    for _ in range(MAX_METADATA_DEPTH - 2):
        value = [value, value, value]
    with pytest.raises(InputError, match="is longer than"):
        canonical_json({"k": value}, "metadata")
