"""`simonides models`: the models that can be had, and those that are here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import ModelError
from simonides.surfaces.cli.options import JsonOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text, say
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.models.resolve import ModelStatus

NameArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A model's name; see `simonides models list`.")
]

models = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@models.callback()
def _models() -> None:
    """List, fetch and check the embedding models."""


@models.command("list")
def list_all(*, as_json: JsonOption = False) -> None:
    """List the models and how each stands in the cache."""
    from simonides.models.resolve import list_models, list_sparse

    _print([*list_models(), *list_sparse()], as_json=as_json)


@models.command()
def pull(name: NameArgument = None, *, as_json: JsonOption = False) -> None:
    """Fetch, check and build a model, by default the default one."""
    from simonides.models.catalogue import DEFAULT_EMBEDDER
    from simonides.models.resolve import pull_model

    try:
        with bars() as progress:
            status = pull_model(name or DEFAULT_EMBEDDER, progress=progress)
    except ModelError as error:
        for note in getattr(error, "__notes__", ()):
            say(note)
        raise
    _print([status], as_json=as_json)


@models.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model's name; see `simonides models list`.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Holds model.onnx and tokenizer.json.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy a ready ONNX file into the cache, for a model that cannot be built here."""
    from simonides.models.resolve import add_model

    _print([add_model(name, folder)], as_json=as_json)


@models.command()
def verify(name: NameArgument = None, *, as_json: JsonOption = False) -> None:
    """Check every sum of a model, by default of all; exit code 1 when one is wrong.

    A model that is missing counts as wrong only when it is named.
    """
    from simonides.models.catalogue import CATALOGUE, SPARSE
    from simonides.models.resolve import verify_model

    known = [record.name for record in CATALOGUE] + [record.name for record in SPARSE]
    names = known if name is None else [name]
    statuses = [verify_model(each) for each in names]
    _print(statuses, as_json=as_json)
    wrong = {"damaged"} if name is None else {"damaged", "missing"}
    failed = [status for status in statuses if status.state in wrong]
    for status in failed:
        say(f"error: {status.problem}")
    if failed:
        raise typer.Exit(NEGATIVE)


def _print(statuses: "Sequence[ModelStatus]", *, as_json: bool) -> None:
    if as_json:
        print_json({"models": [_described(status) for status in statuses]})
        return
    width = max(len(status.record.name) for status in statuses)
    for status in statuses:
        record = status.record
        size = f"{status.size / 1e6:.1f} MB" if status.size else ""
        dimension = _dimension(status)
        facts = (size, f"{dimension} dimensions" if dimension else "", record.licence)
        print_text(f"{record.name:<{width}}  {status.state:<7}  {', '.join(filter(None, facts))}")
        print_text(f"    {record.description}")


def _described(status: "ModelStatus") -> dict[str, Any]:
    return {
        "name": status.record.name,
        "state": status.state,
        "folder": str(status.folder),
        "bytes": status.size,
        "source": status.source,
        "problem": status.problem,
        "dimension": _dimension(status),
        "max_tokens": status.record.max_tokens,
        "licence": status.record.licence,
        "description": status.record.description,
    }


def _dimension(status: "ModelStatus") -> int | None:
    """Of an embedder's vectors; a reranker has none."""
    return getattr(status.record, "dimension", None)
