"""`simonides reembed`: let a bank go over to another embedding model."""

from typing import TYPE_CHECKING, Annotated

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, given
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from simonides.lifecycle.reembedding import ReembedReport


def reembed(
    *,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="The new model; see `simonides models`.",
            show_default=False,
        ),
    ] = None,
    dimension: Annotated[
        int | None,
        typer.Option(
            "--dimension", metavar="N", min=1, help="Cut its vectors to N numbers.", show_default="not cut"
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
    ] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Keep the present model and drop an unfinished migration.")
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Migrate a bank to another embedding model; it is read and written meanwhile.

    Recall uses the old model until all is ready. A run that is cut short goes on when it is made again.
    """
    if abandon:
        if model is not None or dry_run:
            raise InputError("--abandon", "cannot be combined; leave out --model and --dry-run")
        _abandon(store, bank, as_json=as_json)
        return
    if model is None:
        raise InputError("--model", "is needed; `simonides models` lists the names")
    with bars() as progress, open_for_reading(store, bank, progress=progress) as opened:
        report = opened.reembed(model, dry_run=dry_run, progress=progress, **given(dimension=dimension))
    if as_json:
        print_json(report.to_dict())
    else:
        print_text(_told(report))


def _abandon(store: str | None, bank: str, *, as_json: bool) -> None:
    with open_for_reading(store, bank) as opened:
        was = opened.abandon_reembedding()
    if as_json:
        print_json({"abandoned": was})
    else:
        print_text("abandoned" if was else "no migration was unfinished")
    if not was:
        raise typer.Exit(NEGATIVE)


def _told(report: "ReembedReport") -> str:
    before = report.was or "no model"
    if report.dry_run:
        return f"{report.encoded:,} of {report.rows:,} versions would be encoded by {report.model}"
    if not report.switched:
        return f"the bank has {report.model} already; {report.dropped:,} old rows dropped"
    without = f", {report.without:,} could not be" if report.without else ""
    return (
        f"{report.encoded:,} versions encoded{without}, {report.links:,} links made; "
        f"the bank went over from {before} to {report.model}"
    )
