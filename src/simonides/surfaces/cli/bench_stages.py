"""`simonides bench ablation` and `bench leaks`: what a profile's stages are worth, and what it hangs on."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from simonides.surfaces.cli.bench_compare import print_differences
from simonides.surfaces.cli.bench_inputs import (
    DataOption,
    DatasetOption,
    DistractorsOption,
    EmbedderOption,
    GoldOption,
    KeepBanksOption,
    LimitOption,
    SeedOption,
    chosen_embedder,
    prepared,
)
from simonides.surfaces.cli.options import JsonOption, ProfileOption
from simonides.surfaces.cli.output import print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import bars


def ablation(
    *,
    dataset: DatasetOption,
    data: DataOption,
    profile: ProfileOption = "default",
    stage: Annotated[
        list[str] | None,
        typer.Option(
            "--stage", metavar="STAGE", help="Only leave this one out; may be repeated.", show_default="all"
        ),
    ] = None,
    limit: LimitOption = None,
    embedder: EmbedderOption = None,
    gold: GoldOption = "original",
    distractors: DistractorsOption = 0,
    seed: SeedOption = 0,
    keep_banks: KeepBanksOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure a profile with each stage left out in turn, beside random, BM25 alone and a perfect order."""
    from simonides.evaluation.ablation import run_ablation
    from simonides.evaluation.comparing import REPORTED
    from simonides.evaluation.kept_banks import keep_banks as kept
    from simonides.evaluation.quality import checked
    from simonides.retain.conversations import WINDOW

    loaded = prepared(dataset, data, gold=gold, distractors=distractors, seed=seed)
    asked = checked(loaded, limit, WINDOW)
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        model = chosen_embedder(embedder, progress)
        place = keep_banks or Path(folder, "banks")
        banks = kept(asked, place, window=WINDOW, embedder=model, progress=progress)
        found = run_ablation(
            banks,
            asked,
            profile,
            Path(folder, "variants"),
            stages=stage or (),
            seed=seed,
            progress=progress,
        )
    answer = {"dataset": dataset, "embedder": banks.embedder_name, **found.to_dict()}
    if as_json:
        print_json(answer)
        return
    # All are in the JSON; more do not fit a narrow terminal.
    names = REPORTED
    rows = table("row", *names, numbers=("row", *names))
    rows.columns[0].justify = "left"
    for system, values in answer["rows"].items():
        rows.add_row(system, *(f"{values[name]:.4f}" for name in names))
    print_table(rows)
    for system, reason in found.refused.items():
        print_text(f"{system}: cannot run: {reason}")
    if found.compared:
        print_differences(found.compared.overall)


def leaks(
    *,
    dataset: DatasetOption,
    data: DataOption,
    profile: ProfileOption = "default",
    limit: LimitOption = None,
    embedder: EmbedderOption = None,
    seed: SeedOption = 0,
    keep_banks: KeepBanksOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure again with ids scrubbed, which must change nothing, and with speakers' names replaced."""
    from simonides.evaluation.leaks import run_leaks
    from simonides.evaluation.quality import checked
    from simonides.retain.conversations import WINDOW

    asked = checked(prepared(dataset, data), limit, WINDOW)
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        found = run_leaks(
            asked,
            profile,
            keep_banks or Path(folder),
            window=WINDOW,
            embedder=chosen_embedder(embedder, progress),
            seed=seed,
            progress=progress,
        )
    if as_json:
        print_json({"dataset": dataset, **found.to_dict()})
        return
    print_text(f"ids scrubbed: {len(found.ids_changed)} of {found.questions} rankings changed")
    print_differences(found.names_compared.overall)
