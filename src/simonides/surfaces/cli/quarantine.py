"""`simonides quarantine` and `simonides release`: set memories aside, and take them back."""

from typing import Annotated

import typer

from simonides.records.kind import Kind
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import print_json, print_text

_Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of the memories.", show_default=False)]


def quarantine(
    memory_ids: _Ids, *, store: StoreOption = None, bank: BankOption = "default", as_json: JsonOption = False
) -> None:
    """Quarantine memories: only a recall of the kind quarantine finds them."""
    with open_for_reading(store, bank) as opened:
        changed = opened.quarantine(memory_ids)
    if as_json:
        print_json({"quarantined": changed})
    else:
        print_text(f"{changed} quarantined")


def release(
    memory_ids: _Ids,
    *,
    kind: Annotated[Kind, typer.Option("--kind", metavar="KIND", help="The new kind.")] = Kind.SEMANTIC,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Take memories out of quarantine."""
    with open_for_reading(store, bank) as opened:
        changed = opened.release(memory_ids, kind=kind)
    if as_json:
        print_json({"released": changed})
    else:
        print_text(f"{changed} released")
