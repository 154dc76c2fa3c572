"""`simonides pin` and `unpin`: keep a memory from decay and first in a brief or always, or no longer."""

from collections.abc import Mapping
from typing import Annotated, Any

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
    always: Annotated[
        bool, typer.Option("--always", help="Let it lead every context that asks for standing memories.")
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Keep a memory from decay, and first in a brief; exit code 1 when it is not there."""
    done = "is a standing memory" if always else "pinned"
    _do("pin", done, {"memory": memory_id, "always": always}, store, bank, as_json=as_json)


def unpin(
    memory_id: _IdArgument,
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Let a pinned memory age like any other; exit code 1 when it is not there."""
    _do("unpin", "no longer pinned", {"memory": memory_id}, store, bank, as_json=as_json)


def _do(
    operation: str,
    done: str,
    asked: Mapping[str, Any],
    store: str | None,
    bank: str,
    *,
    as_json: bool,
) -> None:
    with open_for_reading(store, bank) as opened:
        try:
            answer = perform(operation, opened, **asked)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(answer)
    else:
        print_text(f"{asked['memory']} {done}")
