"""`simonides list-memories`: what a bank holds, page by page."""

from typing import Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import (
    BankOption,
    FromOption,
    JsonOption,
    KindsOption,
    ProjectOption,
    StoreOption,
    TagsMatchOption,
    TagsOption,
    ToOption,
    TypesOption,
    ZoneOption,
)
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_table, printable, say, table


def list_memories(
    *,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1_000, help="Memories at most on one page.")
    ] = 100,
    cursor: Annotated[
        str | None,
        typer.Option(
            "--cursor", metavar="ID", help="Where to continue: `next` of the page before.", show_default=False
        ),
    ] = None,
    kind: KindsOption = None,
    types: TypesOption = None,
    project: ProjectOption = None,
    tag: TagsOption = None,
    tags_match: TagsMatchOption = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="TIME", help="What held at this time in the world.", show_default="now"
        ),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at", metavar="TIME", help="Only what was stored by then.", show_default="--as-of"
        ),
    ] = None,
    start: FromOption = None,
    end: ToOption = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List what a bank holds, in the order of ids; exit code 1 when there is nothing."""
    with open_for_reading(store, bank, zone=zone) as opened:
        page = perform(
            "list_memories",
            opened,
            limit=limit,
            cursor=cursor,
            kinds=[each.value for each in kind] if kind else None,
            types=types or None,
            project=project,
            tags=tag,
            tags_match=tags_match,
            as_of=as_of,
            known_at=known_at,
            window=[start, end] if start is not None or end is not None else None,
        )
    if as_json:
        print_json(page)
    elif page["memories"]:
        rows = table("id", "kind", "text")
        for memory in page["memories"]:
            rows.add_row(memory["id"], memory["kind"], printable(memory["text"]))
        print_table(rows)
        if page["next"]:
            say(f"there are more: --cursor {page['next']}")
    else:
        say("no memories")
    if not page["memories"]:
        raise typer.Exit(NEGATIVE)
