"""`simonides bench`: measure on a public dataset."""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from simonides.errors import ModelError
from simonides.surfaces.cli.opening import embedder_choice, environment_embedder, environment_sparse
from simonides.surfaces.cli.options import JsonOption, ProfileOption
from simonides.surfaces.cli.output import print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import Report, bars

if TYPE_CHECKING:
    from rich.table import Table

    from simonides.protocols import Embedder

bench = typer.Typer(help="Measure on public datasets.", no_args_is_help=True, rich_markup_mode=None)


@bench.callback()
def _bench() -> None:
    """Measure on public datasets."""


@bench.command()
def quality(
    *,
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="locomo or musique.")],
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Folder that holds the dataset's own folder.")
    ],
    profile: ProfileOption = "default",
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            metavar="N",
            min=0,
            help="How many turns around a turn of a conversation are its context.",
            show_default="as retain_conversation",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="Only the first N questions.", show_default="all"),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder", metavar="NAME", help="auto, none, or a model's name.", show_default="auto"
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="Also write the rankings as a TREC run.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how much of the known evidence a profile recalls."""
    from simonides.evaluation.catalogue import load_dataset
    from simonides.evaluation.quality import run_quality
    from simonides.retain.conversations import WINDOW

    chosen = environment_embedder() if embedder is None else embedder_choice(embedder)
    loaded = load_dataset(dataset, data)
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        report = run_quality(
            loaded,
            store_path=Path(folder),
            timer=time.perf_counter,
            profile=profile,
            limit=limit,
            window=WINDOW if window is None else window,
            embedder=_embedder(chosen, progress),
            sparse=environment_sparse(),
            progress=progress,
        )
    if run is not None:
        report.write_run(run)
    answer = report.to_dict()
    if as_json:
        print_json(answer)
    else:
        print_text(
            f"{answer['dataset']}, profile {answer['profile']}, embedder {answer['embedder'] or 'none'}: "
            f"{answer['questions']} questions in {answer['seconds']:.1f} s"
        )
        print_table(_measures(answer))


@bench.command()
def ingest(
    *,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="Memories to retain.")] = 20_000,
    batch: Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Memories per retain.")] = 256,
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="NAME", help="A model's name, or auto.")
    ] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure how fast memories are taken in, beside the encoder alone."""
    from simonides.evaluation.ingest import run_ingest
    from simonides.models.catalogue import DEFAULT_EMBEDDER
    from simonides.models.resolve import load_embedder

    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        name = DEFAULT_EMBEDDER if embedder == "auto" else embedder
        report = run_ingest(
            n,
            store_path=Path(folder),
            embedder=load_embedder(name, progress=progress),
            wall=time.perf_counter,
            cpu=time.process_time,
            batch=batch,
            progress=progress,
        )
    answer = report.to_dict()
    if as_json:
        print_json(answer)
    else:
        rows = table("measure", "value")
        for name, value in answer.items():
            rows.add_row(name, f"{value:,}" if isinstance(value, int | float) else value)
        print_table(rows)


@bench.command()
def abstention(
    *,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Folder that holds the data sets' own folders.")
    ],
    profile: ProfileOption = "default",
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder", metavar="NAME", help="auto, none, or a model's name.", show_default="auto"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how often a profile says "no match" wrongly, and how often it fails to."""
    from simonides.evaluation.abstention import run_abstention
    from simonides.evaluation.catalogue import DATASETS, load_dataset

    chosen = environment_embedder() if embedder is None else embedder_choice(embedder)
    datasets = [load_dataset(name, data) for name in DATASETS]
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        answer = run_abstention(
            datasets,
            store_path=Path(folder),
            profile=profile,
            embedder=_embedder(chosen, progress),
            progress=progress,
        ).to_dict()
    if as_json:
        print_json(answer)
        return
    for how, rates in answer["measured"].items():
        rows = table("kind", "questions", "wrong", numbers=("questions", "wrong"))
        rows.title = f"profile {answer['profile']}, by {how}"
        for kind, count in answer["questions"].items():
            wrong = rates["lost" if kind in answer["answerable"] else "false"][kind]
            rows.add_row(kind, f"{count:,}", f"{wrong:.4f}")
        print_table(rows)
    print_text(f"fitted to the other half: {answer['fitted']}")


@bench.command("view-cost")
def view_cost(
    *,
    n: Annotated[int, typer.Option("--n", metavar="N", min=2, help="Memories to retain.")] = 10_000,
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="NAME", help="A model's name, or auto.")
    ] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure what views cost: recall in the past and by a principal, beside the owner's of now."""
    from simonides.evaluation.view_cost import run_view_cost, view_cost_rows
    from simonides.models.catalogue import DEFAULT_EMBEDDER
    from simonides.models.resolve import load_embedder
    from simonides.profiles.loader import list_profiles

    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        costs = run_view_cost(
            n,
            store_path=Path(folder),
            embedder=load_embedder(DEFAULT_EMBEDDER if embedder == "auto" else embedder, progress=progress),
            profiles=list_profiles(),
            cpu=time.process_time,
            progress=progress,
        )
    answer = view_cost_rows(costs)
    if as_json:
        print_json({"n": n, "profiles": answer})
    else:
        names = ("owner_cpu_ms", "past_ratio", "principal_ratio")
        rows = table("profile", *names, numbers=names)
        for profile, row in answer.items():
            rows.add_row(profile, *(f"{row[name]:.3f}" for name in names))
        print_table(rows)


def _measures(answer: Mapping[str, Any]) -> "Table":
    names = list(answer["metrics"])
    rows = table("category", "questions", *names, numbers=("questions", *names))
    means = {"all": {"questions": answer["questions"], **answer["metrics"]}, **answer["by_category"]}
    for category, row in means.items():
        rows.add_row(category, f"{row['questions']:,}", *(f"{row[name]:.4f}" for name in names))
    return rows


def _embedder(choice: str | None, progress: Report | None) -> "Embedder | Literal['auto'] | None":
    """The embedder to measure with, pulled here so that its download shows."""
    from simonides.models.resolve import load_embedder, pull_model

    if choice is None:
        return None
    if choice != "auto":
        return load_embedder(choice, progress=progress)
    # Without the default model the run goes on by words, and the report says so.
    with suppress(ModelError):
        pull_model(progress=progress)
    return "auto"
