"""Bad input of every sort: one error of the tree that names the field, and nothing is stored."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simonides
from simonides.errors import InputError, SimonidesError, UnknownNameError
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank

TEN_MEGABYTES = "kettle " * (10 * 1024 * 1024 // 7)
OUT_OF_YEARS = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))


def stored(bank: Bank) -> tuple[int, ...]:
    """How many rows there are of everything that a retain writes."""
    stats = bank.stats()
    return tuple(stats[name] for name in ("memories", "versions", "episodes", "with_vector", "sequence"))


@pytest.fixture
def one(bank: Bank) -> Bank:
    """A bank that holds one memory."""
    bank.retain("The kettle is new.")
    return bank


BAD_ITEMS: list[tuple[str, dict[str, Any]]] = [
    ("text", {"text": ""}),
    ("text", {"text": " \n\t\u2003"}),
    ("text", {"text": "a\0b"}),
    ("text", {"text": "a\ud83d"}),
    ("text", {"text": "\udc00\ud800"}),
    ("text", {"text": TEN_MEGABYTES}),
    ("text", {"text": None}),
    ("text", {"text": b"kettle"}),
    ("text", {"text": 7}),
    ("text", {"text": ["kettle"]}),
    ("txt", {"txt": "kettle"}),
    ("kind", {"text": "kettle", "kind": "rumour"}),
    ("kind", {"text": "kettle", "kind": "Decision"}),
    ("kind", {"text": "kettle", "kind": ""}),
    ("kind", {"text": "kettle", "kind": 3}),
    ("layer", {"text": "kettle", "layer": "top"}),
    ("tags", {"text": "kettle", "tags": "kitchen"}),
    ("tags", {"text": "kettle", "tags": 3}),
    ("tags", {"text": "kettle", "tags": {"kitchen": True}}),
    ("tags[1]", {"text": "kettle", "tags": ["kitchen", 3]}),
    ("tags[0]", {"text": "kettle", "tags": [""]}),
    ("tags[0]", {"text": "kettle", "tags": ["a\0b"]}),
    ("tags[0]", {"text": "kettle", "tags": ["x" * 300]}),
    ("tags", {"text": "kettle", "tags": [f"t{n}" for n in range(1_001)]}),
    ("acl", {"text": "kettle", "acl": "ines"}),
    ("acl[0]", {"text": "kettle", "acl": [None]}),
    ("project", {"text": "kettle", "project": ["atlas"]}),
    ("project", {"text": "kettle", "project": "x" * 300}),
    ("event_time", {"text": "kettle", "event_time": "yesterday"}),
    ("event_time", {"text": "kettle", "event_time": "2026-02-30"}),
    ("event_time", {"text": "kettle", "event_time": ""}),
    ("event_time", {"text": "kettle", "event_time": "99999"}),
    ("event_time", {"text": "kettle", "event_time": "2026-01-01T25:00"}),
    ("event_time", {"text": "kettle", "event_time": 1_772_000_000}),
    ("event_time", {"text": "kettle", "event_time": ("2026", "2027")}),
    ("event_time", {"text": "kettle", "event_time": OUT_OF_YEARS}),
    ("valid_from", {"text": "kettle", "valid_from": "soon"}),
    ("valid_to", {"text": "kettle", "valid_to": "2026-13"}),
    ("valid_to", {"text": "kettle", "valid_from": "2026-02", "valid_to": "2026-01"}),
    ("valid_to", {"text": "kettle", "valid_from": "2026-02", "valid_to": "2026-02"}),
    ("valid_to", {"text": "kettle", "valid_to": "2026-01"}),
    ("recorded_at", {"text": "kettle", "recorded_at": "now"}),
    ("metadata", {"text": "kettle", "metadata": ["page"]}),
    ("metadata", {"text": "kettle", "metadata": {3: "page"}}),
    ("metadata", {"text": "kettle", "metadata": {"page": object()}}),
    ("metadata", {"text": "kettle", "metadata": {"page": float("nan")}}),
    ("metadata", {"text": "kettle", "metadata": {"page": "x" * 70_000}}),
    ("source", {"text": "kettle", "source": 3}),
    ("context", {"text": "kettle", "context": "x" * 70_000}),
    ("relation", {"text": "kettle", "relation": "x" * 300}),
    ("path", {"text": "kettle", "path": "a\0b"}),
    ("salience", {"text": "kettle", "salience": 1.5}),
    ("salience", {"text": "kettle", "salience": float("nan")}),
    ("salience", {"text": "kettle", "salience": "high"}),
    ("confidence", {"text": "kettle", "confidence": -0.1}),
    ("confidence", {"text": "kettle", "confidence": True}),
    ("deduplicate", {"text": "kettle", "deduplicate": 1}),
    ("knd", {"text": "kettle", "knd": "code"}),
    ("", {"text": "kettle", "two words": 1}),
    ("", {"text": "kettle", "tags[0]": "a"}),
]


def short(value: object) -> str:
    """A test's name: the same in every process, so without the address of an object."""
    return re.sub(r" at 0x[0-9a-f]+", "", ascii(value))[:60]


@pytest.mark.parametrize(("field", "item"), BAD_ITEMS, ids=short)
def test_a_bad_item_is_named_by_place_and_field_and_nothing_is_stored(
    one: Bank, field: str, item: dict[str, Any]
) -> None:
    before = stored(one)

    with pytest.raises(InputError) as caught:
        one.retain(["The stove is old.", item, "The pan is lost."])

    place = f"items[1].{field}" if field else "items[1]"
    assert caught.value.field == place or caught.value.field.startswith(f"{place}[")
    assert 10 < len(str(caught.value)) < 400
    str(caught.value).encode()
    assert stored(one) == before
    assert [hit.text for hit in one.recall("kettle stove pan")] == ["The kettle is new."]


@pytest.mark.parametrize(
    ("field", "item"),
    [(field, item) for field, item in BAD_ITEMS if field not in {"", "text", "txt", "knd"}],
    ids=short,
)
def test_a_bad_argument_of_retain_is_named(one: Bank, field: str, item: dict[str, Any]) -> None:
    before = stored(one)

    with pytest.raises(InputError) as caught:
        one.retain(item["text"], **{name: value for name, value in item.items() if name != "text"})

    # What only shows once defaults are filled in is known by the item's place.
    named = caught.value.field.removeprefix("items[0].")
    assert named == field or named.startswith(f"{field}[")
    assert stored(one) == before


@pytest.mark.parametrize(
    "items",
    [None, 3, 1.5, True, b"kettle", {"kettle"}, object(), [["kettle"]], [None], [3], [b"x"]],
    ids=short,
)
def test_what_is_no_item_is_refused(one: Bank, items: Any) -> None:
    before = stored(one)

    with pytest.raises(InputError) as caught:
        one.retain(items)

    assert caught.value.field in {"text", "items", "items[0]"}
    assert stored(one) == before


BAD_RECALLS: list[tuple[str, dict[str, Any]]] = [
    ("query", {"query": ""}),
    ("query", {"query": " \n"}),
    ("query", {"query": "a\0b"}),
    ("query", {"query": "a\ud83d"}),
    ("query", {"query": TEN_MEGABYTES}),
    ("query", {"query": None}),
    ("query", {"query": b"kettle"}),
    ("query", {"query": ["kettle"]}),
    ("limit", {"limit": 0}),
    ("limit", {"limit": -1}),
    ("limit", {"limit": 10**9}),
    ("limit", {"limit": 10**400}),
    ("limit", {"limit": 1.5}),
    ("limit", {"limit": True}),
    ("limit", {"limit": "10"}),
    ("max_tokens", {"max_tokens": -1}),
    ("max_tokens", {"max_tokens": 10**9}),
    ("max_tokens", {"max_tokens": float("inf")}),
    ("kinds", {"kinds": "rumour"}),
    ("kinds[1]", {"kinds": ["code", "rumour"]}),
    ("kinds[0]", {"kinds": [None]}),
    ("kinds", {"kinds": 3}),
    ("project", {"project": 3}),
    ("tags", {"tags": "kitchen"}),
    ("tags", {"tags": {"kitchen": 1}}),
    ("tags[0]", {"tags": [3]}),
    ("tags[0]", {"tags": [" "]}),
    ("tags_match", {"tags_match": "some"}),
    ("tags_match", {"tags_match": None}),
    ("as_of", {"as_of": "tomorrow"}),
    ("as_of", {"as_of": "2026-02-30"}),
    ("as_of", {"as_of": 2026}),
    ("known_at", {"known_at": "2026-13"}),
    ("window", {"window": ("2026-02", "2026-01")}),
    ("window", {"window": ("2026-02", "2026-02")}),
    ("window", {"window": ("2026-02",)}),
    ("window", {"window": "2026-02-01T10:00Z"}),
    ("window", {"window": 2026}),
    ("window[0]", {"window": ("soon", None)}),
    ("profile", {"profile": "defualt"}),
    ("profile", {"profile": ""}),
    ("profile", {"profile": 3}),
    ("explain", {"explain": "yes"}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 2**63}),
    ("seed", {"seed": 0.5}),
]


@pytest.mark.parametrize(("field", "arguments"), BAD_RECALLS, ids=short)
def test_a_bad_argument_of_recall_is_named_and_the_next_recall_works(
    one: Bank, field: str, arguments: dict[str, Any]
) -> None:
    before = stored(one)

    with pytest.raises(InputError) as caught:
        one.recall(**{"query": "kettle", **arguments})

    assert caught.value.field == field
    assert 10 < len(str(caught.value)) < 400
    str(caught.value).encode()
    assert stored(one) == before
    assert len(one.recall("kettle")) == 1


def test_unknown_parameters_are_named(one: Bank) -> None:
    with pytest.raises(TypeError, match="'knd'"):
        one.retain("The stove is old.", knd="code")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'limt'"):
        one.recall("kettle", limt=3)  # type: ignore[call-arg]
    with pytest.raises(UnknownNameError, match="did you mean 'kind'"):
        one.retain({"text": "The stove is old.", "knd": "code"})
    with pytest.raises(InputError, match="unknown key, 3"):
        one.retain({"text": "The stove is old.", 3: "code"})  # type: ignore[dict-item]
    assert one.stats()["versions"] == 1


@pytest.mark.parametrize("limit", [1, 10_000])
def test_the_ends_of_what_is_allowed_are_allowed(one: Bank, limit: int) -> None:
    one.retain("x" * 1024 * 1024)
    one.retain(
        {
            "text": "kettle",
            "tags": ["x" * 256],
            "project": "x" * 256,
            "metadata": {},
            "salience": 0,
            "confidence": 1,
        }
    )

    assert one.recall("kettle", limit=limit, max_tokens=10_000_000, seed=2**63 - 1)
    assert one.stats()["versions"] == 3


ANY_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=10),
    st.sampled_from(
        [
            "",
            " ",
            "\0",
            "\ud83d",
            "kettle",
            "code",
            "2026",
            "2026-02-30",
            "any",
            "exact",
            "default",
            "x.toml",
            "/",
            "~",
        ]
    ),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**9, 10**400, -1, 0]),
    st.floats(),
    ANY_TEXT,
    st.binary(max_size=3),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.sampled_from(
        [
            OUT_OF_YEARS,
            date.max,
            date.min,
            datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
            Path("/nowhere"),
            Path("a\0b"),
            object(),
            3 + 4j,
            len,
        ]
    ),
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(ANY_TEXT, inner, max_size=2),
        st.frozensets(ANY_TEXT, max_size=2),
    ),
    max_leaves=4,
)
RETAIN = (
    "kind", "layer", "tags", "project", "event_time", "valid_from", "valid_to", "recorded_at", "metadata", "acl",
    "source", "context", "relation", "path", "salience", "confidence", "deduplicate",
)  # fmt: skip
RECALL = (
    "limit", "max_tokens", "profile", "kinds", "project", "tags", "tags_match", "as_of", "known_at", "window",
    "explain", "seed",
)  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """One bank for all junk: whatever happens to it, it goes on."""
    with simonides.open(tmp_path_factory.mktemp("junk"), clock=FrozenClock(), embedder=None) as store:
        yield store.bank("diary")


@pytest.mark.parametrize("name", RETAIN)
@given(junk=JUNK, in_item=st.booleans())
def test_junk_for_any_argument_of_retain_is_stored_or_refused_in_words(
    shared: Bank, name: str, junk: Any, *, in_item: bool
) -> None:
    before = shared.stats()["sequence"]
    try:
        ids = (
            shared.retain([{"text": "kettle", name: junk}])
            if in_item
            else shared.retain("kettle", **{name: junk})
        )
    except SimonidesError as error:
        str(error).encode()
        assert shared.stats()["sequence"] == before
    else:
        assert shared.get_memory(ids[0]).text == "kettle"


@given(junk=JUNK, in_list=st.booleans())
def test_junk_for_items_is_stored_or_refused_in_words(shared: Bank, junk: Any, *, in_list: bool) -> None:
    before = shared.stats()["sequence"]
    try:
        ids = shared.retain(["kettle", junk, "stove"] if in_list else junk)
    except SimonidesError as error:
        str(error).encode()
        assert shared.stats()["sequence"] == before
    else:
        assert [shared.get_memory(memory).id for memory in ids] == ids


@pytest.mark.parametrize("name", RECALL)
@given(junk=JUNK)
def test_junk_for_any_argument_of_recall_is_answered_or_refused_in_words(
    shared: Bank, name: str, junk: Any
) -> None:
    try:
        recall = shared.recall("kettle", **{name: junk})
    except SimonidesError as error:
        str(error).encode()
    else:
        assert recall.trace.query == "kettle"


@given(junk=JUNK)
def test_junk_for_a_query_an_id_or_a_name_is_answered_or_refused_in_words(shared: Bank, junk: Any) -> None:
    for use in (shared.recall, shared.get_memory, shared.forget):
        with contextlib.suppress(SimonidesError):
            use(junk)
    assert shared.recall("kettle").trace.query == "kettle"
