"""Chats by `simonides retain`: `.json`, `.jsonl` and standard input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]

pytestmark = pytest.mark.fault("N50")

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "I never eat fish."},
    {"role": "assistant", "content": "I will keep that in mind."},
]
SAID = ["I never eat fish.", "I will keep that in mind."]


def shown(cli_json: CliJson, answer: Any) -> list[dict[str, Any]]:
    return [cli_json("get-memory", memory) for memory in answer["ids"]]


@pytest.mark.parametrize("whole", [CHAT, {"model": "m", "messages": CHAT}])
def test_a_chat_in_a_file(whole: Any, tmp_path: Path, cli: Cli, cli_json: CliJson) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    answer = cli_json("retain", str(path))
    assert answer["left_out"] == {"system message": 1}
    first, second = shown(cli_json, answer)
    assert [first["text"], second["text"]] == SAID
    assert (first["session"], first["trust"], second["trust"]) == ("chat.json", 1.0, 0.7)
    assert second["context"] == SAID[0]
    # Again, as it goes on.
    path.write_text(json.dumps([*CHAT, {"role": "user", "content": "Nor meat."}]), encoding="utf-8")
    result = cli("retain", str(path))
    assert result.stdout.splitlines()[:2] == answer["ids"]
    assert "3 memories stored\nleft out of messages: 1 system message" in result.stderr


@pytest.mark.parametrize("whole", [CHAT, {"messages": CHAT}])
def test_a_chat_on_standard_input(whole: Any, cli_json: CliJson) -> None:
    answer = cli_json("retain", stdin=json.dumps(whole))
    assert [each["text"] for each in shown(cli_json, answer)] == SAID


@pytest.mark.parametrize("text", ['["a", "b"]', '{"text": "a"}', "[1] a note", '{"a": ', "[]", "{}"])
def test_other_json_on_standard_input_is_a_text(text: str, cli_json: CliJson) -> None:
    answer = cli_json("retain", stdin=text)
    assert [each["text"] for each in shown(cli_json, answer)] == [text]


def test_lines_of_messages_and_of_chats(tmp_path: Path, cli_json: CliJson) -> None:
    path = tmp_path / "chats.jsonl"
    lines: list[Any] = [*CHAT, {"messages": CHAT}, {"text": "A note."}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    answer = cli_json("retain", str(path))
    found = shown(cli_json, answer)
    assert [(each["text"], each["session"]) for each in found] == [
        (SAID[0], "chats.jsonl"), (SAID[1], "chats.jsonl"),
        (SAID[0], "chats.jsonl:4"), (SAID[1], "chats.jsonl:4"), ("A note.", ""),
    ]  # fmt: skip
    assert answer["left_out"] == {"system message": 2}


def test_a_list_of_items(tmp_path: Path, cli_json: CliJson) -> None:
    path = tmp_path / "notes.json"
    path.write_text(json.dumps(["A.", {"text": "B.", "tags": ["b"]}]), encoding="utf-8")
    found = shown(cli_json, cli_json("retain", str(path)))
    assert [(each["text"], each["tags"]) for each in found] == [("A.", []), ("B.", ["b"])]


def test_a_wrong_message_is_named_and_nothing_of_its_chat_is_stored(
    tmp_path: Path, cli: Cli, cli_json: CliJson
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([*CHAT, {"role": "user", "content": ""}]), encoding="utf-8")
    result = cli("retain", str(path))
    assert result.exit_code == 2
    assert f"{path}: messages[3]: content: is blank; leave the message out" in result.stderr
    assert cli_json("retain", "One.")["stored"] == 1
    assert len(cli_json("list-memories")["memories"]) == 1
    assert cli_json("retain", str(path), "--skip-malformed")["skipped"] == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON"),
        ("7", "expected a list of chat messages"),
        ("[7]", "items[0]: expected an object"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, problem: str, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "chat.json"
    path.write_text(text, encoding="utf-8")
    result = cli("retain", str(path))
    assert result.exit_code == 2
    assert problem in result.stderr


@pytest.mark.parametrize("lines", [False, True])
def test_a_conversation_may_be_of_messages(lines: bool, cli_json: CliJson) -> None:
    given = "\n".join(map(json.dumps, CHAT)) if lines else json.dumps(CHAT)
    answer = cli_json("retain-conversation", "-", "--session", "lunch", stdin=given)
    assert [each["text"] for each in shown(cli_json, answer)] == SAID
