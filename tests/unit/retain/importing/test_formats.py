"""Every format is told by its content, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.retain.importing.formats import FORMATS, NAMES, check_format, detect

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = {
    "north-bed.md": "markdown",
    "items.jsonl": "jsonl",
    "conversations.json": "chatgpt",
    "session.jsonl": "claude-code",
    "graph.jsonl": "knowledge-graph",
    "graph.json": "knowledge-graph",
    "mem0.json": "mem0",
    "locomo.json": "locomo",
    "claude-conversations.json": "claude-ai",
    "claude-projects.json": "claude-ai",
    "vault/2026-04-02.md": "obsidian",
}


def test_every_format_has_a_sample(samples: Path) -> None:
    assert set(SAMPLES.values()) == set(FORMATS)
    assert {entry.name for entry in samples.iterdir()} == {name.partition("/")[0] for name in SAMPLES}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_told_by_its_content(samples: Path, tmp_path: Path, name: str) -> None:
    assert detect(samples / name) == SAMPLES[name]
    if name.endswith(".md"):
        return
    # The name of the file says nothing, and neither does how it is laid out.
    text = (samples / name).read_text("utf-8")
    (tmp_path / "export").write_text("\ufeff\n\n" + text, encoding="utf-8")
    assert detect(tmp_path / "export") == SAMPLES[name]
    if name.endswith(".json"):
        (tmp_path / "export").write_text(json.dumps(json.loads(text)), encoding="utf-8")
        assert detect(tmp_path / "export") == SAMPLES[name]


@pytest.mark.parametrize(
    ("text", "format_name"),
    [
        ('{"id": "a", "memory": "x"}\n{"id": "b", "memory": "y"}', "mem0"),
        ('{"memories": [{"id": "a", "text": "x"}]}', "mem0"),
        ('[{"id": "a", "data": "x"}]', "mem0"),
        ('{"text": "x"}', "jsonl"),
        ('{"conversations": []}', "chatgpt"),
        ('{"mapping": {}, "title": "x"}', "chatgpt"),
        ('[null, {"title": "cut"}, {"mapping": {}}]', "chatgpt"),
        ('[{"mapping": {}}, {"mapp', "chatgpt"),
        ('{"title": "cut\n{"chat_messages": []}\n', "claude-ai"),
        ('{"conversations": [{"chat_messages": []}]}', "claude-ai"),
        ('[{"conversations_memory": "x", "account_uuid": "a"}]', "claude-ai"),
        ('{"type": "summary"}\n{"type": "user", "sessionId": "a"}', "claude-code"),
        ('{"text": "a\0b"}', "jsonl"),
        ('{"entities": []}', "knowledge-graph"),
        ('{"sample_id": "a", "conversation": {}}', "locomo"),
        ('{"type": "file-history-snapshot", "messageId": "a"}', "claude-code"),
        ('{"record": "header", "format": "simonides-export", "version": 1}', "simonides"),
    ],
)
def test_forms_of_a_format(tmp_path: Path, text: str, format_name: str) -> None:
    (tmp_path / "x").write_text(text)
    assert detect(tmp_path / "x") == format_name


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b"%PDF-1.7\n", "begins with '%PDF-1.7'"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not text"),
        (b"{}", "an empty object"),
        (b"[]", "an empty list"),
        (b"[[1]]", "a list of a list of a number"),
        (b'{"rows": [], "page": 1}', "an object with the keys 'rows', 'page'"),
        (b'{"text": 5}', "an object with the keys 'text'"),
        (b'"text"', "a text"),
        (b"null", "null"),
        (b'{"text": "x"\n', "begins with"),
        (b'{"text": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1}\n{"text": "x"}', "an object with the keys 'a'"),
    ],
)
def test_what_is_of_no_format_is_refused_with_what_was_found(tmp_path: Path, raw: bytes, found: str) -> None:
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(InputError) as caught:
        detect(tmp_path / "x")
    assert found in caught.value.problem
    assert all(name in caught.value.problem for name in NAMES)
    assert caught.value.field == str(tmp_path / "x")


def test_a_name_that_is_no_format_is_refused_with_the_nearest() -> None:
    assert check_format("mem0") == "mem0"
    with pytest.raises(UnknownNameError, match="did you mean 'chatgpt'"):
        check_format("chat-gpt")
