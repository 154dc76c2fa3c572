"""One maintenance run: plan from one read, then make the steps in batches, each batch one transaction.

Order: promotions, archivings, observations; inside each by the first version's ordinal, withdrawals first.
The plan depends on nothing but the bank and the clock, and every step is looked at again inside its
transaction. So a run that is cut short, or killed, is simply made again, and a run on a bank where nothing is
due changes nothing. Cost: one pass over the memories that the bank holds now, whatever is due.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from simonides.backends.embedded.upkeep import read_moves, read_standing
from simonides.lifecycle.moving import Moves, archivings, promotions
from simonides.lifecycle.observing import Planned, plan_observations, write_planned
from simonides.lifecycle.step import MaintenanceReport, Step
from simonides.records.state import ALL_STATES, ARCHIVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from simonides.backends.embedded.bank import EmbeddedBank
    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.lifecycle.thresholds import Thresholds

AT_ONCE = 64
"""Steps in one transaction."""

MOST_STEPS = 10_000
"""Of one run, unless its caller says otherwise."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A step that is due, with the plan of an observation where it is about one."""

    step: Step
    planned: Planned | None = None


def maintain(
    rows: EmbeddedBank,
    thresholds: Thresholds,
    now: Callable[[], int],
    *,
    most: int = MOST_STEPS,
    dry_run: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> MaintenanceReport:
    """Make what is due, at most *most* steps.

    Args:
        rows: of the bank.
        thresholds: of the profile.
        now: the clock, microseconds UTC.
        most: steps at most.
        dry_run: write nothing; the report says what a run would do.
        progress: told ("maintenance steps", done, of how many) after each batch.

    Raises:
        UnavailableError: another process maintains the bank, or it cannot be written.
    """
    if dry_run:
        due = _plan(rows, thresholds, now())
        would = tuple(each.step for each in due[:most])
        return MaintenanceReport(would, len(due) - len(would), dry_run=True)
    with rows.maintaining():
        due = _plan(rows, thresholds, now())
        made: list[Step] = []
        wanted = due[:most]
        for first in range(0, len(wanted), AT_ONCE):
            batch = wanted[first : first + AT_ONCE]
            with rows.writing(now()) as transaction:
                steps = [step for each in batch if (step := _make(transaction, each)) is not None]
            made += steps
            if progress:
                progress("maintenance steps", first + len(batch), len(wanted))
        return MaintenanceReport(tuple(made), len(due) - len(wanted), dry_run=False)


def _plan(rows: EmbeddedBank, thresholds: Thresholds, now: int) -> list[_Due]:
    with rows.reading() as reading:
        # What was written under a clock that stood later is not undone by one that was set back.
        moment = max(now, reading.meta.last_ingested)
        before = Moves(read_moves(reading.connection))
        steps = chain(
            promotions(read_standing(reading.connection, moment), thresholds, before, moment),
            archivings(read_standing(reading.connection, moment), thresholds, before, moment),
        )
        return [*map(_Due, steps), *_observations(reading.connection, thresholds, moment)]


def _observations(connection: apsw.Connection, thresholds: Thresholds, now: int) -> Iterator[_Due]:
    if thresholds.observations is not None:
        for planned in plan_observations(connection, thresholds.observations, now):
            yield _Due(planned.step, planned)


def _make(transaction: WriteTransaction, due: _Due) -> Step | None:
    """Make a step; ``None`` where the bank has moved on since it was planned."""
    step = due.step
    if due.planned is not None:
        memory = write_planned(transaction, due.planned)
        return replace(step, memory=memory) if memory else None
    ordinal = transaction.current_ordinal(step.memory)
    if ordinal is None:
        return None
    root, layer, state = transaction.columns(ordinal, "root", "layer", "state")
    if step.action == "promote":
        if layer != step.was:
            return None
        transaction.revise(ordinal, layer=step.became)
    else:
        if int(state) & ALL_STATES:
            return None
        transaction.revise(ordinal, state=int(state) | ARCHIVED)
    transaction.upkeep.note(int(root), step.action, step.was, step.became, step.reason)
    return step
