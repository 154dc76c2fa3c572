"""Ten exports of six products, invented but of their real shape, with five bad items each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.surfaces.conftest import cli, cli_json, store_path

import simonides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson

pytestmark = [pytest.mark.fault("N41"), pytest.mark.fault("N42"), pytest.mark.fault("N47")]

__all__ = ["cli", "cli_json", "store_path"]  # fixtures

SAID = (
    "The figs came through the winter.",
    "The pump gives four litres a minute.",
    "Ilse waters the north bed on Tuesdays.",
    "Bram sharpened the grafting knife.",
    "The quince needs a stake.",
    "Odalys bought cedar boards in Norrhav.",
    "The cellar door sticks in August.",
    "Mo sleeps on the seed drawer.",
)


@dataclass(frozen=True)
class Expected:
    """What an import of an export comes to.

    Attributes:
        stored: memories.
        named: per bad item, what the message about it says and what became of it.
        left_out: parts without words.
    """

    stored: int
    named: Sequence[tuple[str, str]]
    left_out: dict[str, int] = field(default_factory=dict)


def write(path: Path, value: object, *, lines: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = value if lines and isinstance(value, list) else [value]
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text(text, encoding="utf-8")


# -- ChatGPT


def gpt_message(number: int, *parts: object, role: str = "user", **changes: Any) -> dict[str, Any]:
    return {
        "id": f"message-{number}",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_772_000_000.25 + 60 * number,
        "update_time": None,
        "content": {"content_type": "multimodal_text" if len(parts) > 1 else "text", "parts": list(parts)},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    } | changes


def gpt_conversation(name: str, *messages: object, **changes: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for number, message in enumerate(messages):
        parent = f"n{number - 1}" if number else "root"
        children = [f"n{number + 1}"] if number + 1 < len(messages) else []
        mapping[f"n{number}"] = {
            "id": f"n{number}",
            "message": message,
            "parent": parent,
            "children": children,
        }
    return {
        "title": "Garden",
        "create_time": 1_772_000_000.0,
        "update_time": 1_772_000_900.0,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": f"n{len(messages) - 1}",
        "conversation_id": name,
        "id": name,
    } | changes


def chatgpt(folder: Path) -> Expected:
    conversation = gpt_conversation(
        "c1",
        gpt_message(0, "", role="system"),
        gpt_message(1, SAID[0]),
        gpt_message(2, SAID[1], role="assistant", author=[]),
        gpt_message(3, SAID[2], create_time="noon"),
        gpt_message(4, f"{SAID[3]}\0", role="assistant"),
        gpt_message(5, "print(1)", role="assistant", recipient="python"),
        gpt_message(6, SAID[4], content={"content_type": "text", "parts": "none"}),
        gpt_message(7, SAID[5], role="assistant"),
    )
    listed: list[Any] = [{"title": "cut"}, conversation, gpt_conversation("c2", gpt_message(8, SAID[6]))]
    write(folder / "conversations.json", listed)
    write(folder / "user.json", {"id": "user-1", "email": "ilse@example.org"})
    write(folder / "message_feedback.json", [])
    (folder / "chat.html").write_text("<html></html>")
    return Expected(
        stored=5,
        named=[
            ("expected a conversation with a mapping", "skipped"),
            ("message message-2 of conversation c1: author", "skipped"),
            ("message message-3: timestamp: 'noon'", "cleaned"),
            ("message message-4: characters", "cleaned"),
            ("message message-6 of conversation c1: parts", "skipped"),
        ],
        left_out={"tool call": 1},
    )


def chatgpt_voice(folder: Path) -> Expected:
    def spoken(text: object) -> dict[str, Any]:
        return {"content_type": "audio_transcription", "text": text, "direction": "in", "decoding_id": None}

    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_1", "format": "wav"}
    write(
        folder / "conversations-000.json",
        [
            gpt_conversation(
                "v1",
                gpt_message(0, spoken(SAID[0]), sound),
                gpt_message(1, spoken(f"{SAID[1]} \ud83d"), sound, role="assistant"),
                gpt_message(2, spoken(SAID[2]), {"content_type": "hologram"}, create_time=[1]),
            ),
            gpt_conversation("v2", gpt_message(3, SAID[3]), current_node="gone"),
        ],
    )
    cut = json.dumps(
        [gpt_conversation("v3", gpt_message(4, SAID[4])), gpt_conversation("", gpt_message(5, "?"))]
    )
    (folder / "conversations-001.json").write_text(f"{cut[:-1]}, {{")
    return Expected(
        stored=5,
        named=[
            ("message message-1: characters", "cleaned"),
            ("message message-2: timestamp: expected a time", "cleaned"),
            ("conversation v2: its tree of messages is broken at 'gone'", "skipped"),
            ("conversation ?: has no id", "skipped"),
            ("is not JSON", "skipped"),
        ],
        left_out={"audio": 2, "part 'hologram'": 1},
    )


# -- Claude.ai


def claude_message(number: int, text: str, **changes: Any) -> dict[str, Any]:
    return {
        "uuid": f"message-{number}",
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": "assistant" if number % 2 else "human",
        "created_at": f"2026-02-25T06:{number:02}:00.000000Z",
        "updated_at": f"2026-02-25T06:{number:02}:00.000000Z",
        "attachments": [],
        "files": [],
    } | changes


def claude_conversation(name: str, *messages: object) -> dict[str, Any]:
    return {
        "uuid": name,
        "name": "Garden",
        "summary": "",
        "created_at": "2026-02-25T06:00:00.000000Z",
        "updated_at": "2026-02-25T07:00:00.000000Z",
        "account": {"uuid": "account-1"},
        "chat_messages": list(messages),
    }


def claude_ai(folder: Path) -> Expected:
    thought = {"type": "thinking", "thinking": "Hm."}
    pasted = {"file_name": "pasted.txt", "file_type": "txt", "extracted_content": SAID[5]}
    write(
        folder / "conversations.json",
        [
            claude_conversation(
                "c1",
                claude_message(0, SAID[0], attachments=[pasted], files=[{"file_name": "bed.png"}]),
                claude_message(1, SAID[1], content=[thought, {"type": "text", "text": SAID[1]}]),
                claude_message(2, SAID[2], sender="ghost"),
                None,
                claude_message(4, f"\0{SAID[3]}"),
                claude_message(5, SAID[4], created_at="the fifth"),
            ),
            claude_conversation("c2"),
            claude_conversation("", claude_message(6, SAID[6])),
        ],
    )
    docs = [{"uuid": "d1", "filename": "oars.md", "content": SAID[6]}]
    write(folder / "projects.json", [{"uuid": "p1", "name": "Boats", "prompt_template": "", "docs": docs}])
    write(folder / "memories.json", [{"conversations_memory": SAID[7], "account_uuid": "account-1"}])
    return Expected(
        stored=7,
        named=[
            ("message 2 of conversation c1: sender", "skipped"),
            ("message 3 of conversation c1: expected a message", "skipped"),
            ("message message-4: characters", "cleaned"),
            ("message message-5: timestamp: 'the fifth'", "cleaned"),
            ("conversation ?: has no uuid", "skipped"),
        ],
        left_out={"file": 1, "thought": 1},
    )


def claude_ai_lines(folder: Path) -> Expected:
    rows: list[object] = [
        '{"uuid": "c0", "chat_messages": [',
        claude_conversation("c1", claude_message(0, SAID[0]), claude_message(1, SAID[1], content="text")),
        [1],
        claude_conversation("c2", claude_message(2, f"{SAID[2]}\udc9d"), claude_message(3, "\0", content=[])),
        claude_conversation("c3", claude_message(4, SAID[3])),
    ]
    write(folder / "conversations.json", rows, lines=True)
    return Expected(
        stored=3,
        named=[
            ("json:1: is not JSON", "skipped"),
            ("json:2: message 1 of conversation c1: content", "skipped"),
            ("json:3: expected an object", "skipped"),
            ("json:4: message message-2: characters", "cleaned"),
            ("json:4: message message-3: text: holds no characters", "skipped"),
        ],
    )


# -- Claude Code


def code_turn(number: int, content: object, **changes: Any) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ilse/garden",
        "sessionId": "s1",
        "version": "2.0.1",
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": f"u{number}",
        "timestamp": f"2026-03-01T09:{number:02}:00.000Z",
    } | changes


def claude_code(folder: Path) -> Expected:
    tool = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "…"}]
    rows: list[object] = [
        {"type": "summary", "summary": "Garden", "leafUuid": "u3"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        code_turn(0, SAID[0]),
        code_turn(1, [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": SAID[1]}, tool]),
        code_turn(2, result),
        "{" + json.dumps(code_turn(3, "cut"))[1:90],
        code_turn(4, f"{SAID[2]}\0"),
        code_turn(5, SAID[3], timestamp="later"),
        code_turn(6, 7),
        code_turn(7, SAID[4], sessionId=None),
        code_turn(8, SAID[5]),
    ]
    write(folder / "s1.jsonl", rows, lines=True)
    return Expected(
        stored=5,
        named=[
            ("jsonl:6: is not JSON", "skipped"),
            ("jsonl:7: characters", "cleaned"),
            ("jsonl:8: timestamp: 'later'", "cleaned"),
            ("jsonl:9: message.content", "skipped"),
            ("jsonl:10: sessionId: is missing", "skipped"),
        ],
        left_out={"thought": 1, "tool call": 1, "tool output": 1},
    )


def claude_code_project(folder: Path) -> Expected:
    first: list[object] = ["garbage", "[]", code_turn(0, SAID[0]), code_turn(1, SAID[1], message="text")]
    second: list[object] = [
        code_turn(0, f"{SAID[2]} {'x' * 1_100_000}", sessionId="s2"),
        code_turn(1, "\0", sessionId="s2"),
        code_turn(2, SAID[3], sessionId="s2"),
    ]
    write(folder / "project" / "s1.jsonl", first, lines=True)
    write(folder / "project" / "s2.jsonl", second, lines=True)
    return Expected(
        stored=5,
        named=[
            ("s1.jsonl:1: is not JSON", "skipped"),
            ("s1.jsonl:2: expected an object", "skipped"),
            ("s1.jsonl:4: message: expected an object", "skipped"),
            ("s2.jsonl:1: is longer than 1,048,576 bytes", "cleaned"),
            ("s2.jsonl:2: text: holds no characters", "skipped"),
        ],
    )


# -- mem0


def mem0_memory(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "memory": SAID[number],
        "user_id": "ilse",
        "metadata": None,
        "categories": ["garden"],
        "created_at": "2026-01-05T08:27:23.508123-07:00",
        "updated_at": None,
        "score": 0.5,
    } | changes


def mem0(folder: Path) -> Expected:
    rows = [
        mem0_memory(0),
        mem0_memory(1, categories=["Food", ""]),
        mem0_memory(2, memory="  "),
        mem0_memory(3, created_at="someday"),
        mem0_memory(4, metadata=["x"]),
        "nothing",
        mem0_memory(5),
    ]
    write(folder / "mem0.json", {"count": len(rows), "next": None, "results": rows})
    return Expected(
        stored=5,
        named=[
            ("memory 1: categories: 1 of 2", "cleaned"),
            ("memory 2: has no text", "skipped"),
            ("memory 3: created_at: 'someday'", "cleaned"),
            ("memory 4: metadata", "cleaned"),
            ("memory 5: expected an object", "skipped"),
        ],
    )


def mem0_lines(folder: Path) -> Expected:
    rows: list[object] = [
        mem0_memory(0),
        '{"id": "m1", "memory": "cut',
        mem0_memory(2, memory=f"{SAID[2]}\ud800"),
        mem0_memory(3, run_id="r" * 300),
        mem0_memory(4, memory=None),
        mem0_memory(5, metadata={"note": "a\0b"}),
        mem0_memory(6),
    ]
    write(folder / "mem0.jsonl", rows, lines=True)
    return Expected(
        stored=4,
        named=[
            ("jsonl:2: is not JSON", "skipped"),
            ("jsonl:3: characters", "cleaned"),
            ("jsonl:4: session: is 300 characters long", "skipped"),
            ("jsonl:5: memory 3: has no text", "skipped"),
            ("jsonl:6: characters", "cleaned"),
        ],
    )


# -- the knowledge graph of the MCP reference server


def knowledge_graph(folder: Path) -> Expected:
    def entity(name: object, *observations: object, **changes: Any) -> dict[str, Any]:
        row = {"type": "entity", "name": name, "entityType": "place", "observations": list(observations)}
        return row | changes

    rows: list[object] = [
        entity("North bed", SAID[2], "", "Holds garlic"),
        entity("", "Lost"),
        entity("Pump", SAID[1], entityType=None),
        {"type": "relation", "from": "Ilse", "to": "North bed", "relationType": "waters"},
        {"type": "relation", "from": "Ilse", "to": None, "relationType": "waters"},
        '{"type": "entity", "name": "Ce',
        entity("Cellar", f"{SAID[6]}\0"),
    ]
    write(folder / "memory.jsonl", rows, lines=True)
    return Expected(
        stored=5,
        named=[
            ("jsonl:1: observations[1]: expected a text, got a blank text", "skipped"),
            ("jsonl:2: name", "skipped"),
            ("jsonl:5: to: expected a text", "skipped"),
            ("jsonl:6: is not JSON", "skipped"),
            ("jsonl:7: characters", "cleaned"),
        ],
    )


# -- an Obsidian vault


def obsidian(folder: Path) -> Expected:
    notes = {
        "Figs.md": f"---\naliases: [Orchard]\ntags: [fruit]\n---\n# Figs\n\n{SAID[0]}",
        "daily/2026-04-02.md": f"{SAID[1]} #water",
        "Rules.md": f"---\n{SAID[2]}\n---\n{SAID[3]}",
        "Odd date.md": f"---\ndate: the other day\n---\n{SAID[4]}",
        "Odd title.md": f"---\ntitle: Boards: a list\ndate: 26/05/2026\n---\n{SAID[5]}",
        "Nul.md": f"{SAID[6]}\0",
        "Long tag.md": f"---\ntags: [{'x' * 300}, cat]\n---\n{SAID[7]}",
        "Empty.md": "",
    }
    for name, text in notes.items():
        write(folder / "vault" / name, text)
    write(folder / "vault" / ".obsidian" / "app.json", {})
    (folder / "vault" / "Latin.md").write_bytes(b"Fr\xfchling")
    (folder / "vault" / "bed.png").write_bytes(b"\x89PNG\r\n")
    write(folder / "vault" / "board.json", {"nodes": [], "edges": []})
    return Expected(
        stored=7,
        named=[
            ("Odd date.md:1: date: 'the other day'", "cleaned"),
            ("Nul.md:1: characters", "cleaned"),
            ("Long tag.md:1: tags: 1 are longer", "cleaned"),
            ("Latin.md:1: is not UTF-8", "skipped"),
            ("board.json: is of no format", "passed over"),
        ],
    )


EXPORTS = (
    chatgpt, chatgpt_voice, claude_ai, claude_ai_lines, claude_code, claude_code_project, mem0, mem0_lines,
    knowledge_graph, obsidian,
)  # fmt: skip


@pytest.mark.parametrize("export", EXPORTS)
def test_of_an_export_only_what_is_bad_is_lost_and_all_of_it_is_named(
    cli: Cli, cli_json: CliJson, tmp_path: Path, store_path: Path, export: Callable[[Path], Expected]
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    expected = export(folder)
    assert len(expected.named) == 5

    result = cli("import", str(folder), "--skip-malformed", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)

    said = [
        line for line in result.stderr.splitlines() if line.startswith(("skipped", "cleaned", "passed over"))
    ]
    for problem, outcome in expected.named:
        assert [line for line in said if problem in line and line.startswith(outcome)], (problem, said)
    outcomes = [outcome for _, outcome in expected.named if outcome != "passed over"]
    counts = {name: outcomes.count(name) for name in ("skipped", "cleaned")}
    assert {name: answer[name] for name in ("stored", *counts)} == {"stored": expected.stored, **counts}
    left_out: dict[str, int] = {}
    for file in answer["files"]:
        for kind, count in file["left_out"].items():
            left_out[kind] = left_out.get(kind, 0) + count
    assert left_out == expected.left_out

    with simonides.open(store_path, embedder=None) as store:
        bank = store.bank()
        assert bank.stats()["current"] == expected.stored
        assert bank.verify().ok
    again = cli_json("import", str(folder), "--skip-malformed")
    assert (again["stored"], again["unchanged"]) == (0, expected.stored)
    # Without leave to skip, the first bad row stops it, unless all could be stored in part.
    assert cli("import", str(folder), "--bank", "strict").exit_code == 2 * bool(counts["skipped"])
