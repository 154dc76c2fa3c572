"""Memories of other engines as items: mem0, the MCP reference server, LoCoMo.

mem0: memories as a list, under ``results`` or ``memories``, or one a line. The text lies in ``memory``,
``text`` or ``data``. A memory with an id is a document of its own, so one that was changed there replaces
what an earlier import brought. ``created_at`` says when it happened, ``categories`` become tags, ``run_id``
the session; ids of user, agent and app, and mem0's own metadata, are kept as metadata.

MCP reference server: one object a line (``{"type": "entity", "name", "entityType", "observations"}`` and
``{"type": "relation", "from", "to", "relationType"}``), or one JSON object ``{"entities": […], "relations":
[…]}``. An observation becomes a memory that says whom it is about; an entity without one is kept by its type;
a relation becomes a statement.

LoCoMo in its original form: a session of a conversation becomes a session, a turn a memory ``Speaker: text
[image: caption]`` that happened at the date of its session (no time zone is stated; UTC is assumed).
``dia_id`` and ``sample_id`` are kept as metadata; questions, summaries and observations are passed over.
Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from io import StringIO
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.records.hygiene import MAX_LABEL_CHARACTERS
from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.sources import (
    ImportedItem,
    ImportReport,
    given,
    json_lines,
    json_rows,
    kind_of,
    parse,
    read_whole,
    readable_time,
)
from simonides.text.dates import MONTHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simonides.retain.importing.sources import NamedFile, Skipped


MEM0_SOURCE = "mem0"

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
        source=MEM0_SOURCE,
        role="import",
    )
    return item, problems


KNOWLEDGE_GRAPH_SOURCE = "knowledge-graph"


def read_knowledge_graph(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """An item per observation and per relation, in the order of the file."""
    skipped = (report or ImportReport()).skipped
    text = read_whole(stream, file)
    for line, part, row in _rows(text, file, skipped):
        try:
            items, problems = (_relation(row), []) if row.get("type") == "relation" else _entity(row)
        except (ValueError, TypeError) as error:
            skipped(file.wrong(line, str(error), part))
            continue
        for problem in problems:
            skipped(file.wrong(line, problem, part))
        for item in items:
            yield ImportedItem({**item, "source": KNOWLEDGE_GRAPH_SOURCE, "role": "import"}, line, part)


def _rows(text: str, file: NamedFile, skipped: Skipped) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line, what the row is there, and the row with its type."""
    try:
        whole = parse(text.lstrip("\ufeff"))
    except ValueError:
        whole = {"type": "lines"}
    if not isinstance(whole, dict) or "type" in whole:
        yield from ((line, "", row) for line, row in json_lines(StringIO(text), file, skipped))
        return
    if not {"entities", "relations"} & whole.keys():
        raise file.wrong(1, f"expected entities and relations, got {kind_of(whole)}")
    for key, sort in (("entities", "entity"), ("relations", "relation")):
        rows = whole.get(key, [])
        if not isinstance(rows, list):
            raise file.wrong(1, f"{key}: expected a list, got {kind_of(rows)}")
        for place, row in enumerate(rows):
            if isinstance(row, dict):
                yield 1, f"{key}[{place}]", {**row, "type": sort}
            else:
                skipped(file.wrong(1, f"expected an object, got {kind_of(row)}", f"{key}[{place}]"))


def _entity(row: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The observations of an entity, and what is wrong with those that cannot be read."""
    if row.get("type") != "entity":
        raise ValueError(f"is neither entity nor relation, but {kind_of(row)}")
    name, sort = _text(row, "name"), row.get("entityType")
    if not isinstance(sort, str) or not sort.strip():
        sort = ""
    observations = row.get("observations") or []
    if isinstance(observations, str):
        observations = [observations]
    if not isinstance(observations, list):
        raise TypeError(f"observations: expected a list, got {kind_of(observations)}")
    said, problems = [], []
    for place, observation in enumerate(observations):
        try:
            said.append(_observation(observation))
        except TypeError as error:
            problems.append(f"observations[{place}]: {error}")
    about = {
        "context": f"{name} ({sort})" if sort else name,
        "metadata": {"entity": name, **({"entity_type": sort} if sort else {})},
    }
    if not observations:
        said = [f"{name}: {_text(row, 'entityType')}"]
    return [
        {"text": text if name.casefold() in text.casefold() else f"{name}: {text}", **about} for text in said
    ], problems


def _observation(value: object) -> str:
    # Some servers keep an object with the text and a time.
    text = value.get("content") if isinstance(value, dict) else value
    if not isinstance(text, str) or not text.strip():
        raise TypeError(f"expected a text, got {'a blank text' if isinstance(text, str) else kind_of(value)}")
    return text


def _relation(row: dict[str, Any]) -> list[dict[str, Any]]:
    subject, name, obj = _text(row, "from"), _text(row, "relationType"), _text(row, "to")
    relation = name.replace("_", " ")
    text = f"{subject} {relation} {obj}"
    return [
        {
            "text": text,
            "relation": relation,
            "subject": subject,
            "object": obj,
            "metadata": {"relation": name},
        }
    ]


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{key}: expected a text, got {kind_of(value)}")
    return value


LOCOMO_SOURCE = "locomo"

_SESSION = re.compile(r"session_([0-9]{1,9})")
_DATE = re.compile(r"(\d{1,2}):(\d{2})\s*([ap]m)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE)


def read_locomo(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The turns of every session, conversation by conversation; sessions in the order of their numbers."""
    report = report or ImportReport()
    for line, sample in json_rows(stream, file, report.skipped):
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            report.skipped(file.wrong(line, f"expected a sample with a conversation, got {kind_of(sample)}"))
            continue
        name, conversation = str(sample.get("sample_id") or "conversation"), sample["conversation"]
        found = sorted((int(match[1]), match[0]) for match in map(_SESSION.fullmatch, conversation) if match)
        for _, key in found:
            session = f"{name}/{key}"
            try:
                turns = list(_turns(conversation, key, name, line, file, report))
            except (ValueError, TypeError) as error:
                report.skipped(file.wrong(line, str(error), session))
                continue
            yield from turn_items(turns, file, report, session=session, source=LOCOMO_SOURCE)


def parse_session_date(text: str, place: str = "the date of a session") -> datetime:
    """``"1:56 pm on 8 May, 2023"`` as an aware datetime in UTC.

    ``InputError``: *text* is of another form or names no real moment; *place* says where it stands.
    """
    parts = _DATE.fullmatch(text.strip())
    if parts and parts[5].capitalize() in MONTHS:
        hour, minute, half, day, month, year = parts.groups()
        try:
            return datetime(
                int(year),
                MONTHS.index(month.capitalize()) + 1,
                int(day),
                _hour_of_day(int(hour), half.lower()),
                int(minute),
                tzinfo=UTC,
            )
        except ValueError:
            pass
    raise InputError("data", f"{place}: {text!r} must have the form '1:56 pm on 8 May, 2023'")


def _hour_of_day(hour: int, half: str) -> int:
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half == "pm" else 0)


def turn_text(turn: Mapping[str, Any]) -> str:
    """What was said, with the caption of the picture that was shown."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [image: {caption}]" if caption else str(turn["text"])


def _turns(
    conversation: Mapping[str, Any], key: str, sample: str, line: int, file: NamedFile, report: ImportReport
) -> Iterator[Turn]:
    # A date without turns also occurs in the original; only sessions with turns are read.
    field = f"{key}_date_time"
    date, when = conversation.get(field), None
    try:
        when = parse_session_date(str(date), field) if date else None
    except InputError as error:
        report.cleaned(file.wrong(line, f"{error.problem}; its turns have no time", f"{sample}/{key}"))
    turns = conversation[key]
    if not isinstance(turns, list):
        raise TypeError(f"expected a list of turns, got {kind_of(turns)}")
    for place, turn in enumerate(turns):
        if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
            problem = f"expected a turn with a text, got {kind_of(turn)}"
            report.skipped(file.wrong(line, problem, f"{sample}/{key}[{place}]"))
            continue
        text, speaker = turn_text(turn), turn.get("speaker")
        if text.strip():
            yield Turn(
                text,
                line,
                part=f"turn {turn.get('dia_id')} of {sample}",
                speaker=speaker if isinstance(speaker, str) else "",
                when=when,
                metadata={"dia_id": str(turn.get("dia_id") or ""), "sample_id": sample},
            )
