"""One maintenance run: plan from one read, then make the steps in batches, each batch one transaction.

Order: times to live that have ended, returns, promotions, archivings, observations; inside each by the first
version's ordinal, withdrawals first. A language model, if any, is asked between two transactions.
The plan depends only on the bank and the clock, and every step is checked again inside its transaction. So a
run that was cut short or killed is simply repeated, and a run on a bank where nothing is due changes nothing.
Cost: one pass over the memories that the bank holds now, whatever is due.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from simonides.lifecycle.moving import Moves, archivings, promotions, returns
from simonides.lifecycle.observing import (
    MOST_SOURCES,
    MOST_TOLD,
    Planned,
    clearest,
    plan_observations,
    word,
    write_planned,
)
from simonides.lifecycle.step import MaintenanceReport, Step
from simonides.options import MOST_STEPS
from simonides.records.interval import latest_recorded
from simonides.records.kind import ALL_STATES, ARCHIVED
from simonides.records.time_to_live import ERASE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simonides.lifecycle.observing import Wording, Writer
    from simonides.lifecycle.thresholds import Thresholds
    from simonides.records.time_to_live import Due
    from simonides.storage.bank import BankStorage
    from simonides.storage.reader import Reader
    from simonides.storage.writer import WriteTransaction

AT_ONCE = 64
"""Steps in one transaction."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A step that is due: of a time to live, about an observation with its plan, or of a memory that ages."""

    step: Step
    expiry: Due | None = None
    planned: Planned | None = None
    wording: Wording | None = None
    writer: Writer | None = None


def maintain(
    rows: BankStorage,
    thresholds: Thresholds,
    now: Callable[[], int],
    *,
    most: int = MOST_STEPS,
    dry_run: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
    writer: Writer | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> MaintenanceReport:
    """Make what is due, at most *most* steps.

    Args:
        now: the clock, microseconds UTC.
        most: steps at most.
        dry_run: write nothing; the report says what a run would do.
        progress: told ("maintenance steps", done, of how many) after each batch.
        writer: has a language model write new observations; ``None`` = in the words of a source.
        stopping: asked before each batch; what is left when it says so waits for the next run.

    Raises:
        UnavailableError: another process maintains the bank, or it cannot be written.
    """
    if dry_run:
        ended = _ended(rows, thresholds, now())
        over = {due.step.memory for due in ended}
        due = [*ended, *(each for each in _plan(rows, thresholds, now()) if each.step.memory not in over)]
        would = tuple(each.step for each in due[:most])
        return MaintenanceReport(would, len(due) - len(would), dry_run=True)
    with rows.maintaining():
        made: list[Step] = []
        begun = left = 0
        # The rest is planned when times to live have ended: nothing may sum up what is to be erased.
        for plan in (_ended, _plan):
            due = plan(rows, thresholds, now())
            wanted, done = due[: most - begun], 0
            while done < len(wanted) and not stopping():
                batch = wanted[done : done + AT_ONCE]
                if writer is not None:
                    batch, writer = _worded(rows, batch, writer)
                with rows.writing(now()) as transaction:
                    steps = [step for each in batch if (step := _end_or_make(transaction, each)) is not None]
                    if any(step.action == "erase" for step in steps):
                        rows.drop_reranker()
                made += steps
                done += len(batch)
                if progress:
                    progress("maintenance steps", begun + done, begun + len(wanted))
            begun += len(wanted)
            left += len(due) - done
        return MaintenanceReport(tuple(made), left, dry_run=False)


def _ended(rows: BankStorage, _: Thresholds, now: int) -> list[_Due]:
    with rows.reading() as reading:
        return [_Due(_step_of(expiry), expiry) for expiry in reading.due(now)]


def _worded(rows: BankStorage, batch: list[_Due], writer: Writer) -> tuple[list[_Due], Writer | None]:
    """The batch with a language model's words for new observations; no writer when it cannot be asked."""
    worded: list[_Due] = []
    asking: Writer | None = writer
    for due in batch:
        belief = due.planned.belief if due.planned and due.planned.ordinal is None else None
        if belief is None or asking is None:
            worded.append(due)
            continue
        sources = clearest(belief.members[:MOST_SOURCES])[:MOST_TOLD]
        with rows.reading() as reading:
            texts = [memory.text for memory in reading.memories([source.ordinal for source in sources])]
        wording = word(asking, texts)
        step = replace(due.step, reason=f"{due.step.reason}; {wording.note}")
        worded.append(replace(due, step=step, wording=wording, writer=asking))
        if wording.over:
            asking = None
    return worded, asking


def _plan(rows: BankStorage, thresholds: Thresholds, now: int) -> list[_Due]:
    with rows.reading() as reading:
        moment = latest_recorded(now, reading.meta.last_ingested)
        before = Moves(reading.moves())
        steps = chain(
            returns(reading.current_versions(moment), before, now),
            promotions(reading.current_versions(moment), thresholds, before, moment),
            archivings(reading.current_versions(moment), thresholds, before, moment),
        )
        return [*map(_Due, steps), *_observations(reading, thresholds, moment)]


def _step_of(expiry: Due) -> Step:
    if expiry.task == ERASE:
        return Step("erase", expiry.memory, "", "erased", expiry.reason)
    return Step("archive", expiry.memory, "", "archived", expiry.reason)


def _observations(reading: Reader, thresholds: Thresholds, now: int) -> Iterator[_Due]:
    if thresholds.observations is not None:
        for planned in plan_observations(reading, thresholds.observations, now):
            yield _Due(planned.step, planned=planned)


def _end_or_make(transaction: WriteTransaction, due: _Due) -> Step | None:
    if due.expiry is not None:
        return due.step if transaction.maintenance.end_due([due.expiry]) else None
    return _make(transaction, due)


def _make(transaction: WriteTransaction, due: _Due) -> Step | None:
    """Make a step; ``None`` where the bank has moved on since it was planned."""
    step = due.step
    if due.planned is not None:
        item = due.wording.item if due.wording else None
        if item is None or due.writer is None:
            memory = write_planned(transaction, due.planned)
        else:
            due.writer.fit(transaction, item)
            memory = write_planned(transaction, due.planned, item, due.writer.model.model)
        return replace(step, memory=memory) if memory else None
    held = transaction.versions.current(step.memory)
    if held is None:
        return None
    if step.action == "return":
        return step if transaction.maintenance.return_archived(step.memory, step.reason) else None
    if step.action == "promote":
        if held.layer != step.was:
            return None
        transaction.versions.revise(held.ordinal, layer=step.became)
    else:
        if held.state & ALL_STATES:
            return None
        transaction.versions.revise(held.ordinal, state=held.state | ARCHIVED)
    transaction.maintenance.add_move(held.root, step.action, step.was, step.became, step.reason)
    return step
