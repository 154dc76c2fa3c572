"""Claude Code sessions: what the two wrote, and none of the machinery."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def test_a_session(read: Read, samples: Path) -> None:
    found = read("claude-code", samples / "session.jsonl")
    assert found.texts == [
        "Why does pump.py stop at 40 litres?",
        "The limit is set in limits.toml.",
        "Raise it to 60.",
    ]
    assert set(found.all("session")) == {"s-1"}
    assert found.all("role") == found.all("speaker") == ["user", "assistant", "user"]
    assert found.all("event_time")[0] == "2026-02-03T10:00:00.000Z"
    assert found.all("metadata") == [{"id": "u1"}, {"id": "u2"}, {"id": "u4"}]
    assert [item.line for item in found.items] == [2, 3, 5]
    assert "limits.toml" in found.items[2].item["context"]
    assert not found.errors


def user(**changes: Any) -> str:
    row = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "timestamp": "2026-02-03T10:00:00Z",
        "message": {"role": "user", "content": "Raise it."},
    }
    return json.dumps(row | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"isMeta": True},
        {"isSidechain": True},
        {"type": "system"},
        {"type": "progress"},
        {"message": {"content": "<command-name>/clear</command-name>"}},
        {"message": {"content": "<local-command-stdout>ok</local-command-stdout>"}},
        {"message": {"content": [{"type": "image", "source": {}}]}},
        {"message": {"content": " "}},
    ],
)
def test_machinery_is_left_out(read: Read, changes: dict[str, Any]) -> None:
    found = read("claude-code", user(**changes))
    assert not found.items
    assert not found.errors


def test_two_sessions_in_one_file_stay_apart(read: Read) -> None:
    text = "\n".join(
        [user(), user(sessionId="t", message={"content": "Other."}), user(message={"content": "On."})]
    )
    found = read("claude-code", text)
    assert list(zip(found.all("session"), found.texts, strict=True)) == [
        ("s", "Raise it."), ("s", "On."), ("t", "Other."),
    ]  # fmt: skip
    assert found.items[0].item["context"] == "On."


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "x:2: is not JSON"),
        ("[1]", "x:2: expected an object, got a list of a number"),
        (user(message=None), "x:2: message: expected an object"),
        (user(message={"content": 5}), "x:2: message.content"),
        (user(sessionId=None), "x:2: sessionId"),
    ],
)
def test_a_malformed_line_is_named_and_the_rest_is_read(read: Read, line: str, problem: str) -> None:
    found = read("claude-code", f"{user()}\n{line}\n\n{user(message={'content': 'Yes.'})}")
    assert found.texts == ["Raise it.", "Yes."]
    (said,) = found.problems
    assert said.startswith(problem)
