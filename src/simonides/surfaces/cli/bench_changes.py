"""`simonides bench changes`: whether a change is told from two facts that hold together."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.surfaces.cli.bench_inputs import EmbedderOption, chosen_embedder
from simonides.surfaces.cli.options import JsonOption, ProfileOption
from simonides.surfaces.cli.output import print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from rich.table import Table

_COUNTS = ("cases", "outdated")


def changes(
    *,
    data: Annotated[
        Path,
        typer.Option("--data", metavar="DIR", help="Folder that holds changes_HALF.jsonl and the like."),
    ],
    half: Annotated[
        list[str] | None,
        typer.Option(
            "--half",
            metavar="HALF",
            help="development or held; may be repeated.",
            show_default="development",
        ),
    ] = None,
    profile: ProfileOption = "default",
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure whether newer statements lead and outdated ones are marked, and facts that coexist are not."""
    from simonides.evaluation.changes import load_changes, run_changes, summary

    cases = load_changes(data, half or ("development",))
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        outcomes = run_changes(
            cases,
            store_path=Path(folder),
            profile=profile,
            embedder=chosen_embedder(embedder, progress),
            progress=progress,
        )
    answer = summary(outcomes)
    if as_json:
        print_json(answer)
        return
    for name in ("changes", "coexisting"):
        print_table(_rates(name, answer[name]))
    for name, ids in (("not all right", answer["stale"]), ("wrongly closed or marked", answer["wrong"])):
        print_text(f"{name}: {', '.join(ids) or 'none'}")


def _rates(title: str, kinds: Mapping[str, Mapping[str, Any]]) -> "Table":
    names = [name for name in kinds["all"] if name != "queries"]
    rows = table("kind", *names, numbers=names)
    rows.title = title
    for kind, rates in kinds.items():
        rows.add_row(kind, *(f"{rates[n]:,}" if n in _COUNTS else f"{100 * rates[n]:.1f} %" for n in names))
    return rows
