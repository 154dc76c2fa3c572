"""Doing an operation of the table for a command: what is given is checked by the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.bank import Bank
    from simonides.store import Store


def perform(name: str, subject: Bank | Store, /, **values: Any) -> Mapping[str, Any]:
    """The answer of an operation.

    Args:
        name: of the operation.
        subject: a bank, or a store for operations on stores.
        values: by parameter; ``None`` and an empty list mean "not given".

    Raises:
        InputError: a value is not what the table says.
    """
    from simonides.surfaces.operations.table import find_operation

    operation = find_operation(name)
    chosen = {each: value for each, value in values.items() if value is not None and value != []}
    return operation.call(subject, operation.bind(chosen))


def objects(text: str, option: str) -> Any:
    """The value of an option that is JSON.

    Raises:
        InputError: it is no JSON.
    """
    import json

    from simonides.errors import InputError

    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(option, f'is not JSON ({error}); write it like {{"page": 3}}') from None
