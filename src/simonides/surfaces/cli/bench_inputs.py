"""What the commands that measure recall take alike: a data set, banks that are kept."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from simonides.errors import ModelError
from simonides.surfaces.cli.opening import embedder_choice, environment_embedder
from simonides.surfaces.cli.options import option
from simonides.surfaces.cli.progress import Report

if TYPE_CHECKING:
    from simonides.protocols import Embedder

DatasetOption = Annotated[str, option("--dataset NAME", "locomo or musique.")]
DataOption = Annotated[Path, option("--data DIR", "Folder that holds the dataset's own folder.")]
LimitOption = Annotated[int | None, option("--limit N", "Only the first N questions.", "all")]
EmbedderOption = Annotated[str | None, option("--embedder NAME", "auto, none, or a model's name.", "auto")]
WithoutOption = Annotated[
    list[str] | None, option("--without STAGE", "Leave a stage of the profile out; may be repeated.")
]
SetOption = Annotated[
    list[str] | None, option("--set STAGE.OPTION=VALUE", "Change an option of the profile; may be repeated.")
]
SeedOption = Annotated[int, option("--seed N", "Of all that is drawn.", min=0)]
KeepBanksOption = Annotated[
    Path | None, option("--keep-banks DIR", "Keep the retained banks there, and use those that are there.")
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
