"""What other programs wrote: only what is bad is lost, and it is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.surfaces.conftest import cli, store_path

import simonides

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli

    from simonides.bank import Bank
    from simonides.records.memory import Memory

__all__ = ["cli", "store_path"]  # fixtures

SECRET = "postgres://shop:hunter2hunter2@db.example/shop"


def in_order(bank: Bank) -> list[Memory]:
    """What the bank holds, in the order in which it was stored."""
    return sorted(bank.list_memories(), key=lambda memory: str(memory.ingested_at))


def texts(store: Path, bank: str = "default") -> list[str]:
    with simonides.open(store, embedder=None) as opened:
        return [memory.text for memory in in_order(opened.bank(bank))]


def contexts(store: Path, bank: str = "default") -> list[str]:
    with simonides.open(store, embedder=None) as opened:
        return [memory.context for memory in in_order(opened.bank(bank))]


def turn(number: int, text: str, **changes: Any) -> dict[str, Any]:
    """A line of a Claude Code session."""
    return {
        "type": "assistant" if number % 2 else "user",
        "sessionId": "s",
        "uuid": f"u{number}",
        "timestamp": f"2026-03-01T09:{number:02}:00Z",
        "message": {"role": "user", "content": text},
    } | changes


def session(path: Path, *turns: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in turns), encoding="utf-8")
    return path


BAD_TURNS = {
    "NUL": (turn(1, "The pump\0 leaks."), "The pump leaks."),
    "half a character": (turn(1, "The pump \ud83d leaks."), "The pump \ufffd leaks."),
    "the other half": (turn(1, "The pump \udc9d leaks."), "The pump \ufffd leaks."),
    "two halves": (turn(1, "The pump \ud83d\ude00 leaks."), "The pump \U0001f600 leaks."),
    "no time": (turn(1, "The pump leaks.", timestamp="never"), "The pump leaks."),
    "a time that is a list": (turn(1, "The pump leaks.", timestamp=[1]), "The pump leaks."),
    "a time after all years": (turn(1, "The pump leaks.", timestamp=1e300), "The pump leaks."),
    "a boolean time": (turn(1, "The pump leaks.", timestamp=True), "The pump leaks."),
    "a blank block": (
        turn(
            1,
            "",
            message={
                "content": [{"type": "text", "text": None}, {"type": "text", "text": "The pump leaks."}]
            },
        ),
        "The pump leaks.",
    ),
    "only NUL": (turn(1, "\0\0"), None),
    "no session": (turn(1, "The pump leaks.", sessionId=7), None),
    "no message": (turn(1, "The pump leaks.", message=None), None),
}


@pytest.mark.fault("N40")
@pytest.mark.parametrize("kind", BAD_TURNS)
@pytest.mark.parametrize("door", ["hook", "import"])
def test_a_bad_turn_costs_no_other_turn(
    cli: Cli, tmp_path: Path, store_path: Path, kind: str, door: str
) -> None:
    bad, kept = BAD_TURNS[kind]
    path = session(tmp_path / "s.jsonl", turn(0, "The figs came."), bad, turn(2, "Ilse waters."))
    if door == "hook":
        told = json.dumps({"hook_event_name": "Stop", "session_id": "s", "transcript_path": str(path)})
        for _ in range(2):
            result = cli("hook", "claude-code", "--bank", "b", stdin=told)
            assert (result.exit_code, result.stdout) == (0, "")
    else:
        result = cli("import", str(path), "--bank", "b", "--skip-malformed")
        assert result.exit_code == 0
    assert texts(store_path, "b") == [each for each in ("The figs came.", kept, "Ilse waters.") if each]
    if kind not in {"two halves", "a blank block"}:
        assert f"{path}:2" in result.stderr
    assert "Ilse waters." in contexts(store_path, "b")[0]


@pytest.mark.fault("N40")
def test_a_turn_over_the_limit_is_stored_in_parts(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    long = " ".join(["The pump leaks.", "x" * 900_000, "y" * 900_000, "z" * 600_000])
    path = session(tmp_path / "s.jsonl", turn(0, "The figs came."), turn(1, long), turn(2, "Ilse waters."))
    told = json.dumps({"hook_event_name": "Stop", "transcript_path": str(path)})
    result = cli("hook", "claude-code", "--bank", "b", stdin=told)
    assert "stored in 3 parts" in result.stderr
    stored = texts(store_path, "b")
    assert (stored[0], stored[-1], len(stored)) == ("The figs came.", "Ilse waters.", 5)
    assert " ".join(part.strip() for part in stored[1:-1]) == long


@pytest.mark.fault("N40")
def test_a_time_that_cannot_be_read_is_that_of_a_neighbour(
    cli: Cli, tmp_path: Path, store_path: Path
) -> None:
    """Else what was said to happen yesterday would have happened the day before the import."""
    turns = [
        turn(0, "We planted figs yesterday.", timestamp="?"),
        turn(1, "Good."),
        turn(2, "It rained yesterday.", timestamp="?"),
    ]
    cli("import", str(session(tmp_path / "s.jsonl", *turns)))
    with simonides.open(store_path, embedder=None) as store:
        events = [memory.event_time for memory in in_order(store.bank())]
    assert [str(event)[:10] for event in events] == ["2026-02-28", "2026-03-01", "2026-02-28"]


@pytest.mark.fault("N40")
@pytest.mark.parametrize(
    ("client", "event", "field"),
    [
        ("codex", "Stop", "last_assistant_message"),
        ("codex", "UserPromptSubmit", "prompt"),
        ("gemini", "AfterAgent", "prompt_response"),
        ("cursor", "afterAgentResponse", "text"),
    ],
)
@pytest.mark.parametrize("bad", ["NUL", "time", "size"])
def test_what_an_event_holds_is_stored(
    cli: Cli, store_path: Path, client: str, event: str, field: str, bad: str
) -> None:
    text = {"NUL": "The pump\0 leaks \udc00.", "size": f"The pump leaks. {'x' * 1_100_000}"}.get(
        bad, "The pump leaks."
    )
    told = {"hook_event_name": event, "session_id": "s", field: text}
    told |= {"timestamp": "never"} if bad == "time" else {}
    assert cli("hook", client, "--bank", "b", stdin=json.dumps(told)).exit_code == 0
    first, *more = texts(store_path, "b")
    assert first.startswith("The pump leaks")
    assert len(more) == 2 * (bad == "size")


@pytest.mark.fault("N40")
@pytest.mark.parametrize(
    "prompt",
    [
        "Which branch do deploys run from?\n" + "x = 1\n" * 30_000,
        "log line\n" * 30_000 + "Which branch do deploys run from?",
        "Which branch\0 do deploys run \ud800 from?",
    ],
)
def test_a_long_or_broken_prompt_recalls(cli: Cli, store_path: Path, prompt: str) -> None:
    with simonides.open(store_path, embedder=None) as store:
        store.bank("b").retain("Deploys run from the branch kestrel.")
    told = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": prompt})
    result = cli("hook", "claude-code", "--bank", "b", stdin=told)
    assert "branch kestrel" in result.stdout
    assert result.stderr == ""


@pytest.mark.fault("N40")
@pytest.mark.parametrize("junk", [b"", b"junk", b"\xff\xfe", b"[" * 100_000, b"{", b"5", b'{"a": 1e999'])
def test_junk_is_no_fault_of_ours(cli: Cli, junk: bytes) -> None:
    result = cli("hook", "claude-code", stdin=junk)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "simonides: event: standard input" in result.stderr
    assert "JSON" in result.stderr


@pytest.mark.fault("N41")
@pytest.mark.parametrize("bad", [0, 3, 6])
def test_a_turn_that_the_bank_refuses_costs_no_other(
    cli: Cli, tmp_path: Path, store_path: Path, bad: int
) -> None:
    said = [f"Bed {number} holds figs." for number in range(7)]
    turns = [turn(number, SECRET if number == bad else text) for number, text in enumerate(said)]
    path = session(tmp_path / "s.jsonl", *turns)
    for arguments in (["import", str(path), "--skip-malformed"], ["hook", "claude-code"]):
        told = json.dumps({"hook_event_name": "Stop", "transcript_path": str(path)})
        result = cli(*arguments, "--redact", "refuse", "--bank", arguments[0], stdin=told)
        assert result.exit_code == 0, result.stderr
        assert texts(store_path, arguments[0]) == [text for number, text in enumerate(said) if number != bad]
        assert not any("hunter2" in context for context in contexts(store_path, arguments[0]))
    result = cli("import", str(path), "--skip-malformed", "--redact", "refuse", "--bank", "c")
    assert f"skipped {path}:{bad + 1}: text: holds a secret" in result.stderr
    assert "6 stored" in result.stdout


@pytest.mark.fault("N41")
def test_an_entry_that_is_no_message_costs_no_other(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    chat = [{"role": "user", "content": "The figs came."}, 5, {"role": "user", "content": "Ilse waters."}]
    for name, text in (("chat.json", json.dumps(chat)), ("chat.jsonl", json.dumps({"messages": chat}))):
        (tmp_path / name).write_text(text)
        result = cli("retain", str(tmp_path / name), "--skip-malformed", "--bank", name)
        assert result.exit_code == 0
        assert "messages[1]" in result.stderr
        assert texts(store_path, name) == ["The figs came.", "Ilse waters."]
        assert cli("retain", str(tmp_path / name), "--bank", "strict").exit_code == 2


@pytest.mark.fault("N41")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "log.jsonl",
            '{"text": "The figs\\u0000 came."}\n{"text": "a\n{"text": "Ilse waters.", "metadata": {"a": "\\ud800"}}',
        ),
        (
            "mem0.json",
            '[{"id": "a", "memory": "The figs\\u0000 came."}, {"id": "b"}, {"id": "c", "memory": "Ilse waters.\\udc00"}]',
        ),
        (
            "mem0.json",
            '[{"id": "a", "memory": "The figs\\u0000 came."}, {"id": "c", "memory": "Ilse waters.\\udc00", "score": NaN}, {',
        ),
        (
            "graph.jsonl",
            '{"type": "entity", "name": "Ilse", "observations": ["", "The figs came. Ilse\\u0000", "Ilse waters."]}',
        ),
    ],
)
def test_of_other_formats_only_what_is_bad_is_lost(
    cli: Cli, tmp_path: Path, store_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    result = cli("import", str(tmp_path / name), "--skip-malformed")
    assert result.exit_code == 0
    found = texts(store_path)
    assert found[0].startswith("The figs came.")
    assert found[1].startswith("Ilse waters.")
    assert "2 stored" in result.stdout
    assert "cleaned" in result.stdout
    assert "1 skipped" in result.stdout
    assert result.stderr.count(f"{tmp_path / name}:") >= 2


@pytest.mark.fault("N41")
def test_readers_of_an_item_are_never_mended(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    """A name that lost a character would let another read."""
    items = [{"text": "A secret.", "acl": ["mi\0ra"]}, {"text": "No secret."}]
    path = session(tmp_path / "log.jsonl", *items)
    result = cli("import", str(path), "--skip-malformed")
    assert "acl[0]: holds a NUL" in result.stderr
    assert texts(store_path) == ["No secret."]


@pytest.mark.fault("N42")
def test_parts_without_words_are_counted_and_named(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    blocks = [{"type": "text", "text": "See."}, {"type": "image"}, {"type": "hologram"}, {"type": "thinking"}]
    path = session(tmp_path / "s.jsonl", turn(0, "", message={"content": blocks}), turn(1, "Yes."))
    result = cli("import", str(path), "--json")
    (file,) = json.loads(result.stdout)["files"]
    assert file["left_out"] == {"image": 1, "part 'hologram'": 1, "thought": 1}
    result = cli("import", str(path), "--bank", "b")
    assert "left out: 1 image, 1 part 'hologram', 1 thought" in result.stderr


@pytest.mark.fault("N43")
def test_a_block_without_keys_is_found(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    note = "---\nThe greenhouse alarm code is 8821.\n---\nThe rest"
    for command in ("import", "retain"):
        (tmp_path / "note.md").write_text(note)
        assert cli(command, str(tmp_path / "note.md"), "--bank", command).exit_code == 0
        result = cli("recall", "alarm code of the greenhouse", "--bank", command, "--json")
        assert "8821" in json.loads(result.stdout)["hits"][0]["text"]


def real_shaped(folder: Path) -> Path:
    """A ChatGPT export as it is unpacked."""
    folder.mkdir()
    node = {
        "message": {
            "id": "m",
            "author": {"role": "user"},
            "content": {"content_type": "text", "parts": ["Figs?"]},
        }
    }
    files = {
        "conversations.json": [{"id": "c", "title": "Bed", "mapping": {"n": node}, "current_node": "n"}],
        "user.json": {"id": "user-1", "email": "ilse@example.org", "chatgpt_plus_user": False},
        "message_feedback.json": [],
        "shared_conversations.json": [{"id": "x", "conversation_id": "c", "title": "Bed"}],
        "model_comparisons.json": [{"metadata": {}, "id": "y"}],
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value))
    (folder / "README.txt").write_text("About the export.")
    (folder / "chat.html").write_text("<html></html>")
    (folder / "broken.json").write_text('{"a": ')
    (folder / "empty.json").write_text("")
    (folder / "image.dat").write_bytes(b"\x89PNG\r\n\0")
    return folder


@pytest.mark.fault("N47")
def test_files_beside_an_export_do_not_derail_it(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    folder = real_shaped(tmp_path / "export")
    result = cli("import", str(folder))
    assert result.exit_code == 0, result.stderr
    assert sorted(texts(store_path)) == ["About the export.", "Figs?"]
    for name in ("user.json", "message_feedback.json", "broken.json", "empty.json"):
        assert f"passed over {folder / name}: is of no format that is known" in result.stderr
    assert "image.dat" not in result.stderr


@pytest.mark.fault("N47")
def test_a_note_that_is_retained_is_cleaned_aloud(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("---\ndate: 2:33 PM\n---\nThe figs\0 came.")
    result = cli("retain", str(note))
    assert result.exit_code == 0
    assert f"cleaned {note}:1: date: '2:33 PM'" in result.stderr
    assert texts(store_path) == ["The figs came."]


@pytest.mark.fault("N47")
def test_nor_where_its_format_is_named(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    result = cli("import", str(real_shaped(tmp_path / "export")), "--format", "chatgpt")
    assert result.exit_code == 0, result.stderr
    assert texts(store_path) == ["Figs?"]
    folder = tmp_path / "logs"
    folder.mkdir()
    session(folder / "log.jsonl", {"words": 1}, {"text": "Ilse waters."})
    assert cli("import", str(folder), "--bank", "b").exit_code == 2
    assert cli("import", str(folder), "--format", "jsonl", "--skip-malformed", "--bank", "b").exit_code == 0
    assert texts(store_path, "b") == ["Ilse waters."]


@pytest.mark.fault("N47")
def test_beside_notes_other_formats_are_read_too(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(
        "---\ndate: 2:33 PM\ntitle: Figs: a list\naliases: [Orchard]\n---\nThe figs."
    )
    (tmp_path / "notes" / "settings.json").write_text('{"theme": "dark"}')
    session(tmp_path / "notes" / "log.jsonl", {"text": "Ilse waters."})
    result = cli("import", str(tmp_path / "notes"), "--json")
    answer = json.loads(result.stdout)
    assert [(file["format"], file["stored"]) for file in answer["files"]] == [("markdown", 1), ("jsonl", 1)]
    assert (answer["cleaned"], answer["skipped"]) == (1, 0)
    assert "date: '2:33 PM'" in result.stderr
    hits = json.loads(cli("recall", "orchard", "--json").stdout)["hits"]
    assert hits[0]["text"] == "The figs."


@pytest.mark.fault("N47")
def test_a_folder_without_any_known_file_is_refused(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "user.json").write_text("{}")
    result = cli("import", str(tmp_path / "folder"))
    assert result.exit_code == 2
    assert "holds no file that can be imported" in result.stderr
    assert not store_path.exists()
