"""Which memories move up a layer, and which are archived.

    working  → episodic   after some minutes, or some uses        (EN-13)
    episodic → semantic   at some salience, and after some uses   (EN-13)
    any      → archived   when its retention has been below a floor for the whole grace period

    retention = 2^(−age / half-life)                                       (EN-05, EN-13, HX-09)
    half-life = the kind's · (1 + slowed_by_use · ln(1 + accesses)) / (1 + distrust · (1 − trust))

Age counts from the last use, else from the first recording, and is never negative, so a clock set back makes
nothing older. What recall makes of age and use is for the profile's priors.

A run whose clock stood years ahead archives too much. The next one whose clock is right finds the move
recorded later than now, and brings the memory back (ADR 0009).

A move that the owner undid is not made again. What is pinned is never archived, and neither is an
observation that rests on others, nor what has ended and is found by its time only.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from simonides.lifecycle.step import Step
from simonides.records.interval import CLOCK_SKEW, DAY_MICROS, from_micros
from simonides.records.kind import ARCHIVED, CONSOLIDATED, Layer
from simonides.retain.supersession import CLOSE, reopen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simonides.lifecycle.staleness import DeadReference
    from simonides.lifecycle.thresholds import Thresholds
    from simonides.records.memory import Move
    from simonides.records.versions import CurrentVersion
    from simonides.storage.writer import WriteTransaction


"""Microseconds."""


def half_life_days(memory: CurrentVersion, thresholds: Thresholds) -> float | None:
    """Days in which half of a memory fades; ``None`` = it never does."""
    days, rule = thresholds.half_life_days.get(memory.kind), thresholds.archive
    if days is None or rule is None:
        return None
    slowed = 1.0 + rule.slowed_by_use * math.log1p(max(0, memory.accesses))
    return days * slowed / (1.0 + rule.distrust * (1.0 - memory.trust))


def age_days(memory: CurrentVersion, now: int, returned_at: int | None = None) -> float:
    """Days since a memory was last of use, came back from the archive, or was first recorded."""
    latest = max(memory.first_recorded, memory.last_access or 0, returned_at or 0)
    return max(0, now - latest) / DAY_MICROS


def retention(age: float, half_life: float) -> float:
    """What is left after *age* days, 0 to 1."""
    return float(2.0 ** (-age / half_life))


def is_due(age: float, half_life: float, floor: float, grace_days: float) -> bool:
    """Whether retention has been below *floor* for *grace_days*."""
    return age >= half_life * math.log2(1.0 / floor) + grace_days


MINUTE = 60_000_000
"""Microseconds."""


class Moves:
    """What was moved before: which moves the owner undid, and when memories came back."""

    def __init__(self, moves: Iterable[Move]) -> None:
        self._undone: set[tuple[str, str, str]] = set()
        self.returned: dict[str, int] = {}
        self.archived: dict[str, int] = {}
        for move in moves:
            if move.action == "archive" and move.stands:
                self.archived[move.memory] = move.made_at_micros
            if move.action == "return":
                self.returned[move.memory] = move.made_at_micros
            elif not move.stands:
                self._undone.add((move.memory, move.action, move.became))

    def may(self, memory: str, action: str, became: str) -> bool:
        """Whether the owner has not undone this move before."""
        return (memory, action, became) not in self._undone


def promotions(
    standing: Iterable[CurrentVersion], thresholds: Thresholds, before: Moves, now: int
) -> Iterator[Step]:
    """Steps that move memories up; a memory that qualifies twice moves twice at once."""
    for memory in standing:
        if memory.state & (ARCHIVED | CONSOLIDATED) or memory.valid_to <= now:
            continue
        layer, reasons = memory.layer, list[str]()
        for became, reason in (_to_episodic(memory, thresholds, now), _to_semantic(memory, thresholds)):
            start = Layer.WORKING if became is Layer.EPISODIC else Layer.EPISODIC
            if reason and layer == start and before.may(memory.id, "promote", became.value):
                layer = became.value
                reasons.append(reason)
        if reasons:
            yield Step("promote", memory.id, memory.layer, layer, "; ".join(reasons))


def _to_episodic(memory: CurrentVersion, thresholds: Thresholds, now: int) -> tuple[Layer, str]:
    rule, reason = thresholds.episodic, ""
    if rule is not None:
        minutes = max(0, now - memory.first_recorded) / MINUTE
        if minutes >= rule.after_minutes:
            reason = f"recorded {rule.after_minutes:g} minutes ago or more"
        elif memory.accesses >= rule.accesses:
            reason = f"used {memory.accesses} times, {rule.accesses:g} are enough"
    return Layer.EPISODIC, reason


def _to_semantic(memory: CurrentVersion, thresholds: Thresholds) -> tuple[Layer, str]:
    rule, reason = thresholds.semantic, ""
    if rule is not None and memory.salience >= rule.salience and memory.accesses >= rule.accesses:
        reason = (
            f"salience {memory.salience:.2f}, {rule.salience:g} is enough; used {memory.accesses} times, "
            f"{rule.accesses:g} are enough"
        )
    return Layer.SEMANTIC, reason


def returns(standing: Iterable[CurrentVersion], before: Moves, now: int) -> Iterator[Step]:
    """Steps that bring back what a run archived whose clock stood ahead of *now*.

    Where the memory itself was recorded after *now*, it is the present clock that is wrong.
    """
    for memory in standing:
        made_at = before.archived.get(memory.id, now)
        if memory.state & ARCHIVED and memory.first_recorded <= now + CLOCK_SKEW < made_at:
            moment = from_micros(made_at)
            when = moment.isoformat() if moment else "an open end"
            yield Step(
                "return",
                memory.id,
                "archived",
                "",
                f"archived at {when}, later than now: the clock stood ahead",
            )


def archivings(
    standing: Iterable[CurrentVersion], thresholds: Thresholds, before: Moves, now: int
) -> Iterator[Step]:
    """Steps that put memories away."""
    rule = thresholds.archive
    if rule is None:
        return
    for memory in standing:
        half_life = half_life_days(memory, thresholds)
        # Any mark exempts: pinned, away already, or resting on others.
        # A program finds by its key what it put there.
        if half_life is None or memory.state or memory.keyed or memory.valid_to <= now:
            continue
        age = age_days(memory, now, before.returned.get(memory.id))
        if is_due(age, half_life, rule.floor, rule.grace_days) and before.may(
            memory.id, "archive", "archived"
        ):
            reason = (
                f"{age:.0f} days without use, half-life {half_life:.0f} days: "
                f"{retention(age, half_life):.4f} is left, the floor is {rule.floor:g}"
            )
            yield Step("archive", memory.id, "", "archived", reason)


def undo(transaction: WriteTransaction, move: Move) -> bool:
    """Take back a promotion, an archiving or an end as a new version; false when it cannot be, any more."""
    if move.action == CLOSE:
        undone = (
            move.stands
            and not _ended_again(transaction, move)
            and reopen(transaction, move.memory, move.became, move.was)
        )
        if undone:
            transaction.maintenance.undo_move(move.number)
        return undone
    held = transaction.versions.current(move.memory)
    if held is None or not move.stands:
        return False
    if move.action == "promote" and held.layer == move.became:
        transaction.versions.revise(held.ordinal, layer=move.was)
    elif move.action == "archive" and held.state & ARCHIVED:
        transaction.expiries.revive(held.root)
        transaction.versions.revise(held.ordinal, state=held.state & ~ARCHIVED)
    else:
        return False
    transaction.maintenance.undo_move(move.number)
    return True


def _ended_again(transaction: WriteTransaction, move: Move) -> bool:
    """Whether a memory that was ended by hand got another end after that, which stands."""
    ends = transaction.reading.moves(move.memory, actions=(CLOSE,))
    return not move.became and any(each.stands and each.number > move.number for each in ends)


def note_stale(transaction: WriteTransaction, checked: Iterable[str], found: Sequence[DeadReference]) -> None:
    """Record which names are dead in the memories that were *checked*; what is so already stays as it is."""
    dead: dict[str, list[str]] = {}
    for one in found:
        dead.setdefault(one.memory, []).append(f"{one.sort} {one.name}")
    noted = {move.memory: move for move in transaction.reading.moves(actions=("stale",)) if move.stands}
    for memory in checked:
        names = json.dumps(dead[memory], ensure_ascii=False) if memory in dead else ""
        before = noted.get(memory)
        if (before.became if before else "") == names:
            continue
        if before is not None:
            transaction.maintenance.undo_move(before.number)
        held = transaction.versions.current(memory) if names else None
        if held is not None:
            transaction.maintenance.add_move(held.root, "stale", "", names, "the folder does not have it")
