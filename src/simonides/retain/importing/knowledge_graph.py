"""The memory of the MCP reference server: entities with observations, and relations between them.

Either one object a line (``{"type": "entity", "name", "entityType", "observations"}`` and ``{"type":
"relation", "from", "to", "relationType"}``), or one JSON object ``{"entities": […], "relations": […]}``. An
observation becomes a memory that says whom it is about; an entity without one is kept by its type; a
relation becomes a statement.
"""

from __future__ import annotations

from io import StringIO
from typing import IO, TYPE_CHECKING, Any

from simonides.retain.importing.item import ImportedItem, ImportReport
from simonides.retain.importing.json_source import json_lines, kind_of, parse, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile, Skipped

SOURCE = "knowledge-graph"


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
            yield ImportedItem({**item, "source": SOURCE, "role": "import"}, line, part)


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
