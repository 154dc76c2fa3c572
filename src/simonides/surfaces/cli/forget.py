"""`simonides forget`: take memories out of every answer."""

import sys
from typing import Annotated

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text, say


def forget(
    memory_ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of the memories to forget.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Forget memories; exit code 1 when one was not there."""
    ids = list(dict.fromkeys(memory_ids))
    with open_for_reading(store, bank) as opened:
        if not yes:
            _confirm(len(ids), bank)
        forgotten = opened.forget(ids)
    if as_json:
        print_json({"asked": len(ids), "forgotten": forgotten})
    else:
        print_text(f"{forgotten} forgotten")
    if forgotten < len(ids):
        fail(f"{len(ids) - forgotten} of {len(ids)} ids were not there (forgotten before?)", NEGATIVE)


def _confirm(count: int, bank: str) -> None:
    if not _is_terminal():
        raise InputError("--yes", "is needed where there is no terminal to ask on")
    # Not typer.confirm: it lets part of the question out on standard output.
    typer.echo(
        f"Forget {count} {'memory' if count == 1 else 'memories'} of bank {bank!r}? [y/N] ",
        nl=False,
        err=True,
    )
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        say("nothing was forgotten")
        raise typer.Exit(NEGATIVE)


def _is_terminal() -> bool:
    return sys.stdin.isatty()
