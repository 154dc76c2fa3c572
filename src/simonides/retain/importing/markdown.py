r"""A Markdown note as a document: its paragraphs, each with the title and the headings above it.

The head of a note is a small part of YAML, read without a YAML package:

    ---
    title: Fruit trees            # a comment
    tags: [garden, "north bed"]
    authors:
      - Ilse
    ---

Read are ``key: value`` lines at the left edge with plain, 'single' or "double" quoted texts (escapes ``\"``
and ``\\`` only), lists in brackets on one line, and lists of ``- `` lines below a key. A plain text may hold
a colon. Of anything else (nested keys, block texts, anchors) the key that it belongs to is passed over.
Values stay texts: ``1.0`` is not a number. A block that holds a sentence, or no ``key: value`` line at all,
is no head but text between two rules.

From the head: ``title``; ``aliases``, which find every paragraph as the title does; ``date`` (or
``created``), when it happened; ``tags`` (a list, or a text with commas or spaces between them; a leading
``#`` goes). Every other text or list is kept as metadata. What cannot be used is reported, and the note is
kept. A note without words is passed over. Nothing in an item says where in the note it stands, so a paragraph
stays the same memory when others come or go.

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
from simonides.retain.importing.sources import (
    ImportedItem,
    ImportReport,
    clean_characters,
    given,
    read_whole,
    readable_time,
)
from simonides.retain.items import ORIGIN, canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.sources import NamedFile


_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_PAIR = re.compile(r"([^\s#'\"\[\]{}&*!|>%@`?:-][^:]*):(?:[ \t]++(.*))?")
_ENTRY = re.compile(r"[ \t]*-[ \t]++(.*)")
_SENTENCE = re.compile(r"\A\w[^\s:]*[ \t]+\S")
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*+)"|\'((?:[^\']|\'\')*+)\'')
_IN_BRACKETS = re.compile(r"[^,\[\]{}#'\"]*")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*")
_BLANKS = re.compile(r"\s*")
_NOT_PLAIN = re.compile(r"[&*!|>%@`{}\[\]'\"?]")


def split_front_matter(text: str) -> tuple[dict[str, str | list[str]], int]:
    """What the head of a note says, by lower-case key, and at which character the note starts."""
    start = _FENCE.match(text)
    end = _END.search(text, start.end()) if start else None
    lines = text[start.end() : end.start()].splitlines() if start and end else []
    if start is None or end is None or _is_prose(lines):
        return {}, int(text.startswith("\ufeff"))
    return _read_value(lines), end.end()


def _is_prose(lines: list[str]) -> bool:
    """Whether a block between two rules is text: else what it says would be lost."""
    others = [line for line in lines if line.strip() and not _PAIR.fullmatch(line)]
    if any(map(_SENTENCE.match, others)):
        return True
    return bool(others) and not any(map(_PAIR.fullmatch, lines))


def _read_value(lines: list[str]) -> dict[str, str | list[str]]:
    values: dict[str, str | list[str]] = {}
    key = ""
    below: list[str] | None = None  # the lines below the last key, as long as they are a list
    for line in lines:
        pair, entry = _PAIR.fullmatch(line), _ENTRY.fullmatch(line)
        said = _text(entry[1]) if entry else None
        if pair:
            key = pair[1].strip().lower()
            rest = pair[2] or ""
            below = None if _uncommented(rest) else []
            value = below if below is not None else _value(rest)
            values.pop(key, None)
            if value is not None:
                values[key] = value
        elif below is not None and said is not None:
            below.append(said)
        elif _uncommented(line):
            # Something that this part of YAML has no words for: so the key is not understood.
            values.pop(key, None)
            below = None
    return {key: value for key, value in values.items() if value}


def _uncommented(text: str) -> str:
    return _COMMENT.sub("", text).strip()


def _value(text: str) -> str | list[str] | None:
    if text.startswith("["):
        return _read_list(text)
    return _text(text, colons=True)


def _text(text: str, *, colons: bool = False) -> str | None:
    """One text on the rest of a line; ``None`` when it is more than that. *colons*: it may hold one."""
    quoted = _QUOTED.match(text)
    if quoted:
        return None if _uncommented(text[quoted.end() :]) else _unquoted(quoted)
    plain = _uncommented(text)
    if not plain or _NOT_PLAIN.match(plain):
        return None
    if not colons and (": " in plain or plain.endswith(":")):
        return None
    return plain


def _read_list(text: str) -> list[str] | None:
    """A list in brackets; ``None`` when it does not end on the line or holds more than texts."""
    found: list[str] = []
    place = 1
    while True:
        place = _after_blanks(text, place)
        quoted = _QUOTED.match(text, place)
        part = quoted or _IN_BRACKETS.match(text, place)
        if part is None:
            return None
        said = _unquoted(quoted) if quoted else part[0].strip()
        place = _after_blanks(text, part.end())
        if said:
            found.append(said)
        if text[place : place + 1] == "]":
            return None if _uncommented(text[place + 1 :]) else found
        if text[place : place + 1] != ",":
            return None
        place += 1


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _unquoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return re.sub(r"\\(.)", r"\1", found[1])
    return found[2].replace("''", "'")


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
    """What a head says of every paragraph, and what of it cannot be used; *day* is the default date."""
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
