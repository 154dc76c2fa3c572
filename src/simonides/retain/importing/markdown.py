"""A Markdown note as a document: its paragraphs, each with the title and the headings above it.

From its head (see ``front_matter``): ``title``; ``date`` (or ``created``), when it happened; ``tags`` (a
list, or a text with commas or spaces between them; a leading ``#`` goes). Every other text or list of the
head is kept as metadata. A note without words is passed over. Nothing in an item says where in the note it
stands, so a paragraph stays the same memory when others come or go.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.records.interval import parse_time
from simonides.records.source import Origin
from simonides.retain.documents import document_items
from simonides.retain.importing.front_matter import split_front_matter
from simonides.retain.importing.item import ImportedItem, given, refuse
from simonides.retain.importing.json_source import read_whole
from simonides.retain.items import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile, Skipped

_BAD_BYTES = re.compile("[\udc80-\udcff]")
_BETWEEN_TAGS = re.compile(r"[,\s]+")
_OFFSET = re.compile(r"(?<![ \t])[ \t]++(?=[+-]\d\d:?\d\d$)")
_OWN = frozenset({"title", "date", "created", "tags"})


def read_markdown(stream: IO[str], file: NamedFile, skipped: Skipped = refuse) -> Iterator[ImportedItem]:
    """The paragraphs of one note, in order; together they are the whole document."""
    text = read_whole(stream, file)
    if _BAD_BYTES.search(text):
        skipped(file.wrong(1, "is not UTF-8 text; convert it first"))
        return
    head, start = split_front_matter(text)
    body = text[start:]
    if not body.strip():
        return
    try:
        shared = _described(head)
        date = parse_time(shared["event_time"], "date") if "event_time" in shared else None
        items = document_items(
            body, document_id=file.document or file.name, title=_said(head, "title"), date=date
        )
    except InputError as error:
        skipped(file.wrong(1, f"{error.field}: {error.problem}"))
        return
    line, counted = 1, 0
    for item in items:
        # The document is kept verbatim, with its head.
        span: Origin = item[ORIGIN]
        begin, end = start + span.start, start + span.stop
        line, counted = line + text.count("\n", counted, begin), begin
        named = given(source=file.place.rpartition("/")[2], path=file.place)
        yield ImportedItem(
            {**item, **shared, **named, "role": "document", ORIGIN: Origin(text, begin, end)}, line
        )


def _described(head: dict[str, str | list[str]]) -> dict[str, Any]:
    tags = head.get("tags", [])
    if isinstance(tags, str):
        tags = _BETWEEN_TAGS.split(tags)
    date = _said(head, "date") or _said(head, "created")
    return given(
        event_time=_OFFSET.sub("", date),
        tags=[tag.strip().lstrip("#") for tag in tags if tag.strip().lstrip("#")],
        metadata={key: value for key, value in head.items() if key not in _OWN},
    )


def _said(head: dict[str, str | list[str]], key: str) -> str:
    value = head.get(key, "")
    return value if isinstance(value, str) else ""
