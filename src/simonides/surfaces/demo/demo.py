"""The demo: retain a year's journal, ask it ten questions, show what was found and what was not.

A question counts as answered when every memory that it needs is among the first five hits. What is needed is
written down beside the question (``questions.jsonl``), so a miss is shown as a miss, and so is a hit that is
not told (``Recall.told``).
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from simonides.records.kind import Kind
from simonides.records.recall import not_in_memory, percent
from simonides.store import open_store
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.records.explanation import Trace
    from simonides.records.recall import Recall
    from simonides.surfaces.cli.progress import Report

BANK = "demo"
_TOP = 5
# A batch is one transaction; several of them let the progress bar move.
_BATCH = 32


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the journal.

    Attributes:
        needs: what a memory must be good at to answer, for the reader.
        expected: words of each memory that is needed; each occurs in exactly one text of the journal.
        window: explicit time window (start, end), ISO dates, end excluded; ``None`` = any time.
        as_of: the day from which the world is seen, an ISO date; ``None`` = after the journal's end.
        bridge: pattern with one group, the name that a reader takes from a memory found; empty = one recall
            must find all that is expected.
        follow_up: asked next, ``{}`` replaced by that name; must find the last of ``expected``.
        traced: show what each stage did.
    """

    text: str
    needs: str
    expected: Sequence[str]
    window: Any = None
    as_of: str | None = None
    bridge: str = ""
    follow_up: str = ""
    traced: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """How the demo went: questions asked, whose memories were all in the top five, and were all shown."""

    asked: int
    answered: int
    shown: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Whether all that one question needs was found, and whether a reader sees it."""

    found: bool
    shown: bool


def after_the_journal() -> datetime:
    """A clock that stands on the morning after the last entry: the demo answers alike on any day."""
    return datetime(2026, 9, 1, 9, tzinfo=UTC)


def read_journal() -> list[dict[str, Any]]:
    """The journal's entries, oldest first, as ``Bank.retain`` takes them."""
    return _read("journal")


def _read(name: str) -> list[dict[str, Any]]:
    lines = files(__package__).joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


QUESTIONS = tuple(Question(**row) for row in _read("questions"))


def run_demo(
    store_path: str | Path, console: Console, *, embedder: Embedder | str | None = "auto"
) -> Summary:
    """Retain the journal in the bank ``demo``, ask the questions, print the answers; progress is on stderr.

    *store_path* is made when it does not exist; a second run adds nothing to it. *embedder* is as for
    ``simonides.open``; ``None`` = lexical recall only.
    """
    with ExitStack() as stack:
        with bars() as progress:
            store = stack.enter_context(
                open_store(
                    store_path, clock=after_the_journal, embedder=embedder, progress=progress, zone=UTC
                )
            )
            bank = store.bank(BANK)
            count = retain_journal(bank, progress)
        _say(console, f"Retained {count} memories from a year of an invented team.")
        outcomes = [_ask(bank, number, question, console) for number, question in enumerate(QUESTIONS, 1)]
    summary = Summary(
        len(outcomes), sum(each.found for each in outcomes), sum(each.shown for each in outcomes)
    )
    found = f"{summary.answered} found in the top {_TOP}, {summary.shown} of them shown"
    _say(console, f"\n{summary.asked} questions: {found}", "bold")
    return summary


def retain_journal(bank: Bank, progress: Report | None) -> int:
    """Store the journal; returns the number of its entries."""
    # Recorded on the day it tells of, so that a question "as of" a day sees what was known that day.
    items = [{**entry, "recorded_at": entry["event_time"]} for entry in read_journal()]
    for start in range(0, len(items), _BATCH):
        bank.retain(items[start : start + _BATCH])
        if progress:
            progress("memories retained", min(start + _BATCH, len(items)), len(items))
    return len(items)


def _ask(bank: Bank, number: int, question: Question, console: Console) -> _Outcome:
    """Ask one question and print what comes."""
    found = _recall(bank, question, question.text)
    by_meaning = any(stage.technique == "dense" and not stage.reason for stage in found.trace.stages)
    if number == 1 and not by_meaning:
        _say(console, f"Lexical recall only ({'; '.join(found.trace.degraded)}).", "yellow")
    _say(console, f"\n{number}. {question.text}", "bold")
    _say(console, f"   {question.needs}", "dim")
    if question.bridge:
        answered = _follow(bank, question, found, console)
    else:
        answered = _show_hits(found, question.expected, console)
    if question.traced:
        _show_trace(found.trace, console)
    return answered


def _follow(bank: Bank, question: Question, found: Recall, console: Console) -> _Outcome:
    """Take a name from what was found and ask on, as an agent would."""
    *first, last = question.expected
    first_hop = _show_hits(found, first, console)
    name = next((match[1] for hit in found.told if (match := re.search(question.bridge, hit.text))), None)
    if name is None:
        _say(console, f"   ✗ nothing to ask on with, so not found: “{last}”", "red")
        return _Outcome(found=False, shown=False)
    follow_up = question.follow_up.format(name)
    _say(console, f"   {follow_up}", "bold")
    second_hop = _show_hits(_recall(bank, question, follow_up), [last], console)
    return _Outcome(found=first_hop.found and second_hop.found, shown=first_hop.shown and second_hop.shown)


def _recall(bank: Bank, question: Question, query: str) -> Recall:
    return bank.recall(query, limit=_TOP, explain=True, window=question.window, as_of=question.as_of)


def _show_hits(found: Recall, expected: Sequence[str], console: Console) -> _Outcome:
    """Print the hits, needed ones marked and in full."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for width in (1, 1, len("100 %"), len("2026-01-01"), len(Kind.PREFERENCE)):
        table.add_column(min_width=width)
    for hit in found.told:
        needed = any(words in hit.text for words in expected)
        text = found.mark_of(hit) + hit.text
        day = hit.memory.event_time
        table.add_row(
            Text("✓" if needed else "", "green"),
            str(hit.rank),
            "" if hit.relevance is None else percent(hit.relevance),
            f"{day:%Y-%m-%d}" if day else "",
            hit.kind,
            Text(text) if needed else Text(text, "dim", no_wrap=True, overflow="ellipsis"),
        )
    console.print(table)
    if found.no_match:
        _say(console, f"   {not_in_memory(found.no_match_reasons)}")
    ranks = {words: next((hit.rank for hit in found if words in hit.text), None) for words in expected}
    places = sorted(filter(None, ranks.values()))
    if places:
        unread = ", but taken for too unlikely to be shown" if places[-1] > len(found.told) else ""
        _say(
            console,
            f"   ✓ found at rank {', '.join(map(str, places))}{unread}",
            "yellow" if unread else "green",
        )
    for words in [words for words, rank in ranks.items() if not rank]:
        _say(console, f"   ✗ not in the top {_TOP}: “{words}”", "red")
    complete = all(ranks.values())
    return _Outcome(found=complete, shown=complete and (not places or places[-1] <= len(found.told)))


def _show_trace(trace: Trace, console: Console) -> None:
    table = Table(
        "stage", "technique", "ms", "count", "reason", title="trace", title_justify="left", box=None
    )
    for stage in trace.stages:
        table.add_row(
            stage.name, stage.technique, f"{stage.milliseconds:.1f}", str(stage.count), stage.reason
        )
    table.add_row("in all", "", f"{trace.milliseconds:.1f}", f"{trace.eligible} of {trace.rows}", "")
    console.print(table)


def _say(console: Console, line: str, style: str = "") -> None:
    # Text keeps brackets in a memory from being read as markup.
    console.print(Text(line, style))
