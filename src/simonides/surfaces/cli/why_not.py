"""`simonides why-not`: where a memory was lost on its way into an answer."""

from typing import Annotated, Any

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import bars
from simonides.surfaces.cli.recall_options import takes_recall_options


@takes_recall_options
def why_not(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
    ],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question.", show_default=False)],
    *,
    asked: dict[str, Any],
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Explain why a recall did not return a memory: which stage dropped it, and what would keep it."""
    with (
        bars() as progress,
        open_for_reading(
            store, bank, embedder=environment_embedder(), progress=progress, zone=zone
        ) as opened,
    ):
        try:
            answer = opened.why_not(memory_id, query, **asked)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(answer.to_dict())
        return
    if answer.returned:
        print_text(f"{answer.id} is returned: {answer.reason}")
    else:
        short = f" (short by {answer.short_by:g} {answer.unit})" if answer.short_by is not None else ""
        print_text(f"{answer.id} was lost at {answer.stage}: {answer.reason}{short}")
        if answer.remedy:
            print_text(f"what would keep it: {answer.remedy}")
    if answer.verdicts:
        rows = table("stage", "shape", "verdict", "rank", "score", "note", numbers=("rank", "score"))
        for one in answer.verdicts:
            score = "" if one.score is None else f"{one.score:.4f}"
            rows.add_row(one.stage, one.shape, one.verdict, str(one.rank or ""), score, one.note)
        print_table(rows)
