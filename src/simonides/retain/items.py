"""What a caller gives to ``retain``, checked and turned into drafts; metadata as canonical JSON.

Canonical: keys sorted, no spaces, strict JSON only, so equal metadata gives equal bytes. What JSON cannot say
exactly (NaN, infinities, keys that are not strings, dates, bytes) is refused by name. Cost: one pass over the
values; depth and size are limited.

Every problem is an ``InputError`` that names the field (``items[3].tags[0]``; of a single item just
``tags[0]``), raised before anything is stored. Nothing here looks at the store, the clock or a model.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.options import (
    MAX_CONTEXT_BYTES,
    MAX_METADATA_BYTES,
    MAX_PATH_BYTES,
    MAX_RELATION_BYTES,
    MAX_TEXT_BYTES,
)
from simonides.records.draft import Draft
from simonides.records.extraction import Relation
from simonides.records.hygiene import (
    MAX_PROJECT_BYTES,
    clean_choice,
    clean_labels,
    clean_text,
    shown,
    shows_nothing,
)
from simonides.records.interval import parse_time
from simonides.records.kind import TRUST, Kind, Layer
from simonides.records.source import Origin
from simonides.records.time_to_live import ON_EXPIRY, read_ttl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from simonides.records.interval import Interval

    _Reader = Callable[[object, str], object]


MAX_METADATA_DEPTH = 32
# Whole numbers that every reader of JSON keeps exactly or as int64.
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

_TOO_LONG = (
    f"is longer than {MAX_METADATA_BYTES:,} bytes as JSON; keep bulky data elsewhere and store where it is"
)


def canonical_json(value: object, field: str) -> str:
    """Check metadata and write it as canonical JSON of at most ``MAX_METADATA_BYTES`` in UTF-8.

    Args:
        value: a mapping with string keys; its values are mappings, lists, tuples, strings, finite numbers,
            booleans and ``None``.
        field: the argument's name; a value inside is named ``field['key'][0]``.

    Raises:
        InputError: the value is anything else, holds a NUL or lone surrogate, or is too long or too deep.
    """
    if not isinstance(value, Mapping):
        raise InputError(field, f"expected a mapping such as {{'page': 3}}, got {type(value).__name__}")
    plain = _Copier(field).copy(value, field, depth=0)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    if len(text.encode("utf-8")) > MAX_METADATA_BYTES:
        raise InputError(field, _TOO_LONG)
    return text


@dataclass(slots=True)
class _Copier:
    """Copies JSON values into plain dicts and lists, checking each."""

    field: str
    values: int = 0

    def copy(self, value: object, place: str, *, depth: int) -> object:
        # A value takes at least one byte of JSON: this bounds the work even for lists that share parts.
        self.values += 1
        if self.values > MAX_METADATA_BYTES:
            raise InputError(self.field, _TOO_LONG)
        if depth > MAX_METADATA_DEPTH:
            raise InputError(self.field, f"is nested more than {MAX_METADATA_DEPTH} levels deep; flatten it")
        if isinstance(value, Mapping):
            return {
                self.key(key, place): self.copy(inner, f"{place}[{shown(key)}]", depth=depth + 1)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.copy(inner, f"{place}[{n}]", depth=depth + 1) for n, inner in enumerate(value)]
        return _scalar(value, place)

    def key(self, key: object, place: str) -> str:
        if not isinstance(key, str):
            raise InputError(place, f"has a key of type {type(key).__name__}; keys must be strings")
        return clean_text(key, f"{place}[{shown(key)}] (the key)", MAX_METADATA_BYTES)


def _scalar(value: object, place: str) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value, place, MAX_METADATA_BYTES)
    if isinstance(value, int):
        if not _MIN_INTEGER <= value <= _MAX_INTEGER:
            raise InputError(place, "is a whole number beyond 64 bits; store it as a string")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(place, f"is {value!r}, which JSON cannot say; use None or a string")
        return float(value)
    raise InputError(
        place, f"has the type {type(value).__name__}, which JSON cannot say; store it as a string or a number"
    )


_MAX_KEY_CHARACTERS = 60

ROLES = tuple(TRUST)

ORIGIN = "_origin"
"""Key of an item's ``Origin``, set by ``documents`` and ``conversations``; no caller can write one."""

_KINDS = tuple(kind.value for kind in Kind)
_LAYERS = tuple(layer.value for layer in Layer)
# What a draft holds where neither the item nor the call states it; None is settled later, from the text.
_DEFAULTS: Mapping[str, object] = {
    "kind": None,
    "layer": None,
    "context": "",
    "relation": "",
    "path": "",
    "project": "",
    "tags": (),
    "acl": (),
    "source": "",
    "metadata": "{}",
    "event_time": None,
    "valid_from": None,
    "valid_to": None,
    "recorded_at": None,
    "salience": None,
    "confidence": None,
    "deduplicate": True,
    "document_id": "",
    "session": "",
    "speaker": "",
    "role": "",
    "expansion": "",
    "subject": "",
    "object": "",
    "single_valued": False,
    "ttl": None,
    "on_expiry": None,
}

ITEM_KEYS = frozenset(_DEFAULTS) | {"text"}
"""What a caller may say of an item."""


def read_items(
    items: object,
    shared: Mapping[str, object],
    *,
    zone: tzinfo = UTC,
    first: int = 0,
    places: Sequence[str] | None = None,
) -> list[Draft]:
    """Check what is to be retained.

    Args:
        items: one item, or an iterable of them in a definite order (so no set). An item is a string (the
            text) or a mapping with ``text`` and any key of *shared*.
        shared: used where an item does not state its own: kind, layer, tags, project, path, source, context,
            relation, event_time, valid_from, valid_to, recorded_at, metadata, acl, salience and confidence
            (0 to 1), deduplicate, document_id, session, speaker, role, expansion, ttl and on_expiry; and
            subject, object and single_valued, which make *relation* a statement. ``None`` means "not given",
            here and in an item.
        first: number of the first item of an iterable, for errors.
        places: name of each item of an iterable, for errors; by default ``items[0]`` and so on.

    Returns:
        One draft per item, in order. Tags and acl without repeats and sorted; a date is kept as the whole
        day, month or year; ``recorded_at`` is the first instant of what was given.

    Raises:
        UnknownNameError: a key, kind or layer that does not exist.
        InputError: anything else that is wrong, by field.
    """
    readers = _readers(zone)
    common = _read(shared, "", {key: reader for key, reader in readers.items() if key != "text"})
    if isinstance(items, str | Mapping):
        return [_draft(items, "", common, readers)]
    if isinstance(items, bytes | bytearray | memoryview):
        raise InputError("text", f"expected a string, got {type(items).__name__}; decode it first")
    if isinstance(items, set | frozenset):
        raise InputError("items", "a set has no order, so ids could not be matched to texts; give a list")
    if not isinstance(items, Iterable):
        raise InputError(
            "items", f"expected a string, a mapping or a list of them, got {type(items).__name__}"
        )
    if places is not None:
        return [_draft(item, place, common, readers) for item, place in zip(items, places, strict=True)]
    return [_draft(item, f"items[{number}]", common, readers) for number, item in enumerate(items, first)]


def _draft(item: object, place: str, common: Mapping[str, Any], readers: Mapping[str, _Reader]) -> Draft:
    if isinstance(item, str):
        item = {"text": item}
    elif not isinstance(item, Mapping):
        hint = "; decode it first" if isinstance(item, bytes | bytearray) else ""
        raise InputError(place, f"expected a string or a mapping, got {type(item).__name__}{hint}")
    origin = item.get(ORIGIN)
    if isinstance(origin, Origin) and origin.place:
        place = origin.place
    own = _read(item, place, readers)
    if "text" not in own:
        raise InputError(_name(place, "text"), "is missing; an item needs a text")
    values: dict[str, Any] = {**_DEFAULTS, **common, **own}
    _check_validity(values["valid_from"], values["valid_to"], _name(place, "valid_to"))
    return Draft(
        text=values["text"],
        kind=values["kind"],
        layer=values["layer"],
        context=values["context"],
        relation=values["relation"],
        path=values["path"],
        project=values["project"],
        tags=values["tags"],
        acl=values["acl"],
        source=values["source"],
        metadata_json=values["metadata"],
        occurred=values["event_time"],
        valid_from=values["valid_from"],
        valid_to=values["valid_to"],
        recorded_at=values["recorded_at"],
        salience=values["salience"],
        confidence=values["confidence"],
        deduplicate=values["deduplicate"],
        document=values["document_id"],
        session=values["session"],
        speaker=values["speaker"],
        role=values["role"],
        expansion=values["expansion"],
        statement=_statement(values, place),
        ttl=values["ttl"],
        on_expiry=values["on_expiry"],
        source_text=origin.text if isinstance(origin, Origin) else "",
        span=(origin.start, origin.stop) if isinstance(origin, Origin) else None,
        place=place,
    )


def _statement(values: Mapping[str, Any], place: str) -> Relation | None:
    """The relation that the caller declares, when it names its subject and object."""
    if not values["subject"] and not values["object"]:
        return None
    for key in ("relation", "subject", "object"):
        if not values[key].strip():
            raise InputError(_name(place, key), "is missing; a relation needs relation, subject and object")
    return Relation(values["relation"], values["subject"], values["object"], values["single_valued"])


def _readers(zone: tzinfo) -> dict[str, _Reader]:
    """Per key of an item, what checks its value: (value, field name) → what the draft keeps."""
    path = partial(clean_text, max_bytes=MAX_PATH_BYTES)
    label = partial(clean_text, max_bytes=MAX_RELATION_BYTES)
    time = partial(parse_time, zone=zone)
    return {
        "text": read_text,
        "kind": lambda value, field: Kind(clean_choice(value, field, _KINDS)),
        "layer": lambda value, field: Layer(clean_choice(value, field, _LAYERS)),
        "tags": clean_labels,
        "acl": clean_labels,
        "project": partial(clean_text, max_bytes=MAX_PROJECT_BYTES),
        "path": path,
        "source": path,
        "context": partial(clean_text, max_bytes=MAX_CONTEXT_BYTES),
        "relation": partial(clean_text, max_bytes=MAX_RELATION_BYTES),
        "metadata": canonical_json,
        "event_time": time,
        "valid_from": time,
        "valid_to": time,
        "recorded_at": lambda value, field: time(value, field).start,
        "salience": _share,
        "confidence": _share,
        "deduplicate": _switch,
        "document_id": partial(_reference, max_bytes=MAX_PATH_BYTES),
        "session": partial(_reference, max_bytes=MAX_RELATION_BYTES),
        "speaker": label,
        "role": lambda value, field: clean_choice(value, field, ROLES),
        "expansion": partial(clean_text, max_bytes=MAX_CONTEXT_BYTES),
        "subject": label,
        "object": label,
        "single_valued": _switch,
        "ttl": read_ttl,
        "on_expiry": lambda value, field: clean_choice(value, field, ON_EXPIRY),
    }


def _read(given: Mapping[Any, object], place: str, readers: Mapping[str, _Reader]) -> dict[str, object]:
    """The checked values of the keys that were given."""
    values: dict[str, object] = {}
    for key, value in given.items():
        if key == ORIGIN and isinstance(value, Origin):
            continue
        reader = readers.get(key) if isinstance(key, str) else None
        if reader is None:
            raise _unknown_key(key, place, readers)
        if value is not None:
            values[key] = reader(value, _name(place, key))
    return values


def _unknown_key(key: object, place: str, readers: Iterable[str]) -> InputError:
    if isinstance(key, str) and key.isidentifier() and len(key) <= _MAX_KEY_CHARACTERS:
        return UnknownNameError(_name(place, key), key, readers)
    # What could not be a name is no part of the field's name; the message shows it escaped and cut.
    problem = f"has an unknown key, {shown(key)}; valid keys: {', '.join(sorted(readers))}"
    return InputError(place or "items", problem)


def _name(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def read_text(value: object, field: str) -> str:
    """Check the text of an item; ``InputError`` when no string, blank, or longer than ``MAX_TEXT_BYTES``."""
    text = clean_text(
        value,
        field,
        MAX_TEXT_BYTES,
        remedy="split it into several items, or import it as a file, which is split for you",
    )
    if shows_nothing(text):
        raise InputError(field, "is blank; there is nothing to remember")
    return text


def _reference(value: object, field: str, max_bytes: int) -> str:
    """The caller's name for a document or a conversation; empty = none."""
    name = clean_text(value, field, max_bytes)
    if name and shows_nothing(name):
        raise InputError(field, "is blank; leave it out or name it")
    return name


def _share(value: object, field: str) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with contextlib.suppress(OverflowError):
            share = float(value)
            if 0.0 <= share <= 1.0:
                return share
    raise InputError(field, f"expected a number from 0 to 1, got {shown(value)}")


def _switch(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(field, f"expected True or False, got {shown(value)}")
    return value


def _check_validity(valid_from: Interval | None, valid_to: Interval | None, field: str) -> None:
    if valid_from is not None and valid_to is not None and valid_from.start >= valid_to.start:
        raise InputError(field, "is not later than valid_from; a memory must be valid for some time")
