"""Makes a stage from a profile's table: the table's keys are the fields of the stage's dataclass.

Checked here, so that no stage has to: unknown keys, missing ones, types. Ranges are the stage's own business;
what its constructor refuses is passed on with the file and the key. A field's type is one of int, float, str,
bool, ``Literal`` of strings, ``Mapping[str, T]``, ``tuple[T, ...]``, or one of these ``| None``. A whole
number may stand for a float; true and false are no numbers; floats are finite.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from simonides.errors import InputError, ProfileError
from simonides.records.hygiene import shown, to_float

if TYPE_CHECKING:
    from collections.abc import Iterable

# Stages import these for the type checker alone, so their modules cannot resolve them.
_TYPE_NAMES = {"Mapping": Mapping, "Literal": Literal}

_MOST = 1e12
"""No option is a number further from 0: sums and products of such numbers would overflow inside a stage."""

_WANTED = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


def nearest(name: str, valid: Iterable[str]) -> str:
    """What to try instead of *name*: the closest of *valid*, else all of them."""
    names = sorted(valid)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"valid: {', '.join(names)}" if names else "there are none"


def make(cls: type[Any], options: Mapping[str, object], *, technique: str, field: str, place: str) -> Any:
    """An instance of the dataclass *cls* with its fields set from *options*.

    Args:
        cls: the stage's class.
        options: the profile's table without ``technique``.
        technique: what users call the class.
        field: where the table stands, such as ``stages.dense``.
        place: the profile's file, for messages.

    Raises:
        ProfileError: an option is unknown, missing, of the wrong type or out of range.
    """
    fields = {field_.name: field_ for field_ in dataclasses.fields(cls) if field_.init}
    for name in options:
        if name not in fields:
            raise ProfileError(
                f"{field}.{name}",
                f"{technique!r} has no option {name!r}, in {place}; {nearest(name, fields)}",
            )
    types = _types(cls, technique, field)
    for name, declared in fields.items():
        required = declared.default is declared.default_factory is dataclasses.MISSING
        if required and name not in options:
            raise ProfileError(
                f"{field}.{name}", f"is missing in {place}; {technique!r} needs {_describe(types[name])}"
            )
    values = {name: _read(value, types[name], f"{field}.{name}", place) for name, value in options.items()}
    try:
        return cls(**values)
    except InputError as error:
        problem = str(error).removeprefix(f"{error.field}: ")
        raise ProfileError(f"{field}.{error.field}", f"{problem} (in {place})") from error


def _types(cls: type[Any], technique: str, field: str) -> dict[str, Any]:
    try:
        return get_type_hints(cls, localns=_TYPE_NAMES)
    except NameError as error:
        raise ProfileError(
            field,
            f"{technique!r} has a field whose type cannot be resolved ({error}); its module must import that "
            "type outside of TYPE_CHECKING",
        ) from error


def _read(value: object, expected: Any, field: str, place: str) -> object:
    """*value* as *expected*, or a ProfileError."""
    if get_origin(expected) in {Union, UnionType}:
        # TOML has no null: a value that is there is of the other type.
        expected = next(choice for choice in get_args(expected) if choice is not NoneType)
    origin, inner = get_origin(expected), get_args(expected)
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(each, inner[1], f"{field}.{key}", place) for key, each in value.items()}
    if origin is tuple and isinstance(value, list):
        return tuple(_read(each, inner[0], f"{field}[{n}]", place) for n, each in enumerate(value))
    if type(value) in {int, float} and _MOST < abs(to_float(value)) < math.inf:
        raise ProfileError(field, f"{shown(value)} is beyond {_MOST:g}, in {place}; no option is that large")
    if origin is Literal and isinstance(value, str) and value not in inner:
        raise ProfileError(field, f"{shown(value)} is not known, in {place}; {nearest(value, inner)}")
    if (origin is Literal and value in inner) or (origin is None and type(value) is expected is not float):
        return value
    if expected is float and type(value) in {int, float}:
        number = to_float(value)
        if math.isfinite(number):
            return number
    raise ProfileError(field, f"expected {_describe(expected)}, got {shown(value)}, in {place}")


def _describe(expected: Any) -> str:
    origin, inner = get_origin(expected), get_args(expected)
    if origin in {Union, UnionType}:
        return _describe(next(choice for choice in inner if choice is not NoneType))
    if origin is Mapping:
        return f"a table whose values are each {_describe(inner[1])}"
    if origin is tuple:
        return f"an array whose entries are each {_describe(inner[0])}"
    if origin is Literal:
        return f"one of {', '.join(repr(choice) for choice in inner)}"
    return _WANTED.get(expected, str(expected))
