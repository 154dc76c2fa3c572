"""`simonides set-ttl`: how long memories live that state no time of their own."""

from typing import Annotated

import typer

from simonides.records.kind import Kind
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import BankOption, JsonOption, OnExpiryOption, StoreOption
from simonides.surfaces.cli.output import print_json, print_table, print_text, table


def set_ttl(
    ttl: Annotated[
        str,
        typer.Argument(
            metavar="TIME",
            help="Such as 45m, 12h, 30d or 2w; never = they do not end; none takes away what was set.",
        ),
    ],
    *,
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", metavar="KIND", help="Of this kind only.", show_default="of the whole bank"),
    ] = None,
    on_expiry: OnExpiryOption = None,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Give memories that are retained without a time to live one from now on; print all that is set."""
    with open_for_reading(store, bank) as opened:
        answer = perform("set_ttl", opened, ttl=ttl, kind=kind.value if kind else None, on_expiry=on_expiry)
    if as_json:
        print_json(answer)
        return
    set_now = {**({} if answer["bank"] is None else {"every other": answer["bank"]}), **answer["kinds"]}
    if not set_now:
        print_text("memories never end")
        return
    rows = table("kind", "seconds", "then", numbers=("seconds",))
    for name, each in set_now.items():
        rows.add_row(name, str(each["ttl"]), each["on_expiry"])
    print_table(rows)
