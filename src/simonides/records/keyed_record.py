"""A value that is stored under a key, and how a memory keeps it.

The memory's metadata hold the key (a path) and the value, so that the value comes back as it was given; its
words are the memory's text. A value that is long as JSON is the raw source of the memory instead. The memory
has a tag for each beginning of the path, so that one filter finds all records below a path. A tag is a hash,
because a path may be longer than a label.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.records.json_ready import JsonReady
from simonides.records.time_to_live import read_ttl

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from simonides.records.memory import Memory
    from simonides.records.source import Source

IN_SOURCE = "in_source"
"""Key of a record's metadata that stands there where the value is the raw source."""

_WRAPPED = {"value", "created"}
"""Keys of a value that version 0.1 stored for LangGraph."""


@dataclass(frozen=True, slots=True)
class KeyedRecord(JsonReady):
    """One value.

    Attributes:
        id: of the memory that holds it; a value that is put later has another id.
        path: its key.
        value: JSON-ready, as it was put.
        created_at: when the first value was put under this key.
        updated_at: when this value was put.
        score: of a search, ``Hit.judged``; ``None`` where it was read by its key.
        ttl: seconds that it lives from when it was put, or last refreshed; ``None`` = it has no end.
    """

    id: str
    path: tuple[str, ...]
    value: Any
    created_at: datetime
    updated_at: datetime
    score: float | None = None
    ttl: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description without the score; times in ISO 8601 UTC."""
        return {name: value for name, value in JsonReady.to_dict(self).items() if name != "score"}

    @classmethod
    def from_dict(cls, answer: Mapping[str, Any]) -> KeyedRecord:
        """The record that ``to_dict`` describes."""
        return cls(
            str(answer["id"]),
            tuple(answer["path"]),
            answer["value"],
            datetime.fromisoformat(answer["created_at"]),
            datetime.fromisoformat(answer["updated_at"]),
            ttl=answer["ttl"],
        )


def tag_of(space: str, path: Sequence[str]) -> str:
    """The tag of every memory that holds a record of *space* at or below *path*."""
    digest = hashlib.blake2b(json.dumps(list(path)).encode(), digest_size=16).hexdigest()
    return f"{space}:{digest}"


def spaces_of(metadata: Mapping[str, Any], tags: Collection[str]) -> list[str]:
    """The spaces under a key of which a memory holds a value; of an ordinary memory none."""
    return [
        space
        for space, kept in metadata.items()
        if isinstance(kept, dict) and isinstance(kept.get("path"), list) and tag_of(space, ()) in tags
    ]


def path_in(memory: Memory, space: str) -> object:
    """The key of *space* in a memory's metadata, as it stands there; ``None`` = none."""
    kept = memory.metadata.get(space)
    return kept.get("path") if isinstance(kept, dict) else None


def value_is_in_source(memory: Memory, space: str) -> bool:
    """Whether ``record_of`` needs the raw source of a memory."""
    kept = memory.metadata.get(space)
    return isinstance(kept, dict) and IN_SOURCE in kept


def record_of(
    memory: Memory, space: str, source: Source | None = None, score: float | None = None
) -> KeyedRecord | None:
    """The record of *space* that a memory holds; ``None`` where its metadata hold none.

    Whoever may retain can write metadata that look like a record's, and must not hide those of others by it.
    *source* is needed where ``value_is_in_source``.
    """
    kept, put_at = memory.metadata.get(space), memory.ingested_at
    if not isinstance(kept, dict) or put_at is None:
        return None
    path = kept.get("path")
    if not isinstance(path, list) or not all(isinstance(part, str) for part in path):
        return None
    try:
        # A value that is its own words stands in the memory's text alone.
        value = kept.get("value", memory.text) if source is None else json.loads(source.text)
        created = kept.get("created")
        if created is None and space == "langgraph" and isinstance(value, dict) and {*value} == _WRAPPED:
            value, created = value["value"], value["created"]
        created_at = put_at if created is None else datetime.fromisoformat(created)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    if created_at.tzinfo is None:
        return None
    return KeyedRecord(memory.id, tuple(path), value, created_at, put_at, score, _ttl(kept.get("ttl")))


def _ttl(seconds: object) -> float | None:
    try:
        read_ttl(seconds)
    except InputError:
        return None
    return float(seconds) if isinstance(seconds, int | float) else None
