"""`simonides bench compare`: runs or profiles beside a first one, with what luck may have done."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.bench_inputs import (
    EmbedderOption,
    KeepBanksOption,
    LimitOption,
    SeedOption,
    chosen_embedder,
)
from simonides.surfaces.cli.options import JsonOption, option
from simonides.surfaces.cli.output import print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.evaluation.comparing import Difference

_FILES = (".json", ".run", ".trec", ".txt", ".gz")


def compare(
    *,
    systems: Annotated[
        list[str],
        typer.Argument(metavar="A B...", help="Result files, TREC runs, or profiles; A is the first."),
    ],
    dataset: Annotated[str | None, option("--dataset NAME", "For profiles: locomo or musique.")] = None,
    data: Annotated[Path | None, option("--data DIR", "For profiles: folder of the data sets.")] = None,
    qrels: Annotated[
        Path | None, option("--qrels FILE", "Judgements of TREC runs.", "beside each run")
    ] = None,
    limit: LimitOption = None,
    embedder: EmbedderOption = None,
    seed: SeedOption = 0,
    keep_banks: KeepBanksOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare systems with the first: difference, 95 % interval, and p adjusted by Holm."""
    from simonides.evaluation.asking import keep_banks as kept
    from simonides.evaluation.comparing import compare_systems
    from simonides.evaluation.datasets import load_dataset
    from simonides.evaluation.quality import checked
    from simonides.evaluation.results import Measured, read_measured
    from simonides.retain.conversations import WINDOW

    found: dict[str, Measured] = {
        name: read_measured(Path(name), qrels) for name in systems if Path(name).suffix in _FILES
    }
    profiles = [name for name in systems if name not in found]
    if profiles:
        if dataset is None or data is None:
            raise InputError(
                "dataset",
                f"{profiles[0]!r} is taken for a profile, which needs --dataset and --data; a result file "
                f"ends in one of {', '.join(_FILES)}",
            )
        asked = checked(load_dataset(dataset, data), limit, WINDOW)
        with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
            model = chosen_embedder(embedder, progress)
            banks = kept(asked, keep_banks or Path(folder), window=WINDOW, embedder=model, progress=progress)
            for name in profiles:
                found[name] = Measured(name, banks.ask(name, progress=progress))
    answer = compare_systems([found[name] for name in systems], seed=seed)
    if as_json:
        print_json(answer.to_dict())
        return
    print_differences(answer.overall)
    if answer.by_category:
        print_text("")
        print_differences(answer.by_category)


def print_differences(lines: "Sequence[Difference]") -> None:
    """A table; the gain is the second system's gain over the first."""
    numbers = ("n", "mean", "gain", "95 %", "p (Holm)")
    rows = table("system", "measure", *numbers, numbers=numbers)
    rows.columns[0].no_wrap = rows.columns[1].no_wrap = True
    rows.title = f"gain over {lines[0].first}" if lines else ""
    for line in lines:
        rows.add_row(
            f"{line.second}, {line.category}" if line.category else line.second,
            line.measure,
            f"{line.questions:,}",
            f"{line.second_mean:.4f}",
            f"{line.difference:+.4f}",
            f"{line.low:+.3f} {line.high:+.3f}",
            f"{line.p_holm:.4f}",
        )
    print_table(rows)
