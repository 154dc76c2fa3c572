"""The part of JSON Schema (2020-12) that options and answers are described by, and the check of a value.

Supported: type, enum, anyOf, minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern, format (date,
date-time), items, minItems, maxItems, properties, required, additionalProperties, propertyNames,
maxProperties, and not, of an object that may not have a key: ``{"required": [KEY]}``. A schema with anything
else is a fault of this package, and a test finds it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.records.hygiene import (
    clean_choice,
    clean_switch,
    clean_text,
    named_entries,
    shown,
    shows_nothing,
    to_float,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

Schema = dict[str, Any]


class UnsaidBySchemaError(InputError):
    """A value that its schema allows: what is wrong with it no schema can say."""


class Bytes(int):
    """A length in bytes of UTF-8; a schema, which counts characters, gives it as that many of them."""


# Blanks and what is seen share no character, so every dialect reads these patterns in linear time.
_BLANK = r"\s\u001c-\u001f\u0085"
NOT_BLANK = rf"^[{_BLANK}]*[^{_BLANK}\u0000][^\u0000]*$"
"""Some character that is seen, and no NUL anywhere; what counts as blank in every dialect of patterns."""
NO_NUL = r"^[^\u0000]*$"
IN_PATH = rf"^[{_BLANK}]*[^{_BLANK}\u0000/][^\u0000/]*$"
"""The same for a part of a path, which a slash would end."""
_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_YEAR_OR_MONTH = rf"^{_YEAR}(-(0[1-9]|1[0-2]))?$"


def published(schema: Any) -> Any:
    """*schema* of plain numbers alone, for whoever looks at their types."""
    if isinstance(schema, dict):
        return {name: published(each) for name, each in schema.items()}
    if isinstance(schema, list):
        return [published(each) for each in schema]
    return int(schema) if isinstance(schema, Bytes) else schema


def text(*, longest: int, blank: bool = False) -> Schema:
    """A string of at most *longest* characters, not blank unless *blank*."""
    return {
        "type": "string",
        "maxLength": longest,
        **({} if blank else {"minLength": 1}),
        "pattern": NO_NUL if blank else NOT_BLANK,
    }


def choice(names: Iterable[str]) -> Schema:
    """One word of a closed vocabulary."""
    return {"type": "string", "enum": [str(name) for name in names]}


def whole(lowest: int, highest: int) -> Schema:
    """A whole number, both ends included."""
    return {"type": "integer", "minimum": lowest, "maximum": highest}


def listed(entry: Schema, *, most: int, least: int = 0) -> Schema:
    """A list of *least* to *most* entries."""
    return {"type": "array", "items": entry, "maxItems": most, **({"minItems": least} if least else {})}


def mapped(properties: dict[str, Schema], *, required: Iterable[str] = ()) -> Schema:
    """An object that has these keys and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def either(*schemas: Schema) -> Schema:
    """Any one of several."""
    return {"anyOf": list(schemas)}


def optional(schema: Schema) -> Schema:
    """The same, or ``null`` for "not given"."""
    return either(schema, _NULL)


_NULL: Schema = {"type": "null"}
SWITCH: Schema = {"type": "boolean"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TIME: Schema = {
    "anyOf": [
        {"type": "string", "pattern": _YEAR_OR_MONTH},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date-time"},
    ],
    "description": "2026, 2026-03, 2026-03-10 or 2026-03-10T10:00:00Z",
}


def may_be_empty(schema: Schema) -> bool:
    """Whether a schema of a parameter allows an empty list."""
    if schema.get("type") == "array":
        return not schema.get("minItems")
    return any(map(may_be_empty, schema.get("anyOf", ())))


def types_of(schema: Schema) -> set[str]:
    """The JSON types that a schema of a parameter allows."""
    named = {schema["type"]} if "type" in schema else {"string"} if "enum" in schema else set()
    return named.union(*(types_of(inner) for inner in schema.get("anyOf", ())))


_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)

_NO_TIME = "is not a valid date or time; write it like '2026', '2026-03', '2026-03-10' or '2026-03-10T10:00Z'"


def checked(value: object, schema: Schema, place: str) -> Any:
    """*value* in JSON's own types: lists for tuples and sets, whole numbers for those of other libraries.

    A whole number may be written as ``5.0``. Beside what JSON has, a time may be a ``date`` or ``datetime``.
    Beyond what a schema can say, a text must be UTF-8 of at most so many bytes, and show something.

    Raises:
        UnknownNameError: a key or a word that does not exist, with the nearest one that does.
        InputError: the value is not what the schema says; *place* is its field.
    """
    if "anyOf" in schema:
        return _any_of(value, schema["anyOf"], place)
    if "enum" in schema:
        return clean_choice(value, place, schema["enum"])
    return _TYPES[schema["type"]](value, schema, place) if "type" in schema else value


def _any_of(value: object, schemas: list[Schema], place: str) -> Any:
    if value is None and _NULL in schemas:
        return None
    if isinstance(value, date) and any(schema.get("format") == "date" for schema in schemas):
        return value
    objects = [schema for schema in schemas if schema.get("type") == "object"]
    if isinstance(value, Mapping) and len(objects) > 1:
        # The one whose keys are there is meant; its errors tell most.
        fits = (each for each in objects if all(name in value for name in each.get("required", ())))
        return checked(value, next(fits, objects[0]), place)
    problems: list[InputError] = []
    for schema in schemas:
        try:
            return checked(value, schema, place)
        except InputError as error:
            # Of the right type, so its error tells most.
            problems.append(error)
            if _is_type(value, schema.get("type")) and schema.get("type") in {"object", "array"}:
                raise
    telling = [p for p, s in zip(problems, schemas, strict=True) if _is_type(value, s.get("type"))]
    words = next((schema["enum"] for schema in schemas if "enum" in schema), ())
    if words and not telling and any(schema.get("type") == "array" for schema in schemas):
        raise InputError(place, f"expected one of {', '.join(words)}, or a list of them, got {shown(value)}")
    raise (telling or problems)[0]


def _is_type(value: object, name: str | None) -> bool:
    if name in {"integer", "number"}:
        return isinstance(value, Real) and not isinstance(value, bool)
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "boolean": bool,
        "null": type(None),
        "array": (list, tuple, set, frozenset),
        "object": Mapping,
    }
    return name in kinds and isinstance(value, kinds[name])


def _string(value: object, schema: Schema, place: str) -> str:
    if not isinstance(value, str):
        hint = "; decode it first" if isinstance(value, bytes | bytearray) else ""
        raise InputError(place, f"expected a string, got {shown(value)}{hint}")
    longest = schema.get("maxLength", math.inf)
    if len(value) > longest:
        raise InputError(
            place, f"is {len(value):,} characters long, at most {longest:,} are allowed; shorten it"
        )
    if len(value) < schema.get("minLength", 0):
        raise InputError(place, "is empty; leave it out or fill it")
    if "\0" in value:
        raise InputError(place, f"holds a NUL at character {value.find(chr(0))}; remove it")
    pattern = schema.get("pattern", NO_NUL)
    if pattern in {NOT_BLANK, IN_PATH} and shows_nothing(value):
        problem = InputError if value.isspace() else UnsaidBySchemaError
        raise problem(place, "is blank; leave it out or fill it")
    try:
        # A byte a character, none of them half of one: ASCII needs no other look.
        if not value.isascii():
            clean_text(value, place, longest if isinstance(longest, Bytes) else 4 * longest)
    except InputError as error:
        raise UnsaidBySchemaError(error.field, error.problem) from None
    if not _fits(value, pattern) or ("format" in schema and not _is_time(value, schema["format"])):
        raise InputError(place, f"{shown(value)} {_NO_TIME}")
    return value


def _fits(value: str, pattern: str) -> bool:
    """Whether a pattern is found in a text; what is asked of long texts was looked at already."""
    return pattern in {NO_NUL, NOT_BLANK} or re.search(pattern, value) is not None


def _is_time(value: str, name: str) -> bool:
    try:
        if name == "date":
            date.fromisoformat(value)
            return len(value) == 10
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return bool(_DATE_TIME.fullmatch(value))


def _number(value: object, schema: Schema, place: str) -> float:
    wanted = "a whole number" if schema["type"] == "integer" else "a number"
    lowest: Any = schema.get("minimum", schema.get("exclusiveMinimum", -math.inf))
    highest: Any = schema.get("maximum", math.inf)
    above = "exclusiveMinimum" in schema
    # The largest number that a column holds is no limit that anybody meets.
    most = "" if highest == _LARGEST else f"{', at most' if above else ' to'} {highest:,}"
    bounds = f"{'above' if above else 'from'} {lowest:,}{most}"
    problem = InputError(place, f"expected {wanted} {bounds}, got {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, Real):
        raise problem
    whole = schema["type"] == "integer"
    # A whole number of hundreds of digits is out of range, and not infinite.
    number = int(value) if whole and isinstance(value, Integral) else to_float(value)
    if not isinstance(number, int) and not math.isfinite(number):
        raise problem
    if whole and number != int(number):
        raise problem
    number = int(number) if whole else number
    if not lowest <= number <= highest or (above and number == lowest):
        raise problem
    return number


def _switch(value: object, _: Schema, place: str) -> bool:
    return clean_switch(value, place)


def _null(value: object, _: Schema, place: str) -> None:
    if value is not None:
        raise InputError(place, f"expected null, got {shown(value)}")


def _array(value: object, schema: Schema, place: str) -> list[Any]:
    if isinstance(value, str):
        raise InputError(place, f"expected a list, got a string; write [{shown(value)}]")
    entries = named_entries(value, place, expected="a list")
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(entries) <= most:
        raise InputError(place, f"holds {len(entries):,} entries; {least:,} to {most:,} are allowed")
    return [checked(entry, schema["items"], name) for name, entry in entries]


def _object(value: object, schema: Schema, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(place, f"expected an object, got {shown(value)}")
    properties = schema.get("properties", {})
    other = schema.get("additionalProperties", True)
    if len(value) > schema.get("maxProperties", math.inf):
        raise InputError(place, f"holds {len(value):,} keys, at most {schema['maxProperties']:,} are allowed")
    read: dict[str, Any] = {}
    for name, entry in value.items():
        if not isinstance(name, str):
            raise InputError(place, f"has a key that is no string, {shown(name)}")
        if name not in properties and other is False:
            raise UnknownNameError(f"{place}.{name}", name, properties)
        checked(name, schema.get("propertyNames", {}), place)
        inner = properties.get(name, other if isinstance(other, dict) else {})
        read[name] = checked(entry, inner, f"{place}.{name}")
    for name in schema.get("not", {}).get("required", ()):
        if name in value:
            raise InputError(f"{place}.{name}", "is not allowed here; leave it out")
    # Last, since a key that is misspelt is told with the nearest one.
    for name in schema.get("required", ()):
        if name not in value:
            raise InputError(f"{place}.{name}", "is missing")
    return read


_LARGEST = 2**63 - 1
_TYPES: Mapping[str, Any] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _switch,
    "null": _null,
    "array": _array,
    "object": _object,
}
