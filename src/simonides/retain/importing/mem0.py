"""An export of mem0: memories as a list, under ``results`` or ``memories``, or one a line.

The text lies in ``memory``, ``text`` or ``data``. A memory with an id is a document of its own, so one that
was changed there replaces what an earlier import brought. ``created_at`` says when it happened,
``categories`` become tags, ``run_id`` the session; ids of user, agent and app, and mem0's own metadata, are
kept as metadata.
"""

from __future__ import annotations

from io import StringIO
from typing import IO, TYPE_CHECKING, Any

from simonides.retain.importing.item import ImportedItem, given, refuse
from simonides.retain.importing.json_source import json_lines, json_rows, kind_of, moment, parse, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile, Skipped

SOURCE = "mem0"

TEXTS = ("memory", "text", "data")
LISTS = ("results", "memories")
_KEPT = ("id", "user_id", "agent_id", "app_id", "updated_at")


def read_mem0(stream: IO[str], file: NamedFile, skipped: Skipped = refuse) -> Iterator[ImportedItem]:
    """An item per memory, in the order of the file."""
    text = read_whole(stream, file)
    rows = (
        json_lines(StringIO(text), file, skipped)
        if _by_line(text)
        else json_rows(StringIO(text), file, *LISTS)
    )
    for number, (line, row) in enumerate(rows):
        try:
            yield ImportedItem(_item(row), line, f"memory {number}" if line == 1 else "")
        except (ValueError, TypeError) as error:
            skipped(file.wrong(line, str(error), f"memory {number}"))


def _by_line(text: str) -> bool:
    try:
        first = parse(text.lstrip("\ufeff \t\r\n").partition("\n")[0])
    except ValueError:
        return False
    return isinstance(first, dict) and not any(key in first for key in LISTS)


def _item(row: object) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise TypeError(f"expected an object, got {kind_of(row)}")
    text = next((row[key] for key in TEXTS if isinstance(row.get(key), str) and row[key].strip()), None)
    if text is None:
        raise ValueError(f"has no text; expected one of {', '.join(TEXTS)}, got {kind_of(row)}")
    own = row.get("metadata") or {}
    if not isinstance(own, dict):
        raise TypeError(f"metadata: expected an object, got {kind_of(own)}")
    categories = row.get("categories") or []
    if not isinstance(categories, list):
        raise TypeError(f"categories: expected a list, got {kind_of(categories)}")
    identity = row.get("id")
    return given(
        text=text,
        document_id=f"mem0:{identity}" if identity else "",
        session=str(row.get("run_id") or ""),
        event_time=moment(row.get("created_at")),
        tags=categories,
        metadata={**own, **{key: row[key] for key in _KEPT if row.get(key) is not None}},
        source=SOURCE,
        role="import",
    )
