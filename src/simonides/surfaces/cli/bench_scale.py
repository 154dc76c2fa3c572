"""`simonides bench scale`: recall on banks from ten thousand to a million memories."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.surfaces.cli.bench_inputs import ModelOption, SeedOption
from simonides.surfaces.cli.options import JsonOption, ProfileOption
from simonides.surfaces.cli.output import print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def scale(
    *,
    n: Annotated[
        list[int] | None,
        typer.Option(
            "--n", metavar="N", help="Memories; may be repeated, for the growth.", show_default="10000"
        ),
    ] = None,
    profile: ProfileOption = "helix",
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folder of the data sets, whose sentences are encoded for real vectors.",
            show_default="invented sentences",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="DIR",
            help="Keep the banks there, and use those that are there.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            "--against", metavar="NAME", help="Also ask fts5-sqlite-vec the same.", show_default="no one"
        ),
    ] = "",
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, help="Processes that prepare what is loaded.")
    ] = 1,
    embedder: ModelOption = "auto",
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Measure what recalls cost on banks of any size, beside exact search and budgets."""
    from simonides.evaluation.scale import ScaleRun, run_scale
    from simonides.models.catalogue import DEFAULT_EMBEDDER
    from simonides.models.resolve import load_embedder

    place = TemporaryDirectory(prefix="simonides-bench-") if keep is None else nullcontext(str(keep))
    with place as folder, bars() as progress:
        model = load_embedder(DEFAULT_EMBEDDER if embedder == "auto" else embedder, progress=progress)
        run = ScaleRun(Path(folder), data, model, profile, against, workers, seed)
        answer = run_scale(run, n or [10_000], progress=progress)
    if as_json:
        print_json(answer)
        return
    for one in answer.get("sizes", [answer]):
        _print(one)
    if "slopes" in answer:
        _print_rows("growth", ("slope of the logarithms",), [(k, [v]) for k, v in answer["slopes"].items()])


def _print(one: "Mapping[str, Any]") -> None:
    limits = one["budgets"]
    print_text(f"{one['n']:,} memories, profile {one['profile']}, {one['queries']} queries")
    names = ("cpu p50", "cpu p95", "budget")
    rows: list[tuple[str, list[Any]]] = [
        (name, [stage["cpu_p50"], stage["cpu_p95"], limits["stages_ms"].get(name, "")])
        for name, stage in one["stages"].items()
    ]
    rows.append(("total", [one["cpu_ms"]["p50"], one["cpu_ms"]["p95"], limits["cpu_p95_ms"] or ""]))
    _print_rows("milliseconds", names, rows)
    measures = {
        "wall ms, p95": one["wall_ms"]["p95"],
        "load average": one["load_average"],
        "dense recall@100 against exact": one["dense_recall_at_100"],
        "the same of a plain 1-bit scan": one["plain_scan_recall_at_100"],
        "resident MB": one["rss_mb"],
        "mapped MB": one["mapped_mb"],
        "bytes on disk per memory": one["disk_bytes_per_memory"],
        "cold open ms": one["cold_open_ms"],
        "cold command ms": one["cold_command_ms"],
        "loaded per second": one["intake"]["rows_per_second"],
    }
    if "cpu_ratio" in one:
        measures |= {
            f"{one['against']['name']}, {setting}: CPU by ours": one["against"][setting]["cpu_ratio"]
            for setting in ("cheapest", "rescored")
        }
    _print_rows("measure", ("value",), [(name, [value]) for name, value in measures.items()])


def _print_rows(first: str, names: "Sequence[str]", rows: "Sequence[tuple[str, list[Any]]]") -> None:
    shown = table(first, *names, numbers=names)
    for name, values in rows:
        shown.add_row(name, *(f"{value:,}" if isinstance(value, int | float) else value for value in values))
    print_table(shown)
