"""`simonides bench`: measure on a public dataset."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.bench_compare import compare
from simonides.surfaces.cli.bench_inputs import (
    DataOption,
    DatasetOption,
    EmbedderOption,
    KeepBanksOption,
    LimitOption,
    SetOption,
    WithoutOption,
    measured_embedder,
)
from simonides.surfaces.cli.bench_relevance import relevance
from simonides.surfaces.cli.opening import embedder_choice, environment_embedder, environment_sparse
from simonides.surfaces.cli.options import JsonOption, ProfileOption, option
from simonides.surfaces.cli.output import print_json, print_table, print_text, say, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from rich.table import Table

bench = typer.Typer(help="Measure on public datasets.", no_args_is_help=True, rich_markup_mode=None)

_ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Whatever a former command was given."""


@bench.callback()
def _bench() -> None:
    """Measure on public datasets."""


@bench.command()
def quality(
    *,
    dataset: DatasetOption,
    data: DataOption,
    profile: ProfileOption = "default",
    window: Annotated[
        int | None,
        option(
            "--window N",
            "How many turns around a turn of a conversation are its context.",
            "as retain_conversation",
            min=0,
        ),
    ] = None,
    limit: LimitOption = None,
    embedder: EmbedderOption = None,
    run: Annotated[Path | None, option("--run FILE", "Also write the rankings as a TREC run.")] = None,
    runs: Annotated[
        Path | None, option("--runs DIR", "Also write every answer, a TREC run and judgements there.")
    ] = None,
    name: Annotated[
        str | None, option("--name NAME", "Name of the system in the result files.", "the profile's")
    ] = None,
    without: WithoutOption = None,
    setting: SetOption = None,
    keep_banks: KeepBanksOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how much of the known evidence a profile recalls."""
    from simonides.evaluation.datasets import load_dataset
    from simonides.evaluation.quality import run_kept, run_quality
    from simonides.evaluation.results import Measured, save_runs
    from simonides.evaluation.variant import write_variant
    from simonides.retain.conversations import WINDOW

    chosen = environment_embedder() if embedder is None else embedder_choice(embedder)
    loaded = load_dataset(dataset, data)
    label = " ".join([profile, *(f"-{stage}" for stage in without or ()), *(setting or ())])
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        asked = write_variant(
            Path(folder, "variants"), profile, without=without or (), settings=setting or ()
        )
        common: dict[str, Any] = {
            "timer": time.perf_counter,
            "cpu": time.process_time,
            "profile": asked,
            "limit": limit,
            "window": WINDOW if window is None else window,
            "embedder": measured_embedder(chosen, progress),
            "sparse": environment_sparse(),
            "progress": progress,
        }
        if keep_banks is None:
            report = run_quality(loaded, store_path=Path(folder, "store"), **common)
        else:
            report = run_kept(loaded, keep_banks, **common)
    report = replace(report, profile=label)
    if runs is not None:
        for path in save_runs(runs, report.dataset, Measured(name or label, report.results)):
            say(f"wrote {path}")
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
        if answer["recall_cpu_ms"]:
            print_text("CPU per recall: {p50:.1f} ms (p95 {p95:.1f})".format(**answer["recall_cpu_ms"]))


@bench.command("abstention", hidden=True, context_settings=_ANYTHING)
def abstention() -> None:
    """Became `bench relevance`."""
    raise InputError("command", "`bench abstention` became `bench relevance`; run that")


def _left(module: str) -> Callable[[], None]:
    """A command that names the module of the repository which measures in its place."""

    def refuse() -> None:
        raise InputError(
            "command",
            f"this bench left the package; in a checkout of the repository run `python -m bench.{module}`",
        )

    return refuse


for _module in ("ablation", "answer", "changes", "ingest", "leaks", "scale", "standing", "view_cost"):
    bench.command(
        _module.replace("_", "-"),
        help=f"Became `python -m bench.{_module}` in a checkout of the repository.",
        hidden=True,
        context_settings=_ANYTHING,
    )(_left(_module))


def _measures(answer: Mapping[str, Any]) -> "Table":
    names = list(answer["metrics"])
    rows = table("category", "questions", *names, numbers=("questions", *names))
    means = {"all": {"questions": answer["questions"], **answer["metrics"]}, **answer["by_category"]}
    for category, row in means.items():
        rows.add_row(category, f"{row['questions']:,}", *(f"{row[name]:.4f}" for name in names))
    return rows


bench.command()(compare)
bench.command()(relevance)
