"""What a caller gives to ``retain``, checked and turned into drafts; metadata as canonical JSON.

Canonical: keys sorted, no spaces, strict JSON only, so equal metadata gives equal bytes. What JSON cannot say
exactly (NaN, infinities, keys that are not strings, dates, bytes) is refused by name. Cost: one pass over the
values; depth and size are limited.

Every problem is an ``InputError`` that names the field (``items[3].tags[0]``; of a single item just
``tags[0]``), raised before anything is stored. Nothing here looks at the store, the clock or a model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.json_schema import checked, choice
from simonides.options import DESCRIPTION, MAX_METADATA_BYTES, MAX_TEXT_BYTES
from simonides.records.draft import Draft
from simonides.records.extraction import Relation
from simonides.records.hygiene import clean_text, shown, shows_nothing
from simonides.records.interval import parse_time
from simonides.records.kind import TRUST, Kind, Layer
from simonides.records.source import Origin
from simonides.records.time_to_live import read_ttl

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import tzinfo


MAX_METADATA_DEPTH = 32
# Whole numbers that every reader of JSON keeps exactly or as int64.
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

_TOO_LONG = (
    f"is longer than {MAX_METADATA_BYTES:,} bytes as JSON; keep bulky data elsewhere and store where it is"
)


def canonical_json(value: object, field: str) -> str:
    """Check metadata and write it as canonical JSON of at most ``MAX_METADATA_BYTES`` in UTF-8.

    *value* is a mapping with string keys; its values are mappings, lists, tuples, strings, finite numbers,
    booleans and ``None``. A value inside is named ``field['key'][0]``.

    Raises:
        InputError: it is anything else, holds a NUL or lone surrogate, or is too long or too deep.
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

ORIGIN = "_origin"
"""Key of an item's ``Origin``, set by ``documents`` and ``conversations``; no caller can write one."""

# A caller's own words have an empty role, which needs no name in a request.
_SCHEMAS = {each.name: each.values for each in DESCRIPTION} | {"role": choice(TRUST)}
_TIMES = frozenset({"event_time", "valid_from", "valid_to", "recorded_at"})
_RENAMED = {"metadata": "metadata_json", "event_time": "occurred", "document_id": "document"}

ITEM_KEYS = frozenset(_SCHEMAS) | {"text"}
"""What a caller may say of an item."""


def read_items(
    items: object,
    shared: Mapping[str, object],
    *,
    zone: tzinfo = UTC,
    first: int = 0,
    places: Sequence[str] | None = None,
    trusted: bool = False,
) -> list[Draft]:
    """Check what is to be retained.

    Args:
        items: one item, or an iterable of them in a definite order (so no set). An item is a string (the
            text) or a mapping with ``text`` and any key of *shared*.
        shared: used where an item does not state its own: any option of ``options.DESCRIPTION``. ``None``
            means "not given", here and in an item.
        first: number of the first item of an iterable, for errors.
        places: name of each item of an iterable, for errors; by default ``items[0]`` and so on.
        trusted: whether an interface has checked *items* and *shared* against their schemas. An item with
            an ``Origin`` was made from what it checked, and is checked here.

    Returns:
        One draft per item, in order. Tags and acl without repeats and sorted; a date is kept as the whole
        day, month or year; ``recorded_at`` is the first instant of what was given.

    Raises:
        UnknownNameError: a key, kind or layer that does not exist.
        InputError: anything else that is wrong, by field.
    """
    common = _read(shared, "", zone, frozenset(_SCHEMAS), trusted=trusted)

    def draft(item: object, place: str) -> Draft:
        return _draft(item, place, common, zone, trusted=trusted)

    if isinstance(items, str | Mapping):
        return [draft(items, "")]
    if isinstance(items, bytes | bytearray | memoryview):
        raise InputError("text", f"expected a string, got {type(items).__name__}; decode it first")
    if isinstance(items, set | frozenset):
        raise InputError("items", "a set has no order, so ids could not be matched to texts; give a list")
    if not isinstance(items, Iterable):
        raise InputError(
            "items", f"expected a string, a mapping or a list of them, got {type(items).__name__}"
        )
    if places is not None:
        return [draft(item, place) for item, place in zip(items, places, strict=True)]
    return [draft(item, f"items[{number}]") for number, item in enumerate(items, first)]


def _draft(item: object, place: str, common: Mapping[str, Any], zone: tzinfo, *, trusted: bool) -> Draft:
    if isinstance(item, str):
        item = {"text": item}
    elif not isinstance(item, Mapping):
        hint = "; decode it first" if isinstance(item, bytes | bytearray) else ""
        raise InputError(place, f"expected a string or a mapping, got {type(item).__name__}{hint}")
    origin = item.get(ORIGIN)
    if not isinstance(origin, Origin):
        origin = None
    elif origin.place:
        place = origin.place
    own = _read(item, place, zone, ITEM_KEYS, trusted=trusted and origin is None)
    if "text" not in own:
        raise InputError(field_of(place, "text"), "is missing; an item needs a text")
    values = {**common, **own}
    start, end = values.get("valid_from"), values.get("valid_to")
    if start and end and start.start >= end.start:
        problem = "is not later than valid_from; a memory must be valid for some time"
        raise InputError(field_of(place, "valid_to"), problem)
    values["statement"] = _statement(values, place)
    if origin is not None:
        values |= {"source_text": origin.text, "span": (origin.start, origin.stop)}
    return Draft(**{_RENAMED.get(key, key): value for key, value in values.items()}, place=place)


def _statement(values: dict[str, Any], place: str) -> Relation | None:
    """The relation that the caller declares, when it names its subject and object; takes both out."""
    subject, other = values.pop("subject", ""), values.pop("object", "")
    single = values.pop("single_valued", False)
    if not subject and not other:
        return None
    stated = {"relation": values.get("relation", ""), "subject": subject, "object": other}
    for key, value in stated.items():
        if not value.strip():
            raise InputError(
                field_of(place, key), "is missing; a relation needs relation, subject and object"
            )
    return Relation(stated["relation"], subject, other, single)


def _read(
    given: Mapping[Any, Any], place: str, zone: tzinfo, keys: Collection[str], *, trusted: bool
) -> dict[str, Any]:
    """The values of the keys that were given, as a draft keeps them; checked unless they are *trusted*."""
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key == ORIGIN and isinstance(value, Origin):
            continue
        if not isinstance(key, str) or key not in keys:
            raise _unknown_key(key, place, keys)
        if value is None:
            continue
        field = field_of(place, key)
        if key in _TIMES:
            time = parse_time(value, field, zone=zone)
            values[key] = time.start if key == "recorded_at" else time
            continue
        if not trusted and key not in {"text", "metadata", "ttl"}:
            value = checked(value, _SCHEMAS[key], field)  # noqa: PLW2901 as its schema writes it
        if not trusted or key != "text":
            value = _KEPT[key](value, field) if key in _KEPT else value  # noqa: PLW2901
        values[key] = value
    return values


def _unknown_key(key: object, place: str, keys: Iterable[str]) -> InputError:
    if isinstance(key, str) and key.isidentifier() and len(key) <= _MAX_KEY_CHARACTERS:
        return UnknownNameError(field_of(place, key), key, keys)
    # What could not be a name is no part of the field's name; the message shows it escaped and cut.
    problem = f"has an unknown key, {shown(key)}; valid keys: {', '.join(sorted(keys))}"
    return InputError(place or "items", problem)


def field_of(place: str, key: str) -> str:
    """The name of a field of an item at *place*; empty = a single item."""
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


def _reference(name: str, field: str) -> str:
    """The caller's name for a document or a conversation; empty = none."""
    if name and shows_nothing(name):
        raise InputError(field, "is blank; leave it out or name it")
    return name


# What becomes of a value beside, or in place of, the check by its schema: (value, field name) → as kept.
_KEPT: Mapping[str, Callable[[Any, str], Any]] = {
    "text": read_text,
    "kind": lambda value, _: Kind(value),
    "layer": lambda value, _: Layer(value),
    "tags": lambda value, _: tuple(sorted(set(value))),
    "acl": lambda value, _: tuple(sorted(set(value))),
    "metadata": canonical_json,
    "ttl": read_ttl,
    "document_id": _reference,
    "session": _reference,
}
