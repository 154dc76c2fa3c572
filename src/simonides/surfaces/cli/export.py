"""`simonides export`: write a whole bank into one file."""

from pathlib import Path
from typing import Annotated

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import binary_output, print_json, print_text


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="The file to write, or - for standard output.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Write everything in a bank to a file of JSON lines; `simonides import` reads it."""
    if file == "-":
        if as_json:
            raise InputError("--json", "would stand among the lines of the export; give a file instead of -")
        with open_for_reading(store, bank) as opened:
            opened.export(binary_output())
        return
    if not file.strip() or "\0" in file:
        raise InputError("FILE", f"{file!r} is not a file's path")
    with open_for_reading(store, bank) as opened:
        counts = opened.export(Path(file)).to_dict()
    if as_json:
        print_json({"file": file, "counts": counts})
    else:
        print_text("\n".join(f"{kind}: {count:,}" for kind, count in counts.items()))
