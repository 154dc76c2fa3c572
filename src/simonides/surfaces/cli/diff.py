"""`simonides diff`: what a bank believed at one moment and at another."""

from typing import TYPE_CHECKING, Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import print_json, print_table, printable, say, table, when

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from simonides.records.memory import Diff, Memory


def diff(
    earlier: Annotated[str, typer.Argument(metavar="TIME", help="2026-03-10 or with a time.")],
    later: Annotated[
        str | None, typer.Argument(metavar="TIME", help="The other moment.", show_default="now")
    ] = None,
    *,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Compare what a bank believed at two moments: what ended (-), began (+) and changed (~) between them."""
    with open_for_reading(store, bank, zone=zone) as opened:
        found = opened.diff(earlier, later)
    if as_json:
        print_json(found.to_dict())
    elif found.ended or found.begun or found.changed:
        print_table(_rows(found))
    else:
        say("nothing changed between them")


def _rows(found: "Diff") -> "Table":
    rows = table("", "id", "true from", "until", "text")
    for column in rows.columns[1:4]:
        column.no_wrap = True
    for sign, memory in _changes(found):
        rows.add_row(
            sign,
            memory.id,
            when(memory.valid_from, "day"),
            when(memory.valid_to, "day"),
            printable(memory.text),
        )
    return rows


def _changes(found: "Diff") -> "Iterator[tuple[str, Memory]]":
    yield from (("-", memory) for memory in found.ended)
    yield from (("+", memory) for memory in found.begun)
    yield from (("~", change.after) for change in found.changed)
