"""A trace for people, on standard error: the viewpoint, one table of stages, then whatever was unusual."""

from typing import TYPE_CHECKING

from simonides.records.interval import from_micros
from simonides.surfaces.cli.output import print_table, printable, say, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from simonides.records.explanation import StageTrace, Trace


def print_trace(trace: "Trace") -> None:
    """Print it: what was asked from where, each stage's line, settings, what did less, the retry ladder."""
    say("\n".join(_head(trace)))
    print_table(_stages(trace), err=True)
    if trace.ladder:
        print_table(_ladder(trace), err=True)
    for line in _tail(trace):
        say(line)


def _head(trace: "Trace") -> "Iterator[str]":
    yield (
        f"profile {trace.profile}: {trace.rows:,} rows, {trace.visible:,} visible, "
        f"{trace.eligible:,} eligible; {trace.milliseconds:.1f} ms"
    )
    moments = {"as of": trace.as_of, "known at": trace.known_at}
    yield "; ".join(f"{name} {_moment(micros)}" for name, micros in moments.items())


def _stages(trace: "Trace") -> "Table":
    rows = table("stage", "shape", "technique", "ms", "out", "reason", numbers=("ms", "out"))
    for column in rows.columns[:3]:
        column.no_wrap = True
    for stage in trace.stages:
        rows.add_row(
            printable(stage.name),
            stage.shape,
            printable(stage.technique),
            f"{stage.milliseconds:.1f}",
            f"{stage.count:,}",
            printable(_reason(stage)),
        )
    return rows


def _reason(stage: "StageTrace") -> str:
    """Why the stage did less than asked or sees no match, then the numbers it judged by."""
    evidence = ", ".join(f"{name} {value:.3g}" for name, value in stage.evidence.items())
    return "; ".join(filter(None, (stage.reason, *stage.no_match, evidence)))


def _ladder(trace: "Trace") -> "Table":
    rows = table("attempt", "hits", "status", "searched for", numbers=("hits",))
    for attempt in trace.ladder:
        rows.add_row(attempt.strategy, f"{attempt.hits:,}", attempt.status, printable(attempt.query))
    return rows


def _tail(trace: "Trace") -> "Iterator[str]":
    if trace.settings:
        yield f"set by the environment: {', '.join(trace.settings)}"
    if trace.degraded:
        yield f"did less than asked: {'; '.join(trace.degraded)}"
    if trace.fell_back_to_bm25:
        yield "fell back to keyword search: the mode needs vectors"
    if trace.counters:
        counts = ", ".join(f"{name} {count}" for name, count in trace.counters.items())
        yield f"calls: {counts}"


def _moment(micros: int) -> str:
    moment = from_micros(micros)
    return "-" if moment is None else moment.isoformat(sep=" ", timespec="minutes")
