"""The formats that can be imported, and the files, items and batches of an import.

The first rows of a file that say what they are decide its format. Only a note has no content that tells it:
there the name decides, and whether it lies in a vault. What fits no format is refused; nothing is guessed.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import InputError, UnknownNameError
from simonides.files import disk_errors
from simonides.retain.importing.chats import KEYS as CLAUDE_AI_KEYS
from simonides.retain.importing.chats import read_chatgpt, read_claude_ai, read_claude_code
from simonides.retain.importing.markdown import read_markdown, read_obsidian
from simonides.retain.importing.memories import LISTS, TEXTS, read_knowledge_graph, read_locomo, read_mem0
from simonides.retain.importing.sources import (
    LARGEST_FILE,
    ImportReport,
    NamedFile,
    clean_items,
    kind_of,
    list_entries,
    parse,
    read_jsonl,
)
from simonides.retain.items import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from simonides.retain.importing.sources import ImportedItem, Reader


EXPORT = "simonides"
"""A bank that was exported: not items, but rows; see ``Bank.import_bank``."""

MARKDOWN = "markdown"
OBSIDIAN = "obsidian"
NOTES = frozenset({MARKDOWN, OBSIDIAN})
"""Formats whose files are documents, named by their paths."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name for people, the lower-case suffixes of its files in a folder, its reader."""

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
    """A format's name as it is, else ``UnknownNameError``."""
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


def named_file(path: Path, place: str = "") -> NamedFile:
    """How messages and memories name a file; *place* is below the folder that was named, if one was."""
    # The whole path, for two folders may hold a README each, and neither may end what the other says.
    return NamedFile(str(path), place or path.name, f"file:{path.resolve().as_posix()}")


def read_file(
    path: Path, format_name: str, file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The items of a file in one of ``FORMATS``.

    *report* is told of what is lost or cleaned; by default the first row that would be lost stops it.

    Raises:
        InputError: it is no regular file, or of another form.
        UnavailableError: it cannot be read.
    """
    report = report or ImportReport()
    check_regular(path)
    # newline="": a note is kept as it is.
    with (
        disk_errors(path, "read"),
        path.open(encoding="utf-8", errors="surrogateescape", newline="") as stream,
    ):
        yield from clean_items(FORMATS[format_name].read(stream, file, report), file, report)


def check_regular(path: Path) -> None:
    """Raise ``InputError`` for folders, devices and pipes; ``UnavailableError`` where that cannot be told."""
    with disk_errors(path, "read"):
        mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise InputError(str(path), "is not a regular file")


# How the bank names the item that it refused: "items[3].kind".
_ITEM = re.compile(r"items\[(?P<position>\d+)\](?:\.(?P<key>.+))?")

T = TypeVar("T")

BATCH = 256
"""Items per transaction; a document that has more goes alone."""


def batches(
    items: Iterable[ImportedItem], file: NamedFile, *, size: int = BATCH
) -> Iterator[list[ImportedItem]]:
    """Lists of up to *size* items, in order.

    ``InputError``: the items of a document do not stand together, so that its parts would end each other.
    """
    batch: list[ImportedItem] = []
    for unit in _units(items, file):
        if batch and len(batch) + len(unit) > size:
            yield batch
            batch = []
        batch = batch + unit
    if batch:
        yield batch


def _units(items: Iterable[ImportedItem], file: NamedFile) -> Iterator[list[ImportedItem]]:
    """Documents whole, other items alone."""
    unit: list[ImportedItem] = []
    current = ""
    ended: dict[str, int] = {}
    for item in items:
        document = str(item.item.get("document_id") or "")
        if unit and (document != current or not document):
            if current:
                ended[current] = unit[-1].line
            yield unit
            unit = []
        if document in ended:
            raise file.wrong(
                item.line,
                f"document_id: {document!r} ended at line {ended[document]}; keep its items together",
            )
        unit.append(item)
        current = document
    if unit:
        yield unit


def store_batch(
    store: Callable[[list[dict[str, Any]]], T],
    batch: Sequence[ImportedItem],
    place: Callable[[ImportedItem], tuple[NamedFile, ImportReport]],
) -> tuple[T, list[ImportedItem]]:
    """Store a batch without the items that the bank refuses, each of which is reported.

    A turn whose neighbours hold what is refused, such as a secret, is stored without them.

    Args:
        store: takes all items or refuses them all, as ``Bank.import_items`` does.
        batch: items in order.
        place: the file of an item, and the report of that file, which raises in ``skipped`` to store nothing.

    Raises:
        InputError: the bank refuses the batch for another reason than one of its items.
    """
    items = list(batch)
    while True:
        try:
            return store([item.item for item in items]), items
        except InputError as error:
            refused = _ITEM.match(error.field)
            if not refused:
                raise
            position, key = int(refused["position"]), refused["key"] or "item"
            item = items.pop(position)
            file, report = place(item)
            wrong = file.wrong(item.line, f"{key}: {error.problem}", item.part)
            if key == "context" and ORIGIN in item.item:
                report.cleaned(wrong)
                alone = {name: value for name, value in item.item.items() if name != "context"}
                items.insert(position, replace(item, item=alone))
            else:
                report.skipped(wrong)
