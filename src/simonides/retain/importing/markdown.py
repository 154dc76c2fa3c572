"""A Markdown note as a document: its paragraphs, each with the title and the headings above it.

From its head (see ``front_matter``): ``title``; ``aliases``, which find every paragraph as the title does;
``date`` (or ``created``), when it happened; ``tags`` (a list, or a text with commas or spaces between them; a
leading ``#`` goes). Every text or list of the head but the title, the date and the tags is kept as metadata.
What of the head cannot be used is reported, and the note is kept. A note without words is passed over.
Nothing in an item says where in the note it stands, so a paragraph stays the same memory when others come or
go.

In an Obsidian vault a note without a title has the file's name as title, a daily note (``2026-04-02.md``)
happened on its day, and ``#tags`` in a paragraph are tags of it.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.records.hygiene import MAX_LABEL_CHARACTERS
from simonides.records.interval import parse_time
from simonides.records.source import Origin
from simonides.retain.documents import document_items
from simonides.retain.importing.cleaning import clean_characters, readable_time
from simonides.retain.importing.front_matter import split_front_matter
from simonides.retain.importing.item import ImportedItem, ImportReport, given
from simonides.retain.importing.json_source import read_whole
from simonides.retain.items import ORIGIN
from simonides.retain.metadata import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile

_BAD_BYTES = re.compile("[\udc80-\udcff]")
_BETWEEN_TAGS = re.compile(r"[,\s]+")
_OFFSET = re.compile(r"(?<![ \t])[ \t]++(?=[+-]\d\d:?\d\d$)")
_OWN = frozenset({"title", "date", "created", "tags"})
_DAILY = re.compile(r"\d{4}-\d\d-\d\d")
_TAG = re.compile(r"(?<!\S)#((?:[\w/-]*[^\W\d])[\w/-]*+)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_LONGEST_ALIASES = 1_000
"""Characters of other names that are kept as context."""


def read_markdown(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The paragraphs of one note, in order; together they are the whole document."""
    return _read(stream, file, report or ImportReport(), in_vault=False)


def read_obsidian(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The paragraphs of one note of a vault, as ``read_markdown`` gives them."""
    return _read(stream, file, report or ImportReport(), in_vault=True)


def _read(
    stream: IO[str], file: NamedFile, report: ImportReport, *, in_vault: bool
) -> Iterator[ImportedItem]:
    text = read_whole(stream, file)
    if _BAD_BYTES.search(text):
        report.skipped(file.wrong(1, "is not UTF-8 text; convert it first"))
        return
    cleaned = clean_characters(text)
    if cleaned != text:
        report.cleaned(file.wrong(1, "characters that cannot be stored were taken out"))
        text = cleaned
    head, start = split_front_matter(text)
    body = text[start:]
    if not body.strip():
        return
    name = file.place.rpartition("/")[2]
    stem = name.rpartition(".")[0] if in_vault else ""
    shared, problems = _described(head, stem if _DAILY.fullmatch(stem) and not readable_time(stem)[1] else "")
    title = _said(head, "title") or stem
    try:
        date = parse_time(shared["event_time"], "date") if "event_time" in shared else None
        items = document_items(body, document_id=file.document or file.name, title=title, date=date)
    except InputError as error:
        report.skipped(file.wrong(1, f"{error.field}: {error.problem}"))
        return
    for problem in problems:
        report.cleaned(file.wrong(1, problem))
    others = ", ".join(_listed(head, "aliases", "alias"))[:_LONGEST_ALIASES]
    line, counted = 1, 0
    for item in items:
        # The document is kept verbatim, with its head.
        span: Origin = item[ORIGIN]
        begin, end = start + span.start, start + span.stop
        line, counted = line + text.count("\n", counted, begin), begin
        own = {**item, **shared, **given(source=name, path=file.place), "role": "document"}
        if others:
            own["context"] = "\n".join(filter(None, (f"Also known as {others}", item["context"])))
        if in_vault and (tags := _inline_tags(item["text"])):
            own["tags"] = [*shared.get("tags", []), *tags]
        yield ImportedItem({**own, ORIGIN: Origin(text, begin, end)}, line)


def _described(head: dict[str, str | list[str]], day: str) -> tuple[dict[str, Any], list[str]]:
    """What a head says of every paragraph, and what of it cannot be used.

    Args:
        head: by lower-case key.
        day: when it happened, where the head does not say.
    """
    problems = []
    said = next((key for key in ("date", "created") if head.get(key)), "")
    written = next(iter(_listed(head, said)), "")
    time, problem = readable_time(_OFFSET.sub("", written)) if written else (day or None, "")
    if problem:
        problems.append(f"{said}: {problem}; left out")
    tags = [tag for entry in _listed(head, "tags", "tag") if (tag := entry.strip().lstrip("#"))]
    short = [tag for tag in tags if len(tag) <= MAX_LABEL_CHARACTERS]
    if len(short) < len(tags):
        problems.append(f"tags: {len(tags) - len(short)} are longer than {MAX_LABEL_CHARACTERS} characters")
    metadata = {key: value for key, value in head.items() if key not in _OWN}
    try:
        canonical_json(metadata, "metadata")
    except InputError as error:
        problems.append(f"metadata: {error.problem}; left out")
        metadata = {}
    return given(event_time=time, tags=short, metadata=metadata), problems


def _listed(head: dict[str, str | list[str]], *keys: str) -> list[str]:
    """What stands under the first of *keys* that is there, as a list."""
    value = next((head[key] for key in keys if key in head), [])
    if isinstance(value, list):
        return value
    if keys[0] == "tags":
        return _BETWEEN_TAGS.split(value)
    return [part.strip() for part in value.split(",") if part.strip()] if keys[0] == "aliases" else [value]


def _said(head: dict[str, str | list[str]], key: str) -> str:
    value = head.get(key, "")
    return value if isinstance(value, str) else ""


def _inline_tags(text: str) -> list[str]:
    return [tag for tag in _TAG.findall(_CODE.sub(" ", text)) if len(tag) <= MAX_LABEL_CHARACTERS]
