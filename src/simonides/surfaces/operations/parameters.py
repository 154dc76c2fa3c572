"""Parameters of an operation: fields of a frozen dataclass that carry their schema and their help.

@dataclass(frozen=True, slots=True, kw_only=True)
class GetMemory:
    memory: str = parameter(MEMORY_ID, "Its id.")
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.surfaces.operations.checking import checked
from simonides.surfaces.operations.schemas import optional

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.surfaces.operations.schemas import Schema

_REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    Attributes:
        name: the same at every door.
        schema: of its value.
        help: a sentence.
        required: whether it must be given.
        default: where it need not be; ``None`` = not given.
    """

    name: str
    schema: Schema
    help: str
    required: bool
    default: object = None


def parameter(schema: Schema, help: str, default: Any = _REQUIRED) -> Any:  # noqa: A002 what it is called
    """A field of a request. With ``None`` as its default, ``null`` means "not given", too."""
    if default is _REQUIRED:
        return field(metadata={"schema": schema, "help": help})
    whole = optional(schema) if default is None else schema
    return field(default=default, metadata={"schema": whole, "help": help})


def parameters_of(request: type) -> tuple[Parameter, ...]:
    """The parameters of a request, in order."""
    return tuple(
        Parameter(
            each.name,
            each.metadata["schema"],
            each.metadata["help"],
            required=each.default is MISSING,
            default=None if each.default is MISSING else each.default,
        )
        for each in fields(request)
    )


def schema_of(request: type) -> Schema:
    """The JSON Schema of a request: these parameters and no other."""
    parameters = parameters_of(request)
    return {
        "type": "object",
        "properties": {
            each.name: {
                **each.schema,
                "description": each.help,
                **({"default": each.default} if each.default is not None else {}),
            }
            for each in parameters
        },
        "required": [each.name for each in parameters if each.required],
        "additionalProperties": False,
    }


def bind(request: type[Any], values: Mapping[str, object], *, place: str = "") -> Any:
    """A request from named values, as any door received them.

    Args:
        request: of the operation.
        values: by parameter.
        place: of the values, for errors, such as the operation's name.

    Raises:
        UnknownNameError: a parameter that does not exist, with the nearest one that does.
        InputError: one is missing, or its value is not what the schema says.
    """
    parameters = {each.name: each for each in parameters_of(request)}
    for name in values:
        if name not in parameters:
            raise UnknownNameError(str(name), name, parameters, place=place)
    for each in parameters.values():
        if each.required and each.name not in values:
            raise InputError(each.name, f"is missing; {each.help[:1].lower()}{each.help[1:]}")
    return request(**{name: checked(value, parameters[name].schema, name) for name, value in values.items()})


def given(request: object) -> dict[str, Any]:
    """What a request holds that differs from "not given", by name: arguments of a method of ``Bank``."""
    return {
        each.name: value
        for each in parameters_of(type(request))
        if (value := getattr(request, each.name)) is not None
    }
