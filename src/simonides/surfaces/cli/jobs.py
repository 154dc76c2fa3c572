"""`simonides jobs`: answers of recalls that take longer."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, say
from simonides.surfaces.cli.progress import bars
from simonides.surfaces.cli.recall import LONGEST_WAIT_SECONDS, print_recall

jobs = typer.Typer(help="Show the answers of recalls of the async tier.", no_args_is_help=True)


@jobs.command()
def get(
    job_id: Annotated[str, typer.Argument(metavar="ID", help="The job, as recall --tier async names it.")],
    *,
    context: Annotated[
        bool, typer.Option("--context", help="Print only the text to put into a prompt.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show what each stage did, on standard error or in the JSON.")
    ] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Show the answer so far; do not wait.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print a job's answer; one that was broken off is begun again. Exit code 1 when nothing is recalled."""
    with (
        bars() as progress,
        open_for_reading(
            store, bank, embedder=environment_embedder(), progress=progress, later=True
        ) as opened,
    ):
        try:
            job = opened.job(job_id, wait_seconds=0 if no_wait else LONGEST_WAIT_SECONDS)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(job.to_dict(trace=trace))
        if job.recall is None or job.recall.no_match:
            raise typer.Exit(NEGATIVE)
    elif job.recall is None:
        say("still at work")
        raise typer.Exit(NEGATIVE)
    else:
        print_recall(job.recall, context=context, trace=trace, as_json=False)
