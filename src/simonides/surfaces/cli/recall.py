"""`simonides recall`: ask, and see hits, a context for a prompt, or everything as JSON."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.records.recall import STANDING, not_in_memory, percent
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, RedactOption, StoreOption, ZoneOption
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
from simonides.surfaces.cli.recall_options import takes_recall_options
from simonides.surfaces.cli.trace import print_trace

LONGEST_WAIT_SECONDS = 3_600
"""For a job; each of its requests to a model has a shorter limit of its own."""

if TYPE_CHECKING:
    from rich.table import Table

    from simonides.records.explanation import Trace
    from simonides.records.recall import Recall


@takes_recall_options
def recall(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The question, or keywords.", show_default=False)
    ],
    *,
    asked: dict[str, Any],
    context: Annotated[
        bool, typer.Option("--context", help="Print only the text to put into a prompt.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show what each stage did, on standard error or in the JSON.")
    ] = False,
    count_returned: Annotated[
        bool, typer.Option("--count-returned", help="Count every returned memory as used.")
    ] = False,
    include_sources: Annotated[
        bool,
        typer.Option("--include-sources", help="Also return the memories for and against each observation."),
    ] = False,
    helper: Annotated[
        list[str] | None,
        typer.Option(
            "--helper",
            metavar="NAME",
            help="With --tier async: hyde, query2doc, multi_query (repeatable); each asks a language model.",
            show_default=False,
        ),
    ] = None,
    redact: RedactOption = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Search the memories for an answer; exit code 1 when nothing matches.

    With --tier async the command names a job and waits for its answer; `simonides jobs get` shows it again.
    """
    with (
        _trace_speaks(),
        bars() as progress,
        open_for_reading(
            store,
            bank,
            embedder=environment_embedder(),
            progress=progress,
            later=asked.get("tier") == "async",
            redact=redact,
            zone=zone,
        ) as opened,
    ):
        answer = opened.recall(
            query,
            explain=trace,
            count_returned=count_returned,
            include_sources=include_sources,
            helpers=helper or None,
            **asked,
        )
        if answer.job:
            say(f"job {answer.job} started")
            answer = opened.job(answer.job, wait_seconds=LONGEST_WAIT_SECONDS).recall or answer
    print_recall(answer, context=context, trace=trace, as_json=as_json)


def print_recall(answer: "Recall", *, context: bool, trace: bool, as_json: bool) -> None:
    """An answer for people, or as JSON; the exit code says whether it is one."""
    if as_json:
        print_json(answer.to_dict(trace=trace))
    elif context:
        if answer.context:
            print_text(answer.context)
    elif answer.standing or answer.told:
        print_table(_hits(answer))
    if answer.evidence and not as_json and not context:
        print_text("\n".join(_behind(answer)))
    if answer.chunks and not as_json and not context:
        print_text("\n".join(_chunks(answer)))
    if trace and not as_json:
        print_trace(answer.trace)
    else:
        _note(answer.trace)
    _remark(answer)
    if answer.no_match or not (answer.standing or answer.hits):
        raise typer.Exit(NEGATIVE)


@contextmanager
def _trace_speaks() -> Iterator[None]:
    """Keep the engine's log quiet, since what it would say stands in the trace; a slow recall is said."""
    handlers = {"simonides": logging.NullHandler(), "simonides.recall": _Says(logging.WARNING)}
    for name, handler in handlers.items():
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, handler in handlers.items():
            logging.getLogger(name).removeHandler(handler)


class _Says(logging.Handler):
    """Says a line of the log on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


_WITHOUT_A_MODEL = frozenset({"embedding: no embedder", "dense: the query has no vector"})
"""What follows where there is no model: a reader has chosen that, or the model is named beside it."""


def _note(trace: "Trace") -> None:
    """What a person should know about how the answer came about, when the trace is not shown."""
    degraded = [reason for reason in trace.degraded if reason not in _WITHOUT_A_MODEL]
    if degraded:
        say(f"note: {'; '.join(degraded)}")
    if trace.settings:
        say(f"note: set by the environment: {', '.join(trace.settings)}")


def _remark(answer: "Recall") -> None:
    """Whether the answer is one, and which hits are not shown."""
    if answer.trace.skipped:
        say(f"no search was made: {answer.trace.skipped}")
    elif answer.band == "none" and answer.hits:
        say(f"{not_in_memory(answer.no_match_reasons)[:-1]} (--json shows the nearest)")
    elif not answer.hits:
        say("nothing found")
    elif len(answer.told) < len(answer.hits):
        rest = len(answer.hits) - len(answer.told)
        say(f"{rest} less likely ones are not shown (--precision wide shows all)")


def _hits(answer: "Recall") -> "Table":
    """What the answer tells; how likely each answers, else its score."""
    from rich.text import Text

    number = "score" if answer.confidence is None else "relevance"
    rows = table("rank", number, "date", "kind", "text", numbers=("rank", number))
    for column in rows.columns[2:4]:
        column.no_wrap = True
    for hit in (*answer.standing, *answer.told):
        memory = hit.memory
        precision = memory.occurred.precision if memory.occurred else None
        date = when(memory.event_time, precision)
        # The id stands under the text, where no width is lost to it; `show` and `forget` take it.
        if hit.scored_by == STANDING:
            rank, value, mark = "", STANDING, ""
        else:
            rank, mark = str(hit.rank), answer.mark_of(hit)
            value = f"{hit.score:.4f}" if hit.relevance is None else percent(hit.relevance)
        text = Text(mark + printable(hit.text)).append(f"\n{hit.id}", style="dim")
        rows.add_row(rank, value, date, hit.kind, text)
    return rows


def _behind(answer: "Recall") -> "Iterator[str]":
    """The memories for and against each observation that the answer tells."""
    told = {hit.id for hit in answer.told}
    for memory, behind in answer.evidence.items():
        if memory not in told:
            continue
        yield f"\nbehind {memory}:"
        for each in behind:
            yield f"  {each.stance:<7}  {each.memory.id}  {each.memory.text}"


def _chunks(answer: "Recall") -> "Iterator[str]":
    """The raw sources behind the hits, each under a line that says whose they are."""
    ranks = {hit.id: hit.rank for hit in answer}
    for chunk in answer.chunks:
        told = ", ".join(str(ranks[memory]) for memory in chunk.memories if memory in ranks)
        names = ", ".join(filter(None, (chunk.document, chunk.session, chunk.speaker)))
        yield f"\nsource of {told}{f' ({names})' if names else ''}:\n{chunk.text}"
