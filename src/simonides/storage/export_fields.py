"""What each record of an export must hold, field by field.

An export may come from anywhere. A value that passes here is one that the bank could have written itself, so
that nothing which reads the rows later meets a surprise.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from functools import partial
from typing import TYPE_CHECKING, Any

from simonides.index.graph import LINK_KINDS
from simonides.index.postings import FIELDS
from simonides.index.sparse_postings import unpack_terms
from simonides.records.hygiene import clean_labels, shown
from simonides.records.interval import (
    BEGINNING,
    CLOCK_SKEW,
    FIRST_INSTANT,
    FOREVER,
    LAST_INSTANT,
    Precision,
    later_than_clock,
)
from simonides.records.kind import ALL_STATES, Kind, Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Read = Callable[[Any], Any]

_ID = re.compile(r"[0-9a-f]{16}")
_LARGEST = 2**31 - 1
_WIDEST = 65_536


def read_fields(record: object, fields: Mapping[str, Read]) -> dict[str, Any]:
    """The values of a record, checked and as the bank keeps them.

    ``ValueError``, ``TypeError``: a value cannot be, or a field is missing or not known.
    """
    if not isinstance(record, dict):
        raise TypeError(f"holds {shown(record)} where an object belongs")
    given = record.keys() - {"record"}
    if given != fields.keys():
        names = ", ".join(sorted(map(repr, given ^ fields.keys())))
        raise ValueError(f"does not have the fields that it should; missing or too many: {names}")
    values = {}
    for name, read in fields.items():
        try:
            values[name] = read(record[name])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from None
    return values


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{shown(value)} is no text")
    return value


def _whole(low: int, high: int = _LARGEST) -> Read:
    def read(value: object) -> int:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{shown(value)} is no whole number from {low} to {high}")
        return value

    return read


def _number(low: float, high: float) -> Read:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"{shown(value)} is no number from {low} to {high}")
        return float(value)

    return read


def _one_of(names: Iterable[str]) -> Read:
    known = frozenset(names)

    def read(value: object) -> str:
        if value not in known:
            raise ValueError(f"{shown(value)} is none of {', '.join(sorted(known))}")
        return str(value)

    return read


def _or_none(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _time(value: object) -> int:
    """A moment, or an open end."""
    return value if value in {BEGINNING, FOREVER} and type(value) is int else _moment(value)


def _moment(value: object) -> int:
    if type(value) is not int or not FIRST_INSTANT <= value <= LAST_INSTANT:
        raise ValueError(_no_time(value))
    return value


def _no_time(value: object) -> str:
    return f"{shown(value)} is no time in microseconds within the years 1 to 9999"


def _moment_or_never(value: object) -> int:
    return FOREVER if value == FOREVER and type(value) is int else _moment(value)


def check_recorded_times(record: Mapping[str, Any], now: int) -> None:
    """Raise ``ValueError`` for a record of an export with a recorded time after *now*; it names the field."""
    named = [(name, record.get(name)) for name in RECORDED_TIMES]
    for each, name in (("accesses", "at"), ("moves", "made_at"), ("moves", "undone_at")):
        hanging = record.get(each)
        for number, entry in enumerate(hanging if isinstance(hanging, list) else ()):
            if isinstance(entry, dict):
                named.append((f"{each}[{number}].{name}", entry.get(name)))
    for name, value in named:
        if (
            type(value) is int
            and now + CLOCK_SKEW < value
            and not (value == FOREVER and name.endswith(_MAY_BE_OPEN))
        ):
            problem = later_than_clock(value, now) if value <= LAST_INSTANT else _no_time(value)
            raise ValueError(f"{name}: {problem}")


RECORDED_TIMES = (
    "recorded_at", "added_at", "merged_at", "undone_at", "ingested_at", "expired_at", "last_access",
    "known_from", "known_to", "made_at", "at",
)  # fmt: skip
"""Fields of an export that say when something was recorded."""

_MAY_BE_OPEN = ("undone_at", "expired_at", "known_to")


def _id(value: object) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError(f"{shown(value)} is no id")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise TypeError("is no list of texts")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("is no list")
    return value


def _places(value: object) -> list[int]:
    if not isinstance(value, list) or not all(type(entry) is int for entry in value):
        raise TypeError("is no list of numbers")
    return value


def _bytes(size: int | None = None, unit: int = 1) -> Read:
    def read(value: object) -> bytes:
        raw = b64decode(_text(value), validate=True)
        if (size is not None and len(raw) != size) or len(raw) % unit:
            raise ValueError(f"has {len(raw)} bytes")
        return raw

    return read


def _sparse(value: object) -> bytes:
    packed = b64decode(_text(value), validate=True)
    unpack_terms(packed)
    return packed


def _object(value: object) -> str:
    if not isinstance(value, dict):
        raise TypeError("is no object")
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _terms(value: object) -> bytes:
    if not isinstance(value, dict) or not value.keys() <= set(FIELDS):
        raise ValueError("names no fields of a memory")
    for counts in value.values():
        if not isinstance(counts, dict) or not all(type(n) is int and n > 0 for n in counts.values()):
            raise ValueError("counts no terms")
        if sum(counts.values()) > _LARGEST:
            raise ValueError("counts more terms than a text has")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_LABELS = partial(clean_labels, field="labels")

_PRECISION = _one_of(Precision)
_SHARE = _number(0.0, 1.0)
_PLACE = _whole(1)

EMBEDDER: Mapping[str, Read] = {"fingerprint": _text, "name": _text, "dimension": _whole(1, _WIDEST)}
ENTITY: Mapping[str, Read] = {
    "number": _PLACE,
    "name": _text,
    "folded": _text,
    "kind": _text,
    "qualifier": _text,
    "readers": _LABELS,
}
ALIAS: Mapping[str, Read] = {"entity": _PLACE, "folded": _text, "name": _text, "added_at": _moment}
MERGE: Mapping[str, Read] = {
    "entity": _PLACE,
    "into": _PLACE,
    "merged_at": _moment,
    "undone_at": _moment_or_never,
}
EPISODE: Mapping[str, Read] = {
    "number": _PLACE,
    "text": _text,
    "source": _text,
    "document": _text,
    "session": _text,
    "speaker": _text,
    "author": _text,
    "trust": _SHARE,
    "recorded_at": _moment,
}
CHUNK: Mapping[str, Read] = {
    "number": _PLACE,
    "episode": _PLACE,
    "start": _whole(0),
    "stop": _whole(0),
}
SPARSE_ENCODER: Mapping[str, Read] = {"fingerprint": _text, "name": _text}
VECTOR: Mapping[str, Read] = {"embedder": _whole(0), "scale": _number(0.0, 3.4e38), "codes": _bytes()}
TOKENS: Mapping[str, Read] = {"embedder": _whole(0), "codes": _bytes()}
RELATION: Mapping[str, Read] = {
    "name": _text,
    "subject": _PLACE,
    "object": _text,
    "single_valued": _whole(0, 1),
}
JOB: Mapping[str, Read] = {"task": _text, "tries": _whole(0), "not_before": _moment, "problem": _text}
ACCESS: Mapping[str, Read] = {"at": _moment, "principal": _text}
ENRICHMENT: Mapping[str, Read] = {"base": _whole(1), "model": _text}
MOVE: Mapping[str, Read] = {
    "action": _one_of(("promote", "archive", "return", "stale", "close", "continue")),
    "was": _text,
    "became": _text,
    "reason": _text,
    "made_at": _moment,
    "undone_at": _moment_or_never,
}
EVIDENCE: Mapping[str, Read] = {
    "observation": _id,
    "source": _id,
    "stance": _one_of(("for", "against")),
    "known_from": _moment,
    "known_to": _moment_or_never,
}
LINK_FIELDS: Mapping[str, Read] = {
    "source": _id,
    "target": _id,
    "kind": _one_of(LINK_KINDS),
    "weight": _number(-1.0, 1e6),
    "embedder": _or_none(_whole(0)),
}
LINK_VERSIONS: Mapping[str, Read] = {"source_version": _whole(1), "target_version": _whole(1)}
"""Of a link that joins a memory in other words than its first: the first version in them."""

KEY: Mapping[str, Read] = {"key": _text, "body": _bytes(), "ids": _texts}
MEMORY: Mapping[str, Read] = {
    "id": _id,
    "version": _whole(1),
    "chunk": _PLACE,
    "kind": _one_of(Kind),
    "layer": _one_of(Layer),
    "text": _text,
    "context": _text,
    "relation": _text,
    "expansion": _text,
    "path": _text,
    "project": _text,
    "tags": _LABELS,
    "acl": _LABELS,
    "valid_from": _time,
    "valid_from_precision": _PRECISION,
    "valid_to": _time,
    "valid_to_precision": _PRECISION,
    "ingested_at": _moment,
    "expired_at": _moment_or_never,
    "occurred_from": _or_none(_time),
    "occurred_to": _or_none(_time),
    "occurred_precision": _or_none(_PRECISION),
    "salience": _SHARE,
    "confidence": _SHARE,
    "proof_count": _whole(0),
    "access_count": _whole(0),
    "last_access": _or_none(_moment),
    "source": _text,
    "metadata": _object,
    "superseded_by": lambda value: "" if value == "" else _id(value),
    "state": _whole(0, ALL_STATES),
    "signature": _bytes(unit=4),
    "terms": _terms,
    "content_key": _bytes(size=16),
    "vectors": _list,
    "tokens": _list,
    "mentions": _places,
    "sparse": _sparse,
    "relations": _list,
    "jobs": _list,
    "enrichments": _list,
    "accesses": _list,
    "moves": _list,
}
