"""`simonides invalidate`: end what a memory states, and keep it."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text


def invalidate(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
    ],
    *,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it stopped being true.", show_default="now"),
    ] = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """End a memory: it is found only for earlier moments; its history stays. Exit code 1 when not there."""
    with open_for_reading(store, bank, zone=zone) as opened:
        try:
            opened.invalidate(memory_id, at=at)
            memory = opened.get(memory_id)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    ended = memory.valid_to or memory.expired_at
    until = ended.isoformat() if ended else None
    if as_json:
        print_json({"id": memory_id, "valid_to": until})
    else:
        print_text(f"{memory_id} ended at {until}; `simonides history {memory_id}` shows its versions")
