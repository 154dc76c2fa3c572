"""The part of JSON Schema (2020-12) that options and answers are described by, and the check of a value.

Supported: type, enum, anyOf, minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern, format (date,
date-time), items, minItems, maxItems, properties, required, additionalProperties, propertyNames,
maxProperties. A schema with anything else is a fault of this package, and a test finds it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.records.hygiene import clean_switch, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

Schema = dict[str, Any]

# Blanks and what is seen share no character, so every dialect reads these patterns in linear time.
_BLANK = r"\s\u001c-\u001f\u0085"
NOT_BLANK = rf"^[{_BLANK}]*[^{_BLANK}\u0000][^\u0000]*$"
"""Some character that is seen, and no NUL anywhere; what counts as blank in every dialect of patterns."""
NO_NUL = r"^[^\u0000]*$"
IN_PATH = rf"^[{_BLANK}]*[^{_BLANK}\u0000/][^\u0000/]*$"
"""The same for a part of a path, which a slash would end."""
_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_YEAR_OR_MONTH = rf"^{_YEAR}(-(0[1-9]|1[0-2]))?$"


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
    return either(schema, {"type": "null"})


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
    """*value*, a whole number that was written as ``5.0`` as ``5``.

    Raises:
        UnknownNameError: a key or a word that does not exist, with the nearest one that does.
        InputError: the value is not what the schema says; *place* is its field.
    """
    if "anyOf" in schema:
        return _any_of(value, schema["anyOf"], place)
    if "enum" in schema:
        if not isinstance(value, str):
            raise InputError(place, f"expected one of {', '.join(schema['enum'])}, got {shown(value)}")
        if value not in schema["enum"]:
            raise UnknownNameError(place, value, schema["enum"])
        return value
    return _TYPES[schema["type"]](value, schema, place) if "type" in schema else value


def _any_of(value: object, schemas: list[Schema], place: str) -> Any:
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
    raise (telling or problems)[0]


def _is_type(value: object, name: str | None) -> bool:
    if name in {"integer", "number"}:
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "boolean": bool,
        "null": type(None),
        "array": (list, tuple),
        "object": Mapping,
    }
    return name in kinds and isinstance(value, kinds[name])


def _string(value: object, schema: Schema, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, f"expected a string, got {shown(value)}")
    if len(value) > schema.get("maxLength", math.inf):
        longest = schema["maxLength"]
        raise InputError(
            place, f"is {len(value):,} characters long, at most {longest:,} are allowed; shorten it"
        )
    if len(value) < schema.get("minLength", 0):
        raise InputError(place, "is empty; leave it out or fill it")
    if "pattern" in schema and not _fits(value, schema["pattern"]):
        if "\0" in value:
            raise InputError(place, f"holds a NUL at character {value.find(chr(0))}; remove it")
        if not value.strip():
            raise InputError(place, "is blank; leave it out or fill it")
        raise InputError(place, f"{shown(value)} {_NO_TIME}")
    if "format" in schema and not _is_time(value, schema["format"]):
        raise InputError(place, f"{shown(value)} {_NO_TIME}")
    return value


def _fits(value: str, pattern: str) -> bool:
    """Whether a pattern is found in a text; what schemas ask of long texts without the cost of a pattern."""
    if pattern in {NO_NUL, NOT_BLANK}:
        return "\0" not in value and (pattern == NO_NUL or (bool(value) and not value.isspace()))
    return re.search(pattern, value) is not None


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
    bounds = f"{' above' if 'exclusiveMinimum' in schema else ' from'} {lowest:,} to {highest:,}"
    problem = InputError(place, f"expected {wanted}{bounds}, got {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem
    # Asked of floats alone, since a whole number can be too large for the question.
    if isinstance(value, float) and not math.isfinite(value):
        raise problem
    if schema["type"] == "integer":
        if value != int(value):
            raise problem
        value = int(value)
    if not lowest <= value <= highest or value == schema.get("exclusiveMinimum"):
        raise problem
    return value


def _switch(value: object, _: Schema, place: str) -> bool:
    return clean_switch(value, place)


def _null(value: object, _: Schema, place: str) -> None:
    if value is not None:
        raise InputError(place, f"expected null, got {shown(value)}")


def _array(value: object, schema: Schema, place: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(place, f"expected a list, got {shown(value)}")
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        raise InputError(place, f"holds {len(value):,} entries; {least:,} to {most:,} are allowed")
    return [checked(entry, schema["items"], f"{place}[{at}]") for at, entry in enumerate(value)]


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
    # Last, since a key that is misspelt is told with the nearest one.
    for name in schema.get("required", ()):
        if name not in value:
            raise InputError(f"{place}.{name}", "is missing")
    return read


_TYPES: Mapping[str, Any] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _switch,
    "null": _null,
    "array": _array,
    "object": _object,
}
