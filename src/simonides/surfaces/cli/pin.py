"""`simonides pin` and `unpin`: keep a memory from decay and first in a brief, or no longer."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text

_IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
]


def pin(
    memory_id: _IdArgument,
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Keep a memory from decay, and first in a brief; exit code 1 when it is not there."""
    _do("pin", "pinned", memory_id, store, bank, as_json=as_json)


def unpin(
    memory_id: _IdArgument,
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Let a pinned memory age like any other; exit code 1 when it is not there."""
    _do("unpin", "no longer pinned", memory_id, store, bank, as_json=as_json)


def _do(operation: str, done: str, memory_id: str, store: str | None, bank: str, *, as_json: bool) -> None:
    with open_for_reading(store, bank) as opened:
        try:
            answer = perform(operation, opened, memory=memory_id)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(answer)
    else:
        print_text(f"{memory_id} {done}")
