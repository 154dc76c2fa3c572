"""Takes moves back, and notes which names of a memory lead nowhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.backends.embedded.expiry import revive
from simonides.backends.embedded.upkeep import read_moves
from simonides.records.kind import ARCHIVED
from simonides.retain.supersession import CLOSE, reopen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.lifecycle.staleness import DeadReference
    from simonides.records.memory import Move


def undo(transaction: WriteTransaction, move: Move) -> bool:
    """Take back a promotion, an archiving or an end as a new version; false when it cannot be, any more."""
    if move.action == CLOSE:
        undone = move.stands and reopen(transaction, move.memory, move.became, move.was)
        if undone:
            transaction.upkeep.mark_undone(move.number)
        return undone
    ordinal = transaction.current_ordinal(move.memory)
    if ordinal is None or not move.stands:
        return False
    layer, state, root = transaction.columns(ordinal, "layer", "state", "root")
    if move.action == "promote" and layer == move.became:
        transaction.revise(ordinal, layer=move.was)
    elif move.action == "archive" and int(state) & ARCHIVED:
        revive(transaction.connection, int(root), transaction.now)
        transaction.revise(ordinal, state=int(state) & ~ARCHIVED)
    else:
        return False
    transaction.upkeep.mark_undone(move.number)
    return True


def note_stale(transaction: WriteTransaction, checked: Iterable[str], found: Sequence[DeadReference]) -> None:
    """Record which names are dead in the memories that were *checked*; what is so already stays as it is."""
    dead: dict[str, list[str]] = {}
    for one in found:
        dead.setdefault(one.memory, []).append(f"{one.sort} {one.name}")
    noted = {
        move.memory: move
        for move in read_moves(transaction.upkeep.connection, actions=("stale",))
        if move.stands
    }
    for memory in checked:
        names = json.dumps(dead[memory], ensure_ascii=False) if memory in dead else ""
        before = noted.get(memory)
        if (before.became if before else "") == names:
            continue
        if before is not None:
            transaction.upkeep.mark_undone(before.number)
        ordinal = transaction.current_ordinal(memory)
        if names and ordinal is not None:
            (root,) = transaction.columns(ordinal, "root")
            transaction.upkeep.note(int(root), "stale", "", names, "the folder does not have it")
