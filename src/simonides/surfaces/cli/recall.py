"""Commands that ask a bank: recall, reflect, why-not, brief, and the answers of jobs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import NotFoundError
from simonides.options import (
    ANSWER_TOKENS,
    ASYNC_TIER,
    COUNT_RETURNED,
    FILTERS,
    HELPERS,
    INCLUDE_SOURCES,
    LONGEST_WAIT_SECONDS,
    SEARCH,
    TIER,
    without,
)
from simonides.surfaces.cli.language_model import environment_model
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.operating import Command, takes
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    RedactOption,
    StoreOption,
    ZoneOption,
    option,
)
from simonides.surfaces.cli.output import (
    NEGATIVE,
    fail,
    print_json,
    print_table,
    print_text,
    printable,
    say,
    table,
    when,
)
from simonides.surfaces.cli.progress import bars
from simonides.surfaces.cli.trace import print_trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from simonides.records.explanation import Trace
    from simonides.records.recall import Recall

_ASKED = without((*FILTERS, *SEARCH), "query", "zone")


@takes((*_ASKED, ASYNC_TIER, COUNT_RETURNED, INCLUDE_SOURCES, HELPERS), into="asked")
def recall(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The question, or keywords.", show_default=False)
    ],
    *,
    asked: dict[str, Any],
    context: Annotated[bool, option("--context", "Print only the text to put into a prompt.")] = False,
    trace: Annotated[
        bool, option("--trace", "Also show what each stage did, on standard error or in the JSON.")
    ] = False,
    redact: RedactOption = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Search the memories for an answer; exit code 1 when nothing matches.

    With --tier async the command names a job and waits for its answer; `simonides get-job` shows it again.
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
        answer = opened.recall(query, explain=trace, **asked)
        if answer.job:
            say(f"job {answer.job} started")
            answer = opened.get_job(answer.job, wait_seconds=LONGEST_WAIT_SECONDS).recall or answer
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
    from simonides.records.recall import not_in_memory

    if answer.trace.skipped:
        say(f"no search was made: {answer.trace.skipped}")
    elif answer.band == "none" and answer.hits:
        say(f"{not_in_memory(answer.no_match_reasons)[:-1]} (--json shows the nearest)")
    elif not answer.hits:
        say(f"nothing found{_not_known_yet(answer.trace)}")
    elif len(answer.told) < len(answer.hits):
        rest = len(answer.hits) - len(answer.told)
        say(f"{rest} less likely ones are not shown (--precision wide shows all)")


def _not_known_yet(trace: "Trace") -> str:
    """What to add where a recall as of a moment cannot see what was stored later; else nothing."""
    from datetime import UTC, datetime

    from simonides.records.interval import DAY_MICROS

    if trace.as_of != trace.known_at or trace.known_at >= datetime.now(UTC).timestamp() * 1e6 - DAY_MICROS:
        return ""
    return "; what was stored after that moment is not seen, a later --known-at shows it"


def _hits(answer: "Recall") -> "Table":
    """What the answer tells; how likely each answers, else its score."""
    from rich.text import Text

    from simonides.records.recall import STANDING, percent

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


def get_job(
    job_id: Annotated[str, typer.Argument(metavar="ID", help="The job, as recall --tier async names it.")],
    *,
    context: Annotated[bool, option("--context", "Print only the text to put into a prompt.")] = False,
    trace: Annotated[
        bool, option("--trace", "Also show what each stage did, on standard error or in the JSON.")
    ] = False,
    no_wait: Annotated[bool, option("--no-wait", "Show the answer so far; do not wait.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print a job's answer; one that was broken off is begun again. Exit code 1 when nothing is recalled."""
    with (
        bars() as progress,
        open_for_reading(
            store, bank, embedder=environment_embedder(), progress=progress, later=True
        ) as opened,
    ):
        try:
            job = opened.get_job(job_id, wait_seconds=0 if no_wait else LONGEST_WAIT_SECONDS)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(job.to_dict(trace=trace))
        if job.recall is None or job.recall.no_match:
            raise typer.Exit(NEGATIVE)
    elif job.recall is None:
        say("still at work")
        raise typer.Exit(NEGATIVE)
    else:
        print_recall(job.recall, context=context, trace=trace, as_json=False)


@takes((*_ASKED, TIER, ANSWER_TOKENS), into="asked")
def reflect(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question.", show_default=False)],
    *,
    asked: dict[str, Any],
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Answer a question from memory, with citations; exit code 1 when memory holds no answer.

    The model is named by SIMONIDES_LLM_MODEL, SIMONIDES_LLM_BASE_URL and SIMONIDES_LLM_API_KEY. What was
    recalled is sent to it. Without one the recalled memories are printed.
    """
    model = environment_model()

    def show(text: str) -> None:
        if not as_json:
            typer.echo(printable(text), nl=False)

    with (
        bars() as progress,
        open_for_reading(
            store, bank, embedder=environment_embedder(), progress=progress, zone=zone
        ) as opened,
    ):
        answer = opened.reflect(query, answerer=model, on_text=show, **asked)
        sources = [(each.number, opened.get_memory(each.id)) for each in answer.citations]
    if as_json:
        print_json(answer.to_dict())
    else:
        print_text("" if answer.answer else answer.context)
        for number, memory in sources:
            print_text(f"[{number}] {memory.id}: {' '.join(memory.text.split())}")
        if answer.note:
            say(f"note: {answer.note}")
    if answer.no_match:
        raise typer.Exit(NEGATIVE)


def _show_why_not(answer: "Mapping[str, Any]") -> None:
    if answer["returned"]:
        print_text(f"{answer['id']} is returned: {answer['reason']}")
    else:
        short = (
            f" (short by {answer['short_by']:g} {answer['unit']})" if answer["short_by"] is not None else ""
        )
        print_text(f"{answer['id']} was lost at {answer['stage']}: {answer['reason']}{short}")
        if answer["remedy"]:
            print_text(f"what would keep it: {answer['remedy']}")
    if answer["verdicts"]:
        rows = table("stage", "shape", "verdict", "rank", "score", "note", numbers=("rank", "score"))
        for one in answer["verdicts"]:
            score = "" if one["score"] is None else f"{one['score']:.4f}"
            rank = str(one["rank"] or "")
            rows.add_row(one["stage"], one["shape"], one["verdict"], rank, score, one["note"])
        print_table(rows)


def _show_brief(answer: "Mapping[str, Any]") -> None:
    if not answer["text"]:
        say("no memories for a brief")
        return
    print_text(answer["text"])
    if answer["omitted"]:
        say(f"{len(answer['omitted'])} more did not fit; raise --max-tokens")


WHY_NOT = Command("why_not", _show_why_not, encodes="query")
BRIEF = Command(
    "brief",
    _show_brief,
    no=lambda answer: not answer["text"],
    as_json=lambda answer: answer,
    encodes="task",
)
