from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.records.source import LONGEST_NEIGHBOUR, Origin
from simonides.retain.conversations import conversation_items
from simonides.retain.items import ORIGIN, read_items

if TYPE_CHECKING:
    from simonides.bank import Bank

TURNS: list[dict[str, Any]] = [
    {"speaker": "Ilse", "text": "Is the ferry late?"},
    {"speaker": "Bram", "text": "Yes, by an hour."},
    {"speaker": "Ilse", "text": "Why?", "event_time": "2026-03-02", "role": "user", "metadata": {"n": 3}},
    {"text": "(laughter)"},
]


def test_a_turn_is_an_item_with_its_neighbours_as_context() -> None:
    items = conversation_items(TURNS, session="s", before=1, after=1)
    assert [(item["text"], item["context"]) for item in items] == [
        ("Ilse: Is the ferry late?", "Bram: Yes, by an hour."),
        ("Bram: Yes, by an hour.", "Ilse: Is the ferry late?\nIlse: Why?"),
        ("Ilse: Why?", "Bram: Yes, by an hour.\n(laughter)"),
        ("(laughter)", "Ilse: Why?"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (0, 0, ""),
        (2, 0, "Ilse: Is the ferry late?\nBram: Yes, by an hour."),
        (0, 5, "(laughter)"),
        (1, 0, "Bram: Yes, by an hour."),
    ],
)
def test_the_window(before: int, after: int, expected: str) -> None:
    assert conversation_items(TURNS, session="s", before=before, after=after)[2]["context"] == expected


def test_what_a_turn_says_of_itself_is_kept() -> None:
    item = conversation_items(TURNS, session="s")[2]
    assert (item["session"], item["speaker"], item["role"]) == ("s", "Ilse", "user")
    assert (item["event_time"], item["metadata"]) == ("2026-03-02", {"n": 3})


def test_a_turn_may_say_what_any_item_says_but_what_the_whole_decides() -> None:
    own = {"text": "Mine.", "tags": ["secret"], "acl": ["ilse"], "kind": "preference", "salience": 0.9}
    drafts = read_items(conversation_items([own, {"text": "Ours."}], session="s"), {"tags": ["ferry"]})
    assert [(draft.tags, draft.acl, draft.kind, draft.salience) for draft in drafts] == [
        (("secret",), ("ilse",), "preference", 0.9),
        (("ferry",), (), None, None),
    ]
    for key in ("session", "context", "document_id"):
        with pytest.raises(UnknownNameError, match=rf"turns\[0\]\.{key}"):
            conversation_items([{"text": "a", key: "b"}], session="s")


def test_the_origin_is_the_turn_as_it_was_said() -> None:
    items = conversation_items(TURNS, session="s")
    assert [item[ORIGIN] for item in items][:2] == [
        Origin("Is the ferry late?", 0, 18),
        Origin("Yes, by an hour.", 0, 16),
    ]
    assert [draft.source_text for draft in read_items(items, {})] == [turn["text"] for turn in TURNS]


def test_a_turn_is_named_by_its_place_among_all(bank: Bank) -> None:
    turns: list[dict[str, Any]] = [
        {"role": "system", "content": "Be kind."},
        {"text": "Figs."},
        {"role": "user", "content": "A.", "tags": 7},
    ]
    with pytest.raises(InputError) as caught:
        bank.retain_conversation(turns, session="s")
    assert caught.value.field == "turns[2].tags"
    with pytest.raises(InputError) as caught:
        bank.retain_conversation([{"text": "Figs.", "event_time": "soon"}], session="s")
    assert caught.value.field == "turns[0].event_time"


def test_a_long_neighbour_is_cut() -> None:
    items = conversation_items([{"text": "a" * 5_000}, {"text": "b"}], session="s")
    assert items[1]["context"] == "a" * LONGEST_NEIGHBOUR
    assert items[0]["text"] == "a" * 5_000


def test_no_turns_are_no_items() -> None:
    assert conversation_items([], session="s") == []


@pytest.mark.parametrize(
    ("turns", "field"),
    [
        ("hello", "turns"),
        ({"text": "hello"}, "turns"),
        (7, "turns"),
        (["hello"], "turns[0]"),
        ([{"text": "a"}, {"speaker": "Ilse"}], "turns[1].text"),
        ([{"text": " "}], "turns[0].text"),
        ([{"text": 7}], "turns[0].text"),
        ([{"text": "a", "speaker": 7}], "turns[0].speaker"),
        ([{"text": "a", "speeker": "Ilse"}], "turns[0].speeker"),
        ([{"text": "a", 7: 1}], "turns[0]"),
    ],
)
def test_a_wrong_turn_is_named(turns: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        conversation_items(turns, session="s")
    assert caught.value.field == field


def test_a_wrong_key_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'speaker'"):
        conversation_items([{"text": "a", "speeker": "Ilse"}], session="s")


@pytest.mark.parametrize("size", [-1, True, 1.5, "2"])
def test_a_wrong_window_is_refused(size: Any) -> None:
    for field in ("before", "after"):
        with pytest.raises(InputError) as caught:
            conversation_items(TURNS, session="s", **{field: size})
        assert caught.value.field == field
