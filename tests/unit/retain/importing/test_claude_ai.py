"""Claude.ai's data export: conversations, projects and memories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def message(number: int, text: str, sender: str = "human", **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"m{number}",
        "sender": sender,
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": f"2026-02-25T06:1{number}:00.000000Z",
    } | more


def conversation(*messages: object, **more: Any) -> str:
    return json.dumps([{"uuid": "c", "name": "Boats", "chat_messages": list(messages)} | more])


def test_a_conversation(read: Read, samples: Path) -> None:
    found = read("claude-ai", samples / "claude-conversations.json")
    assert found.texts == ["How do I patch a hull?", "With epoxy and cloth.", "The hull is of Norrhav cedar."]
    assert found.all("session") == ["chat-1", "chat-1", None]
    assert found.all("speaker") == ["user", "assistant", None]
    assert found.all("role") == ["user", "assistant", "document"]
    assert found.all("event_time")[:2] == ["2026-02-25T06:13:21.500000Z", "2026-02-25T06:14:00.000000Z"]
    assert found.all("metadata")[:2] == [{"id": "c1"}, {"id": "c2"}]
    assert found.all("context") == [
        "Kayak repair\nWith epoxy and cloth.", "Kayak repair\nHow do I patch a hull?", "pasted.txt",
    ]  # fmt: skip
    assert found.all("document_id") == [None, None, "claude-ai:c1/0"]
    assert set(found.all("source")) == {"claude-ai"}
    assert found.left_out == {"thought": 1, "tool call": 1, "token budget": 1, "file": 1}


def test_projects_and_memories_are_documents(read: Read, samples: Path) -> None:
    found = read("claude-ai", samples / "claude-projects.json")
    assert found.texts == [
        "Everything about the red kayak.", "Answer in metres.", "# Oars\n\nThe oars are 2.3 m long.",
    ]  # fmt: skip
    assert found.all("document_id") == [
        "claude-ai:project-1/description", "claude-ai:project-1/prompt_template", "claude-ai:doc-1",
    ]  # fmt: skip
    memories = [{"conversations_memory": "Rows.", "project_memories": {"p": "Oars."}, "account_uuid": "a"}]
    found = read("claude-ai", json.dumps(memories))
    assert found.texts == ["Rows.", "Oars."]


def test_a_conversation_a_line(read: Read) -> None:
    lines = "\n".join(conversation(message(n, f"Text {n}."), uuid=f"c{n}")[1:-1] for n in range(2))
    assert read("claude-ai", lines).texts == ["Text 0.", "Text 1."]


def test_the_version_that_was_seen_last(read: Read) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    messages = [
        message(1, "Which boat?", parent_message_uuid=root),
        message(2, "The blue one.", "assistant", parent_message_uuid="m1"),
        message(3, "The red one.", "assistant", parent_message_uuid="m1"),
        message(4, "Thanks.", parent_message_uuid="m3"),
    ]
    found = read("claude-ai", conversation(*messages))
    assert found.texts == ["Which boat?", "The red one.", "Thanks."]
    assert found.left_out == {"other version": 1}
    found = read("claude-ai", conversation(*messages, current_leaf_message_uuid="m2"))
    assert found.texts == ["Which boat?", "The blue one."]


@pytest.mark.fault("N41")
@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (None, "expected a message, got null"),
        (message(2, "x", sender="robot"), "sender: expected human or assistant"),
        (message(2, "x", content=5), "content: expected a list of blocks"),
        (message(2, "\0", content=[]), "holds no characters that can be stored"),
    ],
)
def test_a_message_that_cannot_be_read_costs_no_other(read: Read, bad: object, problem: str) -> None:
    found = read("claude-ai", conversation(message(1, "One."), bad, message(3, "Three.")))
    assert found.texts == ["One.", "Three."]
    assert found.all("context") == ["Boats\nThree.", "Boats\nOne."]
    (said,) = found.problems
    assert said.startswith("x:1: ")
    assert problem in said


@pytest.mark.fault("N42")
def test_a_voice_note_is_kept_and_unknown_blocks_are_counted(read: Read) -> None:
    blocks = [{"type": "voice_note", "text": "Spoken."}, {"type": "hologram"}, {"type": "image"}]
    found = read("claude-ai", conversation(message(1, "", content=blocks)))
    assert found.texts == ["Spoken."]
    assert found.left_out == {"part 'hologram'": 1, "image": 1}


@pytest.mark.parametrize(
    "row", [5, {"uuid": "c", "chat_messages": {}}, {"chat_messages": []}, {"uuid": "u", "full_name": "Ilse"}]
)
def test_another_row_is_named_and_the_rest_is_read(read: Read, row: object) -> None:
    text = conversation(message(1, "One."))
    found = read("claude-ai", f"[{json.dumps(row)}, {text[1:]}")
    assert found.texts == ["One."]
    assert len(found.problems) == 1
