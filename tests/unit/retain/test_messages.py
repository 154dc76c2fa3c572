from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.retain.conversations import conversation_items, left_out_of, with_messages
from simonides.retain.items import read_items
from simonides.retain.messages import MessageReader, is_message

if TYPE_CHECKING:
    from simonides.bank import Bank

CALL = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Norrhav"}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "name": "Tove", "content": "I never eat fish."},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None},
    {"role": "tool", "tool_call_id": "1", "content": "21 degrees in the shade"},
    {"role": "assistant", "content": [{"type": "text", "text": "It is warm."}]},
]


def told(messages: Any, **shared: Any) -> list[tuple[str, str, str]]:
    """Text, role and speaker of what is read of messages."""
    given = with_messages(messages, shared)
    assert given is not None
    drafts = read_items(given.items, shared, places=given.places)
    return [(draft.text, draft.role, draft.speaker) for draft in drafts]


def count(messages: Any) -> dict[str, int]:
    return left_out_of(messages)


def test_roles_are_those_of_memories() -> None:
    assert told(CHAT) == [
        ("Tove: I never eat fish.", "user", "Tove"),
        ("weather: 21 degrees in the shade", "tool", "weather"),
        ("It is warm.", "assistant", ""),
    ]
    assert count(CHAT) == {"system message": 1, "tool call": 1}


@pytest.mark.parametrize(
    ("message", "text", "role"),
    [
        ({"role": "user", "content": "Figs."}, "Figs.", "user"),
        ({"role": "developer", "content": "Be kind."}, None, None),
        ({"role": "function", "name": "look", "content": "Figs."}, "look: Figs.", "tool"),
        ({"role": "user", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}, "A\nB", "user"),
        ({"role": "user", "content": ["A", {"type": "input_text", "text": "B"}]}, "A\nB", "user"),
        ({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]}, "A", "assistant"),
        ({"type": "function_call_output", "call_id": "9", "output": "Figs."}, "Figs.", "tool"),
        ({"type": "human", "content": "Figs."}, "Figs.", "user"),
        ({"type": "ai", "content": "Figs.", "tool_calls": []}, "Figs.", "assistant"),
        ({"role": "user", "content": "Figs.", "tags": ["garden"], "cache_control": {"type": "x"}}, "Figs.", "user"),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "x"},
                    {"type": "text", "text": "Figs ", "citations": [{"type": "char_location"}]},
                    {"type": "text", "text": "grow."},
                ],
            },
            "Figs grow.",
            "assistant",
        ),
    ],
)  # fmt: skip
def test_the_shapes_of_a_message(message: dict[str, Any], text: str | None, role: str | None) -> None:
    assert is_message(message)
    found = told([message])
    assert [(each[0], each[1]) for each in found] == ([] if text is None else [(text, role)])


def test_blocks_of_anthropic() -> None:
    messages = [
        {"role": "user", "content": "Is it warm in Norrhav?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Norrhav"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [{"type": "text", "text": "21 degrees"}, {"type": "image", "source": {}}],
                },
                {"type": "text", "text": "And tomorrow?"},
            ],
        },
    ]
    assert told(messages) == [
        ("Is it warm in Norrhav?", "user", ""),
        ("I will look.", "assistant", ""),
        ("weather: 21 degrees", "tool", "weather"),
        ("And tomorrow?", "user", ""),
    ]
    assert count(messages) == {"image": 1, "tool call": 1}


def test_the_objects_of_a_package_are_messages_too() -> None:
    class Dumped:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "assistant", "content": "It is warm.", "audio": None}

    block = SimpleNamespace(type="text", text="It rains.")
    assert told([Dumped(), {"role": "assistant", "content": [block]}]) == [
        ("It is warm.", "assistant", ""),
        ("It rains.", "assistant", ""),
    ]
    assert told(Dumped()) == [("It is warm.", "assistant", "")]
    assert told(deque(CHAT[1:2])) == [("Tove: I never eat fish.", "user", "Tove")]


def test_what_is_no_text_is_counted() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {}},
        {"type": "file", "file": {}},
        {"type": "video_url", "video_url": {}},
        {"type": "hologram"},
        {"type": "text", "text": "What is this?"},
    ]
    messages = [
        {"role": "user", "content": parts},
        {"role": "user", "content": parts[:1]},
        {"role": "assistant", "content": None, "refusal": "I cannot say."},
        {"role": "tool", "tool_call_id": "1", "content": ""},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"type": "reasoning", "summary": []},
    ]
    assert told(messages) == [("What is this?", "user", "")]
    assert count(messages) == {
        "audio": 1, "empty tool result": 1, "file": 1, "image": 2, "other part": 1, "refusal": 1,
        "thought": 1, "tool call": 1, "video": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "user", "content": ""}, "content"),
        ({"role": "user", "content": " \n"}, "content"),
        ({"role": "user", "content": []}, "content"),
        ({"role": "user", "content": None}, "content"),
        ({"role": "assistant", "content": [{"type": "text", "text": " "}]}, "content"),
        ({"role": "user", "content": 7}, "content"),
        ({"role": "user", "content": {"type": "text", "text": "a"}}, "content"),
        ({"role": "user", "content": "a\0b"}, "content"),
        ({"role": "user", "content": [{"type": "text"}]}, "content[0].text"),
        ({"role": "user", "content": ["a", {"text": "b"}]}, "content[1]"),
        ({"role": "user", "content": [7]}, "content[0]"),
        ({"role": "user", "content": [{"type": "tool_result", "content": 7}]}, "content[0].content"),
        ({"content": "a"}, "role"),
        ({"role": 7, "content": "a"}, "role"),
        ({"role": "usr", "content": "a"}, "role"),
        ({"role": "user", "name": 7, "content": "a"}, "name"),
        ({"role": "user", "content": "a", "event_time": "soon"}, "event_time"),
    ],
)
def test_a_wrong_message_is_named_and_nothing_is_stored(
    message: dict[str, Any], field: str, bank: Bank
) -> None:
    with pytest.raises(InputError) as caught:
        bank.retain([*CHAT[:3], message, "A text."])
    assert caught.value.field == f"messages[3].{field}"
    with pytest.raises(InputError) as caught:
        bank.retain(message)
    assert caught.value.field == field
    with pytest.raises(InputError) as caught:
        bank.retain_conversation([*CHAT[:3], message], session="s")
    assert bank.list_memories() == []


def test_a_wrong_role_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'user'"):
        told([{"role": "usr", "content": "a"}])


def test_items_and_messages_may_stand_together() -> None:
    given = with_messages(
        [{"role": "system", "content": "x"}, "A text.", CHAT[1], {"text": "B", "kind": "x"}], {}
    )
    assert given is not None
    assert given.places == ["items[1]", "messages[2]", "items[3]"]
    with pytest.raises(UnknownNameError) as caught:
        read_items(given.items, {}, places=given.places)
    assert caught.value.field == "items[3].kind"


@pytest.mark.parametrize("items", ["A text.", ["A text."], {"text": "a", "role": "user"}, [], 7, {"a"}, b"a"])
def test_what_is_no_message_stays_as_it_is(items: Any) -> None:
    assert with_messages(items, {}) is None
    assert left_out_of(items) == {}


def test_turns_of_a_session_have_their_neighbours_as_context() -> None:
    given = with_messages(CHAT, {"session": "s"})
    assert given is not None
    contexts = [draft.context for draft in read_items(given.items, {"session": "s"}, places=given.places)]
    assert contexts == [
        "weather: 21 degrees in the shade\nIt is warm.",
        'weather {"city": "Norrhav"}\nTove: I never eat fish.\nIt is warm.',
        "Tove: I never eat fish.\nweather: 21 degrees in the shade",
    ]
    # Forgetting takes a text out of the contexts of its session; without one there would be no such place.
    alone = with_messages(CHAT, {})
    assert alone is not None
    assert [item["context"] for item in alone.items if isinstance(item, dict)] == [
        "",
        'weather {"city": "Norrhav"}',
        "",
    ]
    assert told(CHAT, context="at lunch") == told(CHAT)
    stated = with_messages(CHAT, {"session": "s", "context": "at lunch"})
    assert stated is not None
    assert {draft.context for draft in read_items(stated.items, {"context": "at lunch"})} == {"at lunch"}


def test_a_conversation_of_messages_is_one_of_turns() -> None:
    turns = [
        {"speaker": "Tove", "role": "user", "text": "I never eat fish."},
        {"role": "assistant", "text": "Noted."},
    ]
    messages = [
        {"role": "user", "name": "Tove", "content": "I never eat fish."},
        {"role": "assistant", "content": "Noted.", "session": "other", "document_id": "d"},
    ]
    assert read_items(conversation_items(messages, session="s"), {}) == read_items(
        conversation_items(turns, session="s"), {}
    )
    given = with_messages(messages[:1], {"session": "s"})
    assert given is not None


def test_a_run_ends_where_the_session_does() -> None:
    messages = [{"role": "user", "content": text, "session": session} for text, session in ("aA", "bA", "cB")]
    given = with_messages(messages, {})
    assert given is not None
    assert [item["context"] for item in given.items if isinstance(item, dict)] == ["b", "a", ""]


def test_a_reader_goes_on_counting() -> None:
    reader = MessageReader()
    for _ in range(2):
        assert list(reader.read(CHAT[0], "messages[0]")) == []
    assert reader.left_out == {"system message": 2}


@pytest.mark.fault("N50")
@pytest.mark.parametrize("session", [None, "s"])
def test_the_history_may_be_given_again_as_it_grows(bank: Bank, session: str | None) -> None:
    for length in range(1, len(CHAT) + 1):
        bank.retain(CHAT[:length], session=session)
    assert len(bank.list_memories()) == 3


@pytest.mark.fault("N50")
def test_a_history_that_is_given_again_changes_nothing(bank: Bank) -> None:
    first, second = "Odalys Brenn lives in Norrhav.", "Odalys Brenn lives in Sorvik."
    history = [{"role": "user", "content": text} for text in (first, "Noted?", second)]
    ids = bank.retain_conversation(history, session="s")
    [elsewhere] = bank.retain("Odalys Brenn lives in Torvik.")
    now = {memory.id for memory in bank.list_memories()}
    for _ in range(2):
        assert bank.retain_conversation(history, session="s") == ids
        assert bank.retain(history, session="s") == ids
    assert {memory.id for memory in bank.list_memories()} == now == {ids[1], elsewhere}
    bank.invalidate(ids[1])
    bank.retain(history, session="s")
    assert [memory.id for memory in bank.list_memories()] == [elsewhere]


@pytest.mark.fault("N50")
def test_what_holds_again_is_stored_again(bank: Bank) -> None:
    texts = [f"Odalys Brenn lives in {town}." for town in ("Norrhav", "Sorvik", "Norrhav")]
    history = [{"role": "user", "content": text} for text in texts]
    for length in (1, 2, 3, 3):
        ids = bank.retain(history[:length], session="s")
    assert len(set(ids)) == 3
    assert [memory.id for memory in bank.list_memories()] == ids[2:]
    # One turn alone is no history.
    bank.retain(history[1], session="s")
    assert [memory.text for memory in bank.list_memories()] == [texts[1]]


def test_what_is_forgotten_stands_in_no_neighbour(bank: Bank) -> None:
    ids = bank.retain(CHAT, session="s")
    bank.forget(ids[0])
    assert all("fish" not in f"{memory.text} {memory.context}" for memory in bank.list_memories())


def test_the_log_counts_what_was_left_out(bank: Bank, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "simonides")
    bank.retain(CHAT)
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("INFO", "left out of messages, and not stored: 1 system message, 1 tool call")
    ]
    caplog.clear()
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    bank.retain_conversation([{"role": "user", "content": [picture]}], session="s")
    assert [each.levelname for each in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("redact", ["mask"])
def test_secrets_in_messages_are_masked_wherever_they_stand(bank: Bank) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    call = {"id": "1", "function": {"name": "push", "arguments": f'{{"token": "{secret}"}}'}}
    bank.retain(
        [
            {"role": "user", "content": f"My token is {secret}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "Pushed."},
        ],
        session="s",
    )
    told = " ".join(f"{memory.text} {memory.context}" for memory in bank.list_memories())
    told += " ".join(bank.source(memory.id).text for memory in bank.list_memories())
    assert secret not in told
    assert "[REDACTED:" in told
    with pytest.raises(InputError) as caught:
        bank.retain([{"role": secret, "content": "a"}])
    assert secret[:12] not in str(caught.value)
