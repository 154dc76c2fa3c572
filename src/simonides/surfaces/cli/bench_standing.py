"""`simonides bench standing`: whether standing memories stand in every context, beside the answers."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from simonides.surfaces.cli.bench_inputs import EmbedderOption, chosen_embedder
from simonides.surfaces.cli.options import JsonOption, ProfileOption
from simonides.surfaces.cli.output import print_json, print_table, table
from simonides.surfaces.cli.progress import bars


def standing(
    *,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Folder that holds the folder everyday.")
    ],
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=0, help="Budget of a context.")
    ] = 4096,
    profile: ProfileOption = "default",
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how often facts that hold whatever is asked stand in the context: plain, pinned, standing."""
    from simonides.evaluation.standing import load_standing, run_standing, summary

    banks = load_standing(data / "everyday")
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        shown = run_standing(
            banks,
            store_path=Path(folder),
            profile=profile,
            max_tokens=max_tokens,
            embedder=chosen_embedder(embedder, progress),
            progress=progress,
        )
    answer = summary(shown)
    if as_json:
        print_json(answer)
        return
    names = ("present", "all present", "told", "refused")
    rows = table("mode", *names, "memories", numbers=(*names, "memories"))
    for mode, rates in answer.items():
        rows.add_row(mode, *(f"{100 * rates[n]:.1f} %" for n in names), f"{rates['memories']:.1f}")
    print_table(rows)
