"""`simonides check`: what memories name and a folder does not have."""

from pathlib import Path
from typing import Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_table, say, table


def check(
    *,
    root: Annotated[
        Path, typer.Option("--root", metavar="DIR", help="The folder that the memories speak of.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Note nothing in the bank.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Find memories that name paths, commands or packages that are not there; exit code 1 when there are any.

    Nothing is run and no memory is changed; what is found is noted, and `simonides moves` shows it.
    """
    with open_for_reading(store, bank) as opened:
        found = opened.check_references(root, dry_run=dry_run)
    if as_json:
        print_json({"dead": [one.to_dict() for one in found]})
    elif found:
        rows = table("memory", "sort", "name")
        for one in found:
            rows.add_row(one.memory, one.sort, one.name)
        print_table(rows)
    else:
        say("every path, command and package that memories name is there")
    if found:
        raise typer.Exit(NEGATIVE)
