"""The formats that can be imported, by name, and what a file looks like.

A file is told by its content. Only a note has none that tells it, so there the name decides. What fits no
format is refused with what was found; nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.files import disk_errors
from simonides.retain.importing.chatgpt import read_chatgpt
from simonides.retain.importing.claude_code import read_claude_code
from simonides.retain.importing.json_source import LARGEST_FILE, kind_of, parse
from simonides.retain.importing.jsonl import read_jsonl
from simonides.retain.importing.knowledge_graph import read_knowledge_graph
from simonides.retain.importing.locomo import read_locomo
from simonides.retain.importing.markdown import read_markdown
from simonides.retain.importing.mem0 import LISTS, TEXTS, read_mem0

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from simonides.retain.importing.item import Reader

EXPORT = "simonides"
"""A bank that was exported: not items, but rows; see ``Bank.import_bank``."""

MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes:
        title: for people.
        suffixes: of its files, lower case, as they are looked for in a folder.
        read: its reader.
    """

    title: str
    suffixes: frozenset[str]
    read: Reader


_JSON = frozenset({".json"})
_LINES = frozenset({".jsonl"})

FORMATS: Mapping[str, Format] = {
    MARKDOWN: Format("Markdown notes", frozenset({".md", ".markdown", ".txt"}), read_markdown),
    "jsonl": Format("JSON lines of items", _LINES, read_jsonl),
    "chatgpt": Format("ChatGPT conversations.json", _JSON, read_chatgpt),
    "claude-code": Format("Claude Code session", _LINES, read_claude_code),
    "knowledge-graph": Format("MCP knowledge graph", _JSON | _LINES, read_knowledge_graph),
    "mem0": Format("mem0 export", _JSON | _LINES, read_mem0),
    "locomo": Format("LoCoMo", _JSON, read_locomo),
}

NAMES = (EXPORT, *FORMATS)

_LOOKED_AT = 4_096
_CLAUDE_KEYS = frozenset({"sessionId", "leafUuid", "messageId"})


def check_format(name: str) -> str:
    """A format's name as it is.

    Raises:
        UnknownNameError: there is no such format.
    """
    if name not in NAMES:
        raise UnknownNameError("--format", name, NAMES)
    return name


def detect(path: Path) -> str:
    """The format of a file.

    Raises:
        InputError: it is none of the formats; says what was found.
        UnavailableError: it cannot be read.
    """
    if path.suffix.lower() in FORMATS[MARKDOWN].suffixes:
        return MARKDOWN
    with disk_errors(path, "read"), path.open(encoding="utf-8-sig", errors="surrogateescape") as stream:
        if "\0" in stream.read(_LOOKED_AT):
            raise _unknown(path, "a file that is not text")
        stream.seek(0)
        lines = iter(lambda: stream.readline(LARGEST_FILE), "")
        head = next((line for line in lines if line.strip()), "")
        if not head:
            raise _unknown(path, "an empty file")
        try:
            found = parse(head)
            format_name = _of_line(found) or _of_whole(found)
        except ValueError as error:
            try:
                # Not one value a line: one value that goes over many.
                found = parse(head + stream.read(LARGEST_FILE))
            except ValueError:
                raise _unknown(path, f"{_beginning(head)} ({error})") from None
            format_name = _of_whole(found)
    if not format_name:
        raise _unknown(path, kind_of(found))
    return format_name


def _of_line(row: object) -> str:
    """By the first of many lines, each an object."""
    if not isinstance(row, dict):
        return ""
    if row.get("format") == "simonides-export":
        return EXPORT
    sort = row.get("type")
    if sort in {"entity", "relation"} and {"name", "from"} & row.keys():
        return "knowledge-graph"
    if sort and _CLAUDE_KEYS & row.keys():
        return "claude-code"
    if "id" in row and any(isinstance(row.get(key), str) for key in TEXTS):
        return "mem0"
    return "jsonl" if isinstance(row.get("text"), str) else ""


def _of_whole(value: object) -> str:
    """By one value that is the whole file."""
    row: Any = value
    if isinstance(row, dict):
        if isinstance(row.get("entities"), list) and isinstance(row.get("relations", []), list):
            return "knowledge-graph"
        if isinstance(row.get("conversations"), list):
            return "chatgpt"
        row = next((row[key] for key in LISTS if isinstance(row.get(key), list)), row)
    if isinstance(row, list):
        row = row[0] if row else None
    if not isinstance(row, dict):
        return ""
    if isinstance(row.get("mapping"), dict):
        return "chatgpt"
    if isinstance(row.get("conversation"), dict):
        return "locomo"
    return "mem0" if "id" in row and any(isinstance(row.get(key), str) for key in TEXTS) else ""


def _beginning(head: str) -> str:
    return f"something that begins with {head.strip()[:40]!r}"


def _unknown(path: Path, found: str) -> InputError:
    return InputError(
        str(path),
        f"is of no format that is known, but {found}; known: {', '.join(NAMES)} (name one with --format)",
    )
