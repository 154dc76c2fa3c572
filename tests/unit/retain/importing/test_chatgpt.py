"""ChatGPT's conversations: the path that was seen last, and nothing that was not said."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def conversation(samples: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> str:
    first: dict[str, Any] = json.loads((samples / "conversations.json").read_text("utf-8"))[0]
    change(first)
    return json.dumps([first])


def test_conversations(read: Read, samples: Path) -> None:
    found = read("chatgpt", samples / "conversations.json")
    assert found.texts == [
        "How do I patch a hull?",
        "With epoxy and cloth.",
        "The cloth is from Norrhav.",
        "The oars are 2.3 m long.",
    ]
    assert found.all("session") == ["conv-1"] * 3 + ["conv-2"]
    assert found.all("role") == found.all("speaker") == ["user", "assistant", "user", "user"]
    assert found.items[0].item["event_time"] == datetime.fromtimestamp(1772000001.5, UTC)
    assert found.all("metadata") == [{"id": "m2"}, {"id": "m4"}, {"id": "m5"}, {"id": "m9"}]
    assert set(found.all("source")) == {"chatgpt"}
    assert found.items[1].item["context"].splitlines() == [
        "Kayak repair", "How do I patch a hull?", "The cloth is from Norrhav.",
    ]  # fmt: skip
    assert found.items[0].line < found.items[3].line
    assert found.items[3].part == "message m9"


def test_a_version_that_was_not_seen_last_is_left_out(read: Read, samples: Path) -> None:
    other = conversation(samples, lambda c: c.update(current_node="n3"))
    assert read("chatgpt", other).texts == ["How do I patch a hull?", "With tape."]


def test_without_a_current_node_the_newest_leaf_ends_it(read: Read, samples: Path) -> None:
    found = read("chatgpt", conversation(samples, lambda c: c.pop("current_node")))
    assert found.texts[-1] == "The cloth is from Norrhav."


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"is_visually_hidden_from_conversation": True}},
        {"recipient": "python"},
        {"author": {"role": "system"}},
        {"content": {"content_type": "thoughts", "thoughts": []}},
        {"content": {"content_type": "text", "parts": ["  "]}},
        {"content": {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}]}},
        {"content": None},
    ],
)
def test_what_was_not_said_is_left_out(read: Read, samples: Path, change: dict[str, Any]) -> None:
    found = read("chatgpt", conversation(samples, lambda c: c["mapping"]["n4"]["message"].update(change)))
    assert found.texts == ["How do I patch a hull?", "The cloth is from Norrhav."]
    assert not found.errors


def test_words_beside_a_picture_are_kept(read: Read, samples: Path) -> None:
    content = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "What boat is this?"]}
    found = read(
        "chatgpt", conversation(samples, lambda c: c["mapping"]["n4"]["message"].update(content=content))
    )
    assert "What boat is this?" in found.texts


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: c.update(mapping=[]), "a mapping of messages"),
        (lambda c: c.update(id="", conversation_id=None), "has no id"),
    ],
)
def test_a_conversation_that_cannot_be_read_is_named(
    read: Read, samples: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    found = read("chatgpt", conversation(samples, change))
    assert not found.items
    (said,) = found.problems
    assert said.startswith("x:1: conversation ")
    assert problem in said


@pytest.mark.fault("N41")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"author": []}, "author of a message"),
        ({"metadata": "x"}, "metadata of a message"),
        ({"content": {"content_type": "text", "parts": 5}}, "parts of a message"),
    ],
)
def test_a_message_that_cannot_be_read_costs_no_other(
    read: Read, samples: Path, change: dict[str, Any], problem: str
) -> None:
    found = read("chatgpt", conversation(samples, lambda c: c["mapping"]["n4"]["message"].update(change)))
    assert found.texts == ["How do I patch a hull?", "The cloth is from Norrhav."]
    assert found.all("context") == [f"Kayak repair\n{text}" for text in reversed(found.texts)]
    (said,) = found.problems
    assert said.startswith(f"x:1: message m4 of conversation conv-1: {problem}")


@pytest.mark.fault("N41")
@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (lambda c: c["mapping"]["n5"].update(parent="gone"), ["The cloth is from Norrhav."]),
        (
            lambda c: c["mapping"]["n2"].update(parent="n5"),
            ["How do I patch a hull?", "With epoxy and cloth.", "The cloth is from Norrhav."],
        ),
        (
            lambda c: c.update(current_node="gone"),
            ["How do I patch a hull?", "With epoxy and cloth.", "The cloth is from Norrhav."],
        ),
    ],
)
def test_what_hangs_together_in_a_broken_tree_is_kept(
    read: Read, samples: Path, change: Callable[[dict[str, Any]], object], texts: list[str]
) -> None:
    found = read("chatgpt", conversation(samples, change))
    assert found.texts == texts
    (said,) = found.problems
    assert "its tree of messages is broken at" in said


@pytest.mark.fault("N42")
def test_spoken_words_are_kept_and_parts_without_words_are_counted(read: Read, samples: Path) -> None:
    parts = [
        {
            "content_type": "audio_transcription",
            "text": "The hull leaks.",
            "direction": "in",
            "decoding_id": None,
        },
        {"content_type": "audio_asset_pointer", "asset_pointer": "file://a", "format": "wav"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}},
        {"content_type": "image_asset_pointer", "asset_pointer": "file://b"},
        {"content_type": "hologram", "text": "unseen"},
        {"content_type": "audio_transcription", "text": None},
        7,
    ]

    def change(c: dict[str, Any]) -> None:
        c["mapping"]["n2"]["message"]["content"] = {"content_type": "multimodal_text", "parts": parts}
        c["mapping"]["n4"]["message"]["content"] = {"content_type": "thoughts", "thoughts": [{}]}

    found = read("chatgpt", conversation(samples, change))
    assert found.texts == ["The hull leaks.", "The cloth is from Norrhav."]
    assert not found.errors
    assert found.left_out == {
        "audio": 2,
        "image": 1,
        "part 'hologram'": 1,
        "part 'audio_transcription'": 1,
        "part without a type": 1,
        "thought": 1,
        "system message": 1,
    }


def test_a_conversation_alone_or_under_its_key(read: Read, samples: Path) -> None:
    listed = json.loads((samples / "conversations.json").read_text("utf-8"))
    assert len(read("chatgpt", json.dumps({"conversations": listed})).items) == 4
    assert len(read("chatgpt", json.dumps(listed[1])).items) == 1
