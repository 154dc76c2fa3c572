"""The formats that can be imported, by name, and what a file looks like.

A file is told by its content: the first rows that say what they are decide, so that a bad one before them
costs nothing. Only a note has no content that tells it, so there the name decides, and whether it lies in a
vault. What fits no format is refused with what was found; nothing is guessed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.files import disk_errors
from simonides.retain.importing.chatgpt import read_chatgpt
from simonides.retain.importing.claude_ai import KEYS as CLAUDE_AI_KEYS
from simonides.retain.importing.claude_ai import read_claude_ai
from simonides.retain.importing.claude_code import read_claude_code
from simonides.retain.importing.json_source import LARGEST_FILE, kind_of, list_entries, parse
from simonides.retain.importing.jsonl import read_jsonl
from simonides.retain.importing.knowledge_graph import read_knowledge_graph
from simonides.retain.importing.locomo import read_locomo
from simonides.retain.importing.markdown import read_markdown, read_obsidian
from simonides.retain.importing.mem0 import LISTS, TEXTS, read_mem0

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from simonides.retain.importing.item import Reader

EXPORT = "simonides"
"""A bank that was exported: not items, but rows; see ``Bank.import_bank``."""

MARKDOWN = "markdown"
OBSIDIAN = "obsidian"
NOTES = frozenset({MARKDOWN, OBSIDIAN})
"""Formats whose files are documents, named by their paths."""


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
    OBSIDIAN: Format("Obsidian vault", frozenset({".md"}), read_obsidian),
    "jsonl": Format("JSON lines of items", _LINES, read_jsonl),
    "chatgpt": Format("ChatGPT conversations.json", _JSON, read_chatgpt),
    "claude-ai": Format("Claude.ai data export", _JSON, read_claude_ai),
    "claude-code": Format("Claude Code session", _LINES, read_claude_code),
    "knowledge-graph": Format("MCP knowledge graph", _JSON | _LINES, read_knowledge_graph),
    "mem0": Format("mem0 export", _JSON | _LINES, read_mem0),
    "locomo": Format("LoCoMo", _JSON, read_locomo),
}

NAMES = (EXPORT, *FORMATS)

_LOOKED_AT = 4_096
_ROWS = 20
"""Rows that are looked at for one that says what it is."""

_VAULT = ".obsidian"
"""The folder of settings that makes a folder an Obsidian vault."""

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
    suffix = path.suffix.lower()
    if suffix in FORMATS[OBSIDIAN].suffixes and _in_vault(path):
        return OBSIDIAN
    if suffix in FORMATS[MARKDOWN].suffixes:
        return MARKDOWN
    with disk_errors(path, "read"), path.open(encoding="utf-8-sig", errors="surrogateescape") as stream:
        beginning = stream.read(_LOOKED_AT)
        if "\0" in beginning and not beginning.lstrip().startswith(("[", "{")):
            raise _unknown(path, "a file that is not text")
        stream.seek(0)
        lines = (line for line in iter(lambda: stream.readline(LARGEST_FILE), "") if line.strip())
        head = next(lines, "")
        if not head:
            raise _unknown(path, "an empty file")
        if head.lstrip().startswith("["):
            format_name, found = _of_list(head, lambda: head + stream.read(LARGEST_FILE))
        else:
            first = list(islice(lines, _ROWS - 1))
            format_name, found = _of_lines([head, *first])
            if not format_name:
                format_name, found = _of_value(head + "".join(first) + stream.read(LARGEST_FILE), found)
    if not format_name:
        raise _unknown(path, found or _beginning(head))
    return format_name


def _in_vault(path: Path) -> bool:
    return any(os.path.isdir(folder / _VAULT) for folder in path.absolute().parents)  # noqa: PTH112


def _of_list(text: str, whole: Callable[[], str]) -> tuple[str, str]:
    """The format of a list by the first entries that tell, else what was found."""
    found = problem = ""
    for attempt in (str, whole):
        try:
            for _, entry in islice(list_entries(attempt() or text), _ROWS):
                found = found or kind_of([entry])
                if format_name := _of_whole([entry]):
                    return format_name, ""
            return "", found or kind_of([])
        except ValueError as error:
            problem = f"{_beginning(text)} ({error})"
    return "", found or problem


def _of_lines(lines: list[str]) -> tuple[str, str]:
    """The format of many lines with an object each, by the first that tells; else what the first is."""
    found, others = "", False
    for line in lines:
        try:
            row = parse(line)
        except ValueError as error:
            found = found or f"{_beginning(line)} ({error})"
            continue
        format_name = _of_line(row) or _of_whole(row)
        # Any row may have a text; so it must be the first that can be read.
        if format_name and not (others and format_name == "jsonl"):
            return format_name, ""
        found, others = (found if others else kind_of(row)), True
    return "", found


def _of_value(text: str, found: str) -> tuple[str, str]:
    """The format of one value that goes over many lines."""
    try:
        value = parse(text)
    except ValueError:
        return "", found
    return _of_whole(value), kind_of(value)


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
            return _of_whole(row["conversations"]) or "chatgpt"
        row = next((row[key] for key in LISTS if isinstance(row.get(key), list)), row)
    if isinstance(row, list):
        return next(filter(None, map(_of_whole, islice(row, _ROWS))), "")
    if not isinstance(row, dict):
        return ""
    signs = {
        "chatgpt": isinstance(row.get("mapping"), dict),
        "claude-ai": bool(CLAUDE_AI_KEYS & row.keys()),
        "locomo": isinstance(row.get("conversation"), dict),
        "mem0": "id" in row and any(isinstance(row.get(key), str) for key in TEXTS),
    }
    return next((name for name, found in signs.items() if found), "")


def _beginning(head: str) -> str:
    return f"something that begins with {head.strip()[:40]!r}"


def _unknown(path: Path, found: str) -> InputError:
    return InputError(
        str(path),
        f"is of no format that is known, but {found}; known: {', '.join(NAMES)} (name one with --format)",
    )
