"""`simonides backup` and `simonides restore`: a bank's rows as one file, and back."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.opening import open_for_reading, open_for_writing
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text, say


def backup(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; it must not be there yet.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Copy a bank to one file, also while it is in use."""
    with open_for_reading(store, bank) as opened:
        saved = opened.backup(path)
    if as_json:
        print_json(saved.to_dict())
    else:
        print_text(f"{saved.memories} memories, as of change {saved.sequence}, in {saved.path}")


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What `simonides backup` wrote.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Replace everything in a bank by a backup; it is verified first."""
    # Before a store is made for it.
    if not path.is_file():
        raise InputError("FILE", f"there is no file {path}; name one that `simonides backup` wrote")
    if not yes:
        _confirm(bank)
    with open_for_writing(store, bank, encodes=False) as opened:
        saved = opened.restore(path)
    if as_json:
        print_json(saved.to_dict())
    else:
        print_text(f"{saved.memories} memories, as of change {saved.sequence}, from {saved.path}")


def _confirm(bank: str) -> None:
    if not sys.stdin.isatty():
        raise InputError("--yes", "is needed where there is no terminal to ask on")
    typer.echo(f"Replace everything in bank {bank!r} by the backup? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        say("nothing was restored")
        raise typer.Exit(NEGATIVE)
