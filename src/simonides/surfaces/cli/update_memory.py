"""`simonides update-memory`: change what a memory says, or what is noted about it."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.records.kind import Kind, Layer
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.operating import objects, perform
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    ProjectOption,
    RedactOption,
    StoreOption,
    TagsOption,
)
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text


def update_memory(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, as retain and recall print it.")
    ],
    *,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="What it says from now on.", show_default=False),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", metavar="KIND", help=f"{', '.join(Kind)}.", show_default=False),
    ] = None,
    layer: Annotated[
        Layer | None,
        typer.Option("--layer", metavar="LAYER", help=f"{', '.join(Layer)}.", show_default=False),
    ] = None,
    tag: TagsOption = None,
    project: ProjectOption = None,
    metadata: Annotated[
        str | None,
        typer.Option(
            "--metadata", metavar="JSON", help="An object, in place of what it has.", show_default=False
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Where it came from.")
    ] = None,
    path: Annotated[str | None, typer.Option("--path", metavar="PATH", help="Document path.")] = None,
    salience: Annotated[
        float | None, typer.Option("--salience", metavar="SHARE", help="Importance (salience), 0 to 1.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="SHARE", help="Confidence, 0 to 1.")
    ] = None,
    ttl: Annotated[
        str | None,
        typer.Option(
            "--ttl",
            metavar="TIME",
            help="How long it lives from now on, such as 45m, 12h, 30d or 2w, or never.",
            show_default=False,
        ),
    ] = None,
    expected_version: Annotated[
        int | None,
        typer.Option(
            "--expected-version",
            metavar="NUMBER",
            help="The version that you have seen; if it was changed since, nothing is.",
            show_default=False,
        ),
    ] = None,
    redact: RedactOption = None,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Change the text or the labels of a memory, as a new version. Exit code 1 when it is not there."""
    noted = None if metadata is None else objects(metadata, "--metadata")
    # Only other words are encoded.
    embedder = None if text is None else environment_embedder()
    with open_for_reading(store, bank, embedder=embedder, redact=redact) as opened:
        try:
            answer = perform(
                "update_memory",
                opened,
                memory=memory_id,
                text=text,
                kind=kind.value if kind else None,
                layer=layer.value if layer else None,
                tags=tag,
                project=project,
                metadata=noted,
                source=source,
                path=path,
                salience=salience,
                confidence=confidence,
                ttl=ttl,
                expected_version=expected_version,
            )
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    record = answer["memory"]
    if as_json:
        print_json(record)
    else:
        print_text(f"{record['id']} is at version {record['version']}")
