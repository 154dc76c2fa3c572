"""A caller's metadata as one canonical JSON text: keys sorted, no spaces, strict JSON only.

Equal metadata gives equal bytes, whatever the order in which it was built. What JSON cannot say exactly
(NaN, infinities, keys that are not strings, dates, bytes) is refused by name rather than bent.
Cost: one pass over the values; endless nesting or repetition is stopped by the depth and size limits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from simonides.errors import InputError
from simonides.records.hygiene import clean_text, shown

MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 32
# Whole numbers that every reader of JSON keeps exactly or as int64.
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

_TOO_LONG = (
    f"is longer than {MAX_METADATA_BYTES:,} bytes as JSON; keep bulky data elsewhere and store where it is"
)


def canonical_json(value: object, field: str) -> str:
    """Check metadata and write it as canonical JSON.

    Args:
        value: a mapping with string keys; its values are mappings, lists, tuples, strings, finite numbers,
            booleans and ``None``.
        field: the argument's name; a value inside is named ``field['key'][0]``.

    Returns:
        JSON text of at most ``MAX_METADATA_BYTES`` in UTF-8.

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
        place, f"is a {type(value).__name__}, which JSON cannot say; store it as a string or a number"
    )
