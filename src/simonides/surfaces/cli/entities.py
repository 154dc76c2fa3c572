"""`simonides entities`: who and what the memories speak of."""

from typing import Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import print_json, print_table, printable, say, table


def entities(
    *,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Entities at most, the most mentioned first.")
    ] = 100,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List people, places and things with how many memories mention them."""
    with open_for_reading(store, bank) as opened:
        found = opened.entities(limit)
    if as_json:
        print_json({"entities": [entity.to_dict() for entity in found]})
        return
    if not found:
        say("no memory names anyone or anything")
        return
    rows = table("number", "name", "kind", "memories", "also called", numbers=("number", "memories"))
    for entity in found:
        name = f"{entity.name} ({entity.qualifier})" if entity.qualifier else entity.name
        also = ", ".join(alias for alias in entity.aliases if alias != entity.name)
        rows.add_row(
            str(entity.number), printable(name), entity.kind, f"{entity.mentions:,}", printable(also)
        )
    print_table(rows)
