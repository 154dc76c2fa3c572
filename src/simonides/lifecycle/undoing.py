"""Takes moves back, and notes which names of a memory lead nowhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.records.kind import ARCHIVED
from simonides.retain.supersession import CLOSE, reopen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simonides.lifecycle.staleness import DeadReference
    from simonides.records.memory import Move
    from simonides.storage.writer import WriteTransaction


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
