"""Whatever comes as a message is read, or refused by its place; nothing else happens."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.records.kind import ROLE_OF_MESSAGE
from simonides.retain.conversations import conversation_items, left_out_of, with_messages
from simonides.retain.items import read_items

WORDS = st.sampled_from(["figs", "", " ", "\0", "\ud800", "Tove"])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(
    [
        "text",
        "input_text",
        "image_url",
        "tool_use",
        "tool_result",
        "thinking",
        "function_call",
        "message",
        "human",
    ]
)
PART = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | ANY, "text": WORDS | ANY, "id": WORDS, "tool_use_id": WORDS, "name": WORDS, "input": ANY,
        "content": WORDS | ANY, "citations": ANY,
    },
)  # fmt: skip
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(sorted(ROLE_OF_MESSAGE)) | ANY, "content": WORDS | st.lists(PART | ANY, max_size=3) | ANY,
        "type": TYPES | st.sampled_from(["reasoning", "function_call_output", "custom_tool_call"]),
        "tool_calls": st.lists(PART | st.fixed_dictionaries({"id": WORDS, "function": PART | ANY}) | ANY, max_size=2) | ANY,
        "function_call": PART | ANY, "tool_call_id": WORDS, "name": WORDS | ANY, "refusal": ANY, "output": ANY,
        "call_id": WORDS, "arguments": ANY, "tags": ANY, "session": WORDS | ANY, "metadata": ANY, "context": ANY,
    },
)  # fmt: skip


@given(st.lists(MESSAGE, min_size=1, max_size=4), st.sampled_from([{}, {"session": "s"}, {"context": "c"}]))
def test_messages_are_read_or_refused_by_their_place(messages: list[Any], shared: dict[str, Any]) -> None:
    before = copy.deepcopy(messages)
    field = "messages[0]"
    try:
        found = with_messages(messages, shared)
        if found is not None:
            drafts = read_items(found.items, shared, places=found.places)
            assert all(
                draft.text.strip() and draft.role in {"user", "assistant", "tool", ""} for draft in drafts
            )
            assert all(count > 0 for count in left_out_of(messages).values())
    except InputError as error:
        field = error.field
    assert field.startswith(("messages[", "items["))
    assert repr(messages) == repr(before)


@given(st.lists(MESSAGE, max_size=4))
def test_turns_are_read_or_refused_by_their_place(messages: list[Any]) -> None:
    field = "turns[0]"
    try:
        read_items(conversation_items(messages, session="s"), {})
    except InputError as error:
        field = error.field
    assert field.startswith("turns[")
