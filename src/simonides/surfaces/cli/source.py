"""`simonides source`: the raw text behind a memory."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text


def source(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print the raw text that a memory comes from, verbatim; exit code 1 when it is not there."""
    with open_for_reading(store, bank) as opened:
        try:
            found = perform("source", opened, memory=memory_id)["source"]
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(found)
    else:
        print_text(found["text"])
