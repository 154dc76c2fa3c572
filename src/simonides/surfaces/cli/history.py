"""`simonides history`: every version of one memory."""

from datetime import datetime
from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import (
    NEGATIVE,
    fail,
    print_json,
    print_table,
    print_text,
    table,
)


def history(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show every version of a memory: when it was true and when stored; exit code 1 when not there."""
    with open_for_reading(store, bank) as opened:
        try:
            versions = opened.history(memory_id)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json({"id": memory_id, "versions": [memory.to_dict() for memory in versions]})
        return
    superseded = any(memory.superseded_by for memory in versions)
    names = ["version", "true from", "until", "learned", "proofs", *["superseded by"] * superseded]
    rows = table(*names, numbers=("version", "proofs"))
    for column in rows.columns[1:4]:
        column.no_wrap = True
    for memory in versions:
        times = map(_moment, (memory.valid_from, memory.valid_to, memory.ingested_at))
        by = [memory.superseded_by or "-"] * superseded
        rows.add_row(str(memory.version), *times, str(memory.proof_count), *by)
    print_text(versions[-1].text)
    print_table(rows)


def _moment(moment: datetime | None) -> str:
    """To the minute, or to the day at midnight."""
    return moment.isoformat(sep=" ")[:16].removesuffix(" 00:00") if moment else "-"
