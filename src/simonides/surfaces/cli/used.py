"""`simonides used`: say that memories were of use."""

from typing import Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text


def used(
    memory_ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of memories that were of use.")],
    *,
    recall_id: Annotated[
        str | None,
        typer.Option(
            "--recall-id",
            metavar="ID",
            help="The recall that returned them: id of its JSON.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Record that memories were useful; exit code 1 when none of them is there."""
    with open_for_reading(store, bank) as opened:
        answer = perform("used", opened, ids=memory_ids, recall_id=recall_id)
    if as_json:
        print_json(answer)
    else:
        print_text(f"{answer['recorded']} recorded")
    if not answer["recorded"]:
        raise typer.Exit(NEGATIVE)
