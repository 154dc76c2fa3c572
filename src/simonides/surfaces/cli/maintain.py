"""`simonides maintain`: move memories up, put old ones away, sum up what is said again."""

from typing import TYPE_CHECKING, Annotated

import typer

from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, ProfileOption, StoreOption, given
from simonides.surfaces.cli.output import print_json, print_text
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from simonides.lifecycle.step import MaintenanceReport
    from simonides.models.llm import LanguageModel


def maintain(
    *,
    profile: ProfileOption = "default",
    most: Annotated[
        int | None,
        typer.Option("--most", metavar="N", min=1, help="Steps at most.", show_default="10,000"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
    ] = False,
    llm: Annotated[
        bool,
        typer.Option(
            "--llm",
            help="Have the language model of the settings write new observations; sends it their sources.",
        ),
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Promote memories, archive old ones, summarise repeated statements; nothing is deleted.

    A run that is cut short is simply made again. Only one process maintains a bank at a time.
    """
    model = _model() if llm and not dry_run else None
    with (
        bars() as progress,
        # Words of its own need a vector of their own.
        open_for_reading(store, bank, embedder=environment_embedder() if model else None) as opened,
    ):
        report = opened.maintain(
            profile=profile, dry_run=dry_run, progress=progress, model=model, **given(most=most)
        )
    if as_json:
        print_json(report.to_dict())
    else:
        print_text(_lines(report))


def _model() -> "LanguageModel":
    from simonides.errors import InputError
    from simonides.surfaces.cli.language_model import environment_model

    model = environment_model()
    if model is None:
        raise InputError("--llm", "no language model is set up; name one with SIMONIDES_LLM_MODEL")
    return model


def _lines(report: "MaintenanceReport") -> str:
    lines = []
    for step in report.steps:
        change = " → ".join(part for part in (step.was, step.became) if part)
        lines.append(f"{step.action:<8}  {step.memory or '(new)':<16}  {change}: {step.reason}")
    done = "would be made" if report.dry_run else "made"
    waits = f", {report.left:,} wait for the next run" if report.left else ""
    return "\n".join([*lines, f"{len(report.steps):,} steps {done}{waits}"])
