from collections import OrderedDict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import numpy as np
import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.options import MAX_TEXT_BYTES
from simonides.records.draft import Draft
from simonides.records.interval import Interval, Precision, to_micros
from simonides.records.kind import Kind, Layer
from simonides.retain.items import read_items

EAST = timezone(timedelta(hours=5, minutes=30))


def micros(*parts: int) -> int:
    return to_micros(datetime(*parts, tzinfo=UTC))  # type: ignore[arg-type,misc]


def test_a_string_becomes_a_draft_of_defaults() -> None:
    assert read_items("Mira moved to Lisbon.", {}) == [
        Draft(
            text="Mira moved to Lisbon.",
            kind=None,
            layer=None,
            context="",
            relation="",
            path="",
            project="",
            tags=(),
            acl=(),
            source="",
            metadata_json="{}",
            occurred=None,
            valid_from=None,
            valid_to=None,
            recorded_at=None,
            salience=None,
            confidence=None,
            deduplicate=True,
            document="",
            session="",
            speaker="",
            role="",
            expansion="",
            statement=None,
            source_text="",
            span=None,
        )
    ]


def test_a_mapping_states_everything() -> None:
    item = {
        "text": " Mira moved. ",
        "kind": "episodic",
        "layer": "working",
        "tags": ["move", "city", "move"],
        "project": "atlas",
        "event_time": "2026-03",
        "valid_from": datetime(2026, 3, 10, tzinfo=UTC),
        "valid_to": "2027",
        "recorded_at": "2026-03-11",
        "metadata": {"b": 1, "a": [None]},
        "acl": {"mira", "jon"},
        "source": "diary.md",
        "context": "at dinner",
        "relation": "lives_in",
        "path": "notes/diary.md",
        "salience": 1,
        "confidence": 0.25,
        "deduplicate": False,
    }
    assert read_items(item, {}) == [
        Draft(
            text=" Mira moved. ",
            kind=Kind.EPISODIC,
            layer=Layer.WORKING,
            context="at dinner",
            relation="lives_in",
            path="notes/diary.md",
            project="atlas",
            tags=("city", "move"),
            acl=("jon", "mira"),
            source="diary.md",
            metadata_json='{"a":[null],"b":1}',
            occurred=Interval(micros(2026, 3, 1), micros(2026, 4, 1), Precision.MONTH),
            valid_from=Interval(micros(2026, 3, 10), micros(2026, 3, 10)),
            valid_to=Interval(micros(2027, 1, 1), micros(2028, 1, 1), Precision.YEAR),
            recorded_at=micros(2026, 3, 11),
            salience=1.0,
            confidence=0.25,
            deduplicate=False,
        )
    ]


@pytest.mark.parametrize("kind", Kind)
def test_the_layer_is_settled_later_unless_it_is_stated(kind: Kind) -> None:
    for items, shared in (("x", {"kind": kind}), ({"text": "x", "kind": kind.value}, {})):
        (draft,) = read_items(items, shared)
        assert (draft.kind, draft.layer) == (kind, None)
    assert read_items("x", {"kind": kind, "layer": "working"})[0].layer is Layer.WORKING


def test_an_item_overrides_what_is_shared_and_none_means_not_given() -> None:
    shared = {"kind": "code", "tags": ["shared"], "project": "atlas", "salience": None}
    items = [
        "a",
        {"text": "b", "tags": [], "kind": "decision"},
        {"text": "c", "tags": None, "project": ""},
    ]
    first, second, third = read_items(items, shared)
    assert (first.kind, first.layer, first.tags, first.project) == (Kind.CODE, None, ("shared",), "atlas")
    assert (second.kind, second.layer, second.tags) == (Kind.DECISION, None, ())
    assert (third.tags, third.project, third.salience) == (("shared",), "", None)


def test_items_come_from_any_ordered_iterable() -> None:
    def generate() -> Iterator[str]:
        yield "a"
        yield "b"

    for items in (["a", "b"], ("a", "b"), generate(), dict.fromkeys("ab").keys(), np.array(["a", "b"])):
        assert [draft.text for draft in read_items(items, {})] == ["a", "b"]
    assert read_items(OrderedDict(text="a"), {})[0].text == "a"
    assert read_items([], {}) == []
    assert read_items(iter(()), {"tags": ["a"]}) == []


def test_a_single_item_and_a_list_of_one_name_fields_differently() -> None:
    with pytest.raises(InputError) as single:
        read_items({"text": "x", "tags": [3]}, {})
    with pytest.raises(InputError) as listed:
        read_items([{"text": "x", "tags": [3]}], {})
    assert (single.value.field, listed.value.field) == ("tags[0]", "items[0].tags[0]")


def test_what_is_wrong_with_a_shared_value_names_the_argument_alone() -> None:
    for items in (["fine"], []):
        with pytest.raises(InputError) as caught:
            read_items(items, {"tags": [""]})
        assert caught.value.field == "tags[0]"


@pytest.mark.parametrize(
    ("item", "field", "problem"),
    [
        ("", ".text", "is blank"),
        (" \n\u3000", ".text", "is blank"),
        ("a\0b", ".text", "NUL at character 1"),
        ("a\ud83d", ".text", "lone surrogate"),
        (b"bytes", "", "got bytes; decode it first"),
        (7, "", "expected a string or a mapping, got int"),
        (None, "", "got NoneType"),
        (["nested"], "", "got list"),
        ({}, ".text", "is missing"),
        ({"text": None}, ".text", "is missing"),
        ({"text": 7}, ".text", "expected a string, got int"),
        ({"kind": "semantik"}, ".kind", "did you mean 'semantic'"),
        ({"kind": 3}, ".kind", "expected one of episodic, semantic"),
        ({"kind": ["code"]}, ".kind", "got list"),
        ({"kind": "world"}, ".kind", "is not known"),
        ({"layer": "code"}, ".layer", "did you mean 'codebase'"),
        ({"tags": "work"}, ".tags", "expected a list, got a string"),
        ({"tags": {"work": 1}}, ".tags", "got dict"),
        ({"tags": ["a", None]}, ".tags[1]", "got NoneType"),
        ({"tags": ["a", "\ud83d"]}, ".tags[1]", "lone surrogate"),
        ({"acl": "mira"}, ".acl", "expected a list"),
        ({"project": 5}, ".project", "expected a string"),
        ({"project": "x" * 257}, ".project", "at most 256"),
        ({"path": "x" * 4097}, ".path", "at most 4,096"),
        ({"source": "\0"}, ".source", "NUL"),
        ({"context": "x" * 65537}, ".context", "at most 65,536"),
        ({"relation": "x" * 257}, ".relation", "at most 256"),
        ({"metadata": {"\ud83d": 1}}, r".metadata['\ud83d'] (the key)", "lone surrogate"),
        ({"metadata": {"a": [float("inf")]}}, ".metadata['a'][0]", "is inf"),
        ({"event_time": "2026-02-30"}, ".event_time", "not a valid date"),
        ({"valid_from": 20260310}, ".valid_from", "got int"),
        ({"valid_to": "\ud83d"}, ".valid_to", "not a valid date"),
        ({"recorded_at": ""}, ".recorded_at", "not a valid date"),
        ({"valid_from": "2026", "valid_to": "2026-01-01"}, ".valid_to", "is not later than valid_from"),
        ({"salience": True}, ".salience", "from 0 to 1, got True"),
        ({"salience": float("nan")}, ".salience", "from 0 to 1, got nan"),
        ({"salience": "0.5"}, ".salience", "from 0 to 1, got '0.5'"),
        ({"confidence": 1.0000001}, ".confidence", "from 0 to 1"),
        ({"confidence": -1}, ".confidence", "from 0 to 1, got -1"),
        pytest.param({"confidence": 10**5000}, ".confidence", "got a whole number of", id="huge"),
        ({"deduplicate": 1}, ".deduplicate", "expected true or false, got 1"),
        ({"evnt_time": "2026"}, ".evnt_time", "did you mean 'event_time'"),
        ({"\ud83d": 1}, "", r"has an unknown key, '\\ud83d'"),
        ({"a key": 1}, "", "has an unknown key, 'a key'; valid keys: acl, "),
        ({3: 1}, "", "has an unknown key, 3"),
        pytest.param({"x" * 10_000_000: 1}, "", "has an unknown key", id="long key"),
    ],
)
@pytest.mark.fault("L6")
def test_each_problem_names_item_and_field_in_a_printable_message(
    item: object, field: str, problem: str
) -> None:
    if isinstance(item, dict) and item and "text" not in item:
        item = {"text": "fine", **item}
    with pytest.raises(InputError, match=problem) as caught:
        read_items(["fine", item], {})
    assert caught.value.field == f"items[1]{field}"
    assert len(str(caught.value).encode("utf-8")) < 400


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        (None, "got NoneType"),
        (5, "expected a string, a mapping or a list of them, got int"),
        (b"bytes", "got bytes; decode it first"),
        (bytearray(b"bytes"), "got bytearray"),
        ({"a", "b"}, "a set has no order"),
    ],
)
def test_what_holds_no_items_is_refused(items: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_items(items, {})


def test_an_unknown_argument_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'project'") as caught:
        read_items("x", {"projekt": "atlas"})
    assert caught.value.field == "projekt"
    with pytest.raises(UnknownNameError):
        read_items("x", {"text": "shared text"})


def test_a_long_text_is_refused_with_a_remedy() -> None:
    assert read_items("x" * MAX_TEXT_BYTES, {})[0].text
    with pytest.raises(
        InputError, match=r"^text: is 10,485,760 bytes .* at most 1,048,576 .* split it .* file"
    ):
        read_items("x" * (10 * 1024 * 1024), {})


def test_validity_is_compared_across_item_and_shared_values() -> None:
    with pytest.raises(InputError) as caught:
        read_items(["a", {"text": "b", "valid_from": "2027"}], {"valid_to": "2026-06"})
    assert caught.value.field == "items[1].valid_to"


def test_times_without_a_zone_mean_the_given_one() -> None:
    draft = read_items(
        {"text": "x", "event_time": "2026-03-10"}, {"recorded_at": "2026-03-10T10:00"}, zone=EAST
    )[0]
    assert draft.occurred is not None
    assert draft.occurred.start == to_micros(datetime(2026, 3, 10, tzinfo=EAST))
    assert draft.recorded_at == to_micros(datetime(2026, 3, 10, 10, tzinfo=EAST))


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), Fraction(1, 2)])
def test_numbers_of_other_libraries_become_plain_ones(value: object) -> None:
    salience = read_items("x", {"salience": value})[0].salience
    assert type(salience) is float
    assert salience == 0.5
