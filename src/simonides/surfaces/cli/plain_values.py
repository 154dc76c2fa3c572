"""Values that need no conversion are not converted.

Typer makes a converter for each option of a command, also for those that nobody gave, and loads pydantic for
it: 0.1 s of every command. An option left out, or of the plain type wanted, is what it would return.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = (str, int, float, bool)


def spare_conversions(command: Any) -> None:
    """Let the options of a command, and of those below it, convert only what they must."""
    spare_own_conversions(command)
    for below in getattr(command, "commands", {}).values():
        spare_conversions(below)


def spare_own_conversions(command: Any) -> None:
    """The same for a command alone."""
    listed = command.get_params

    def get_params(context: Any) -> Any:
        # When they are asked for: Typer adds some, such as --help, after the command was made.
        found = listed(context)
        for parameter in found:
            _spare(parameter)
        return found

    command.get_params = get_params


def _spare(parameter: Any) -> None:
    # Older versions of Typer convert without a converter, and describe no types.
    described = getattr(parameter, "type_descriptor", None)
    if described is not None and "process_value" not in vars(parameter):
        convert = partial(_convert, parameter, _plain_type(described), parameter.process_value)
        parameter.process_value = convert


def _plain_type(described: Any) -> type | None:
    """The type of values that are taken as they are; ``None`` = each must be looked at."""
    asked = described.parameter_info
    looks = (getattr(asked, name, None) for name in ("parser", "click_type", "min", "max"))
    if described.annotation not in _PLAIN or any(each is not None for each in looks):
        return None
    if described.is_path or described.is_file or described.is_choice:
        return None
    found: type = described.annotation
    return found


def _convert(
    parameter: Any, plain: type | None, convert: Callable[[Any, Any], Any], context: Any, value: Any
) -> Any:
    if value is None and not parameter.required:
        value = () if parameter.multiple or parameter.nargs == -1 else None
    elif plain is None or type(value) is not plain:
        return convert(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)
