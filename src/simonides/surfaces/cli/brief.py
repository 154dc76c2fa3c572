"""`simonides brief`: a hand-over for the next session, within a budget."""

from typing import Annotated

import typer

from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    ProfileOption,
    ProjectOption,
    StoreOption,
    given,
)
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text, say
from simonides.surfaces.cli.progress import bars


def brief(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="The task of the next session.", show_default=False)
    ],
    *,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=0, help="Of the text.", show_default="2000")
    ] = None,
    profile: ProfileOption = "default",
    project: ProjectOption = None,
    standing: Annotated[
        bool,
        typer.Option(
            "--standing/--no-standing", help="Let standing memories come first, also those of no project."
        ),
    ] = True,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print a summary for the next session, with ids of memories; exit code 1 when there is nothing."""
    with (
        bars() as progress,
        open_for_reading(store, bank, embedder=environment_embedder(), progress=progress) as opened,
    ):
        found = opened.brief(
            task, profile=profile, standing=standing, **given(max_tokens=max_tokens, project=project)
        )
    if as_json:
        print_json(found.to_dict())
    elif found.text:
        print_text(found.text)
        if found.omitted:
            say(f"{len(found.omitted)} more did not fit; raise --max-tokens")
    if not found.text:
        say("no memories for a brief")
        raise typer.Exit(NEGATIVE)
