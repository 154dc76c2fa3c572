"""`simonides moves` and `undo`: what maintenance and newer memories did, why, and how to take it back."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_table, print_text, say, table


def moves(
    memory_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Only of this memory; by default of all.", show_default=False),
    ] = None,
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show what maintenance and newer memories did to memories; exit code 1 when there is no such one."""
    with open_for_reading(store, bank) as opened:
        try:
            found = [move.to_dict() for move in opened.moves(memory_id)]
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json({"moves": found})
        return
    if not found:
        say("no moves: neither maintenance nor a newer memory has changed a memory")
        return
    rows = table("number", "memory", "action", "was", "became", "reason", "undone", numbers=("number",))
    for move in found:
        names = ("memory", "action", "was", "became", "reason")
        rows.add_row(
            str(move["number"]), *(str(move[name]) or "-" for name in names), move["undone_at"] or "-"
        )
    print_table(rows)


def undo(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="A move's number, as moves prints it.")],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Undo a promotion, an archiving or the end of a memory; exit code 1 when there is none to undo."""
    with open_for_reading(store, bank) as opened:
        try:
            opened.undo_move(number)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json({"undone": number})
    else:
        print_text(f"move {number} undone")
