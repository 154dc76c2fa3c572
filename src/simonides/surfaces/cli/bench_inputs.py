"""What the commands that measure recall take alike: a data set, banks that are kept."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simonides.errors import ModelError
from simonides.surfaces.cli.opening import embedder_choice, environment_embedder
from simonides.surfaces.cli.progress import Report

if TYPE_CHECKING:
    from simonides.protocols import Embedder

DatasetOption = Annotated[str, typer.Option("--dataset", metavar="NAME", help="locomo or musique.")]
DataOption = Annotated[
    Path, typer.Option("--data", metavar="DIR", help="Folder that holds the dataset's own folder.")
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="Only the first N questions.", show_default="all")
]
EmbedderOption = Annotated[
    str | None,
    typer.Option("--embedder", metavar="NAME", help="auto, none, or a model's name.", show_default="auto"),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="STAGE", help="Leave a stage of the profile out; may be repeated."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="STAGE.OPTION=VALUE", help="Change an option of the profile; may be repeated."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of all that is drawn.")]
KeepBanksOption = Annotated[
    Path | None,
    typer.Option(
        "--keep-banks", metavar="DIR", help="Keep the retained banks there, and use those that are there."
    ),
]


def chosen_embedder(name: str | None, progress: Report | None) -> "Embedder | Literal['auto'] | None":
    """The embedder that an option names, or else the environment."""
    return measured_embedder(environment_embedder() if name is None else embedder_choice(name), progress)


def measured_embedder(choice: str | None, progress: Report | None) -> "Embedder | Literal['auto'] | None":
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
