"""`simonides pin` and `unpin`: keep a memory from decay and first in a brief, or no longer."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_text

_IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
]


def pin(memory_id: _IdArgument, *, store: StoreOption = None, bank: BankOption = "default") -> None:
    """Keep a memory from decay, and first in a brief; exit code 1 when it is not there."""
    _pin(memory_id, store, bank, pinned=True)
    print_text(f"{memory_id} pinned")


def unpin(memory_id: _IdArgument, *, store: StoreOption = None, bank: BankOption = "default") -> None:
    """Let a pinned memory age like any other; exit code 1 when it is not there."""
    _pin(memory_id, store, bank, pinned=False)
    print_text(f"{memory_id} no longer pinned")


def _pin(memory_id: str, store: str | None, bank: str, *, pinned: bool) -> None:
    with open_for_reading(store, bank) as opened:
        try:
            opened.pin(memory_id, pinned=pinned)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
