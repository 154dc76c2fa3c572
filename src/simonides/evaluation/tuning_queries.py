"""Judged queries: lines of JSON with a question and the memories that answer it.

    {"query": "who repaired the pump?", "relevant": ["<id>", "<id>"]}
    {"query": "what did we know in May?", "relevant": ["<id>"], "as_of": "2026-05-01"}
    {"query": "who repaired the pump?", "recall_id": "<Recall.id>"}

The last form takes what ``Bank.used`` was told about that recall: the bank keeps the judgements, the
application the words. Beside these keys a line may hold the arguments of a recall in ``ARGUMENTS``. Blank
lines are passed over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.options import FILTERS
from simonides.recall.options import nearest
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ARGUMENTS = (
    *(each.name for each in FILTERS),
    "entity_hints",
    "mode",
    "question_date",
    "syntax",
    "aliases",
)
"""Arguments of ``Bank.recall`` that a line may hold: what is asked, not how much comes back."""

_KEYS = ("query", "relevant", "recall_id", *ARGUMENTS)


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One question with what answers it.

    Attributes:
        line: where it stands, from 1.
        query: words.
        relevant: ids of memories, at least one.
        arguments: of the recall, beside the words.
        from_feedback: whether *relevant* is what was used.
    """

    line: int
    query: str
    relevant: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    from_feedback: bool = False


def read_judged_queries(
    lines: Iterable[str], used: Mapping[str, tuple[str, ...]], *, place: str = "judged"
) -> tuple[JudgedQuery, ...]:
    """Read judged queries.

    Args:
        lines: of a file.
        used: by recall id, what was of use; as ``Bank.used_by_recall`` gives it.
        place: what the lines are called in messages.

    Raises:
        InputError: a line is malformed, judges nothing, repeats an id or a question; names the line.
    """
    found: list[JudgedQuery] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{place}, line {number}"
        read = _read(_parsed(line, where), number, used, where)
        asked = json.dumps([" ".join(read.query.split()), read.arguments], sort_keys=True)
        if asked in seen:
            raise InputError(
                where,
                f"asks what line {seen[asked]} asks; join their ids in one line, so that it counts once",
            )
        seen[asked] = number
        found.append(read)
    return tuple(found)


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
        raise InputError(where, f"is not JSON ({problem}); write one object a line") from None
    if not isinstance(value, dict):
        raise InputError(
            where, f'expected an object such as {{"query": …, "relevant": […]}}, got {shown(value)}'
        )
    for key in value:
        if key not in _KEYS:
            raise InputError(
                where, f"has the key {shown(key)}, which means nothing here; {nearest(key, _KEYS)}"
            )
    return value


def _read(
    value: Mapping[str, Any], number: int, used: Mapping[str, tuple[str, ...]], where: str
) -> JudgedQuery:
    query = value.get("query")
    if not isinstance(query, str) or not query.strip():
        raise InputError(where, f"query: expected the words of a question, got {shown(query)}")
    if ("relevant" in value) == ("recall_id" in value):
        raise InputError(where, "needs either relevant (ids) or recall_id (of a recall with something used)")
    feedback = "recall_id" in value
    relevant = _used(value["recall_id"], used, where) if feedback else _relevant(value["relevant"], where)
    arguments = {name: value[name] for name in ARGUMENTS if value.get(name) is not None}
    return JudgedQuery(number, query, relevant, arguments, feedback)


def _relevant(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise InputError(where, f"relevant: expected an array of ids, got {shown(value)}")
    if not value:
        raise InputError(
            where, "relevant: is empty, so no answer could be right; name at least one id, or drop the line"
        )
    for place, each in enumerate(value):
        if each in value[:place]:
            raise InputError(where, f"relevant: names {shown(each)} twice; name it once")
    return tuple(value)


def _used(recall: object, used: Mapping[str, tuple[str, ...]], where: str) -> tuple[str, ...]:
    found = used.get(recall) if isinstance(recall, str) else None
    if not found:
        raise InputError(
            where,
            f"recall_id: nothing is known to be used of {shown(recall)}; say so with "
            "Bank.used(ids, recall_id=…), or drop the line",
        )
    return found
