"""`simonides show`: one memory in full."""

import json
from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text


def show(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show one memory; exit code 1 when it is not there."""
    with open_for_reading(store, bank) as opened:
        try:
            memory = opened.get(memory_id)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    record = memory.to_dict()
    if as_json:
        print_json(record)
        return
    text = record.pop("text")
    # What is not set tells a reader nothing.
    lines = [
        f"{name + ':':<{_WIDTH}}{_plain(value)}" for name, value in record.items() if value not in _UNSET
    ]
    print_text("\n".join([*lines, "", text]))


_WIDTH = 17
"""Of the column of names."""
_UNSET: tuple[object, ...] = (None, "", [], {})


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return value.replace("\n", "\n" + " " * _WIDTH)
