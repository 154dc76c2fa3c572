"""An export of mem0: memories as a list, under ``results`` or ``memories``, or one a line.

The text lies in ``memory``, ``text`` or ``data``. A memory with an id is a document of its own, so one that
was changed there replaces what an earlier import brought. ``created_at`` says when it happened,
``categories`` become tags, ``run_id`` the session; ids of user, agent and app, and mem0's own metadata, are
kept as metadata.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from simonides.records.hygiene import MAX_LABEL_CHARACTERS
from simonides.retain.importing.cleaning import readable_time
from simonides.retain.importing.item import ImportedItem, ImportReport, given
from simonides.retain.importing.json_source import json_rows, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile

SOURCE = "mem0"

TEXTS = ("memory", "text", "data")
LISTS = ("results", "memories")
_KEPT = ("id", "user_id", "agent_id", "app_id", "updated_at")


def read_mem0(stream: IO[str], file: NamedFile, report: ImportReport | None = None) -> Iterator[ImportedItem]:
    """An item per memory, in the order of the file."""
    report = report or ImportReport()
    rows = json_rows(stream, file, report.skipped, *LISTS)
    for number, (line, row) in enumerate(rows):
        try:
            item, problems = _item(row)
        except (ValueError, TypeError) as error:
            report.skipped(file.wrong(line, str(error), f"memory {number}"))
            continue
        for problem in problems:
            report.cleaned(file.wrong(line, problem, f"memory {number}"))
        yield ImportedItem(item, line, f"memory {number}" if line == 1 else "")


def _item(row: object) -> tuple[dict[str, Any], list[str]]:
    """A memory as an item, and what of it could not be kept."""
    if not isinstance(row, dict):
        raise TypeError(f"expected an object, got {kind_of(row)}")
    text = next((row[key] for key in TEXTS if isinstance(row.get(key), str) and row[key].strip()), None)
    if text is None:
        raise ValueError(f"has no text; expected one of {', '.join(TEXTS)}, got {kind_of(row)}")
    problems = []
    own = row.get("metadata") or {}
    if not isinstance(own, dict):
        problems.append(f"metadata: expected an object, got {kind_of(own)}; left out")
        own = {}
    categories = row.get("categories") or []
    listed = [categories] if isinstance(categories, str) else categories
    if not isinstance(listed, list):
        problems.append(f"categories: expected a list, got {kind_of(listed)}; left out")
        listed = []
    tags = [
        tag for tag in listed if isinstance(tag, str) and tag.strip() and len(tag) <= MAX_LABEL_CHARACTERS
    ]
    if len(tags) < len(listed):
        problems.append(f"categories: {len(listed) - len(tags)} of {len(listed)} are no names; left out")
    time, problem = readable_time(row.get("created_at"))
    if problem:
        problems.append(f"created_at: {problem}; left out")
    identity = row.get("id")
    item = given(
        text=text,
        document_id=f"mem0:{identity}" if identity else "",
        session=str(row.get("run_id") or ""),
        event_time=time,
        tags=tags,
        metadata={**own, **{key: row[key] for key in _KEPT if row.get(key) is not None}},
        source=SOURCE,
        role="import",
    )
    return item, problems
