"""`simonides recall`: ask, and see hits, a context for a prompt, or everything as JSON."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    KindsOption,
    ProfileOption,
    ProjectOption,
    StoreOption,
    TagsOption,
    given,
)
from simonides.surfaces.cli.output import (
    NEGATIVE,
    print_json,
    print_table,
    print_text,
    printable,
    say,
    table,
    when,
)
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from rich.table import Table

    from simonides.records.recall import Recall
    from simonides.records.trace import Trace


def recall(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What you want to know.", show_default=False)],
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="Hits at most.", show_default="the profile's")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", help="Budget of the context.", show_default="4096"),
    ] = None,
    profile: ProfileOption = "default",
    kind: KindsOption = None,
    project: ProjectOption = None,
    tag: TagsOption = None,
    tags_match: Annotated[
        str | None,
        typer.Option(
            "--tags-match",
            metavar="HOW",
            help="How tags must match: any, any_strict, all, all_strict, exact.",
            show_default="any",
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="TIME", help="Answer for this time in the world.", show_default="now"
        ),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at", metavar="TIME", help="Use only what was stored by then.", show_default="--as-of"
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Only what happened from then on.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Only what happened before then.")
    ] = None,
    context: Annotated[
        bool, typer.Option("--context", help="Print only the text to put into a prompt.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also say what each stage did, on standard error or in the JSON.")
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Recall what helps; exit code 1 when nothing does."""
    arguments = given(
        limit=limit,
        max_tokens=max_tokens,
        kinds=kind,
        project=project,
        tags=tag,
        tags_match=tags_match,
        as_of=as_of,
        known_at=known_at,
        window=(start, end) if start is not None or end is not None else None,
    )
    with (
        _trace_speaks(),
        bars() as progress,
        open_for_reading(store, bank, embedder=environment_embedder(), progress=progress) as opened,
    ):
        answer = opened.recall(query, profile=profile, explain=trace, **arguments)
    if as_json:
        print_json(answer.to_dict(trace=trace))
    elif context:
        if answer.context:
            print_text(answer.context)
    elif answer.hits:
        print_table(_hits(answer))
    _remark(answer)
    if trace and not as_json:
        print_table(_stages(answer.trace), err=True)
    if answer.no_match or not answer.hits:
        raise typer.Exit(NEGATIVE)


@contextmanager
def _trace_speaks() -> Iterator[None]:
    """Keep the engine's log quiet: what it would say here stands in the trace, which is shown."""
    logger, silent = logging.getLogger("simonides"), logging.NullHandler()
    logger.addHandler(silent)
    try:
        yield
    finally:
        logger.removeHandler(silent)


def _remark(answer: "Recall") -> None:
    """What a person should know beside the answer."""
    if answer.trace.degraded:
        say(f"note: {'; '.join(answer.trace.degraded)}")
    if not answer.hits:
        say("nothing found")
    elif answer.no_match:
        say("nothing relevant found; the nearest are shown")


def _hits(answer: "Recall") -> "Table":
    from rich.text import Text

    rows = table("rank", "score", "date", "kind", "text", numbers=("rank", "score"))
    for column in rows.columns[2:4]:
        column.no_wrap = True
    for hit in answer:
        memory = hit.memory
        precision = memory.occurred.precision if memory.occurred else None
        date = when(memory.event_time, precision)
        # The id stands under the text, where no width is lost to it; `show` and `forget` take it.
        text = Text(printable(hit.text)).append(f"\n{hit.id}", style="dim")
        rows.add_row(str(hit.rank), f"{hit.score:.4f}", date, hit.kind, text)
    return rows


def _stages(trace: "Trace") -> "Table":
    rows = table("stage", "shape", "technique", "ms", "out", "reason", numbers=("ms", "out"))
    rows.title = (
        f"profile {printable(trace.profile)}: {trace.rows:,} rows, {trace.visible:,} visible, "
        f"{trace.eligible:,} eligible; {trace.milliseconds:.1f} ms"
    )
    for stage in trace.stages:
        rows.add_row(
            stage.name,
            stage.shape,
            stage.technique,
            f"{stage.milliseconds:.1f}",
            f"{stage.count:,}",
            printable(stage.reason),
        )
    return rows
