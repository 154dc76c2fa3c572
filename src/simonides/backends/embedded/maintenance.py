"""Rows about maintenance: moves (what was done to a memory, and why) and the evidence of observations.

Each has the time at which it was recorded, so an earlier viewpoint does not see it, and belongs to a memory's
first version, so it is erased with the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.relations import copy_relations, copy_statements
from simonides.backends.embedded.rows import insert_into, keys, read_object, verified
from simonides.records.interval import FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import ARCHIVED
from simonides.records.memory import Move
from simonides.records.time_to_live import ERASE, EXPIRED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.backends.embedded.expiry import Expiries
    from simonides.backends.embedded.session import WriteSession
    from simonides.backends.embedded.versions import Versions
    from simonides.records.time_to_live import Due
    from simonides.records.versions import RowRef, StoredVersion

_ADDMOVE = insert_into("moves", "ordinal, action, was, became, reason, made_at, undone_at")
MOVE = (
    f"SELECT v.number, m.id, v.action, v.was, v.became, v.reason, v.made_at, v.undone_at"
    f" FROM {verified('moves v')} JOIN {keys('memories m')} ON m.ordinal = v.ordinal"
)


class Maintenance:
    """Maintenance inside a write transaction; see ``storage.writer.Maintenance``."""

    def __init__(self, session: WriteSession, versions: Versions, expiries: Expiries) -> None:
        self._session = session
        self._versions = versions
        self._expiries = expiries

    def add_move(self, root: int, action: str, was: str, became: str, reason: str) -> None:
        self._session.run(_ADDMOVE, root, action, was, became, reason, self._session.next_instant(), FOREVER)

    def read_move(self, number: int) -> Move | None:
        row = self._session.one(f"{MOVE} WHERE v.number=?", number)
        return None if row is None else Move(*row)

    def ends_of(self, root: int, memory: str) -> list[Move]:
        rows = self._session.all(
            f"{MOVE} WHERE v.action='close' AND v.undone_at=?1 AND v.became<>''"
            " AND (v.ordinal=?2 OR v.became=?3)"
            " ORDER BY v.number DESC",
            FOREVER,
            root,
            memory,
        )
        return [Move(*row) for row in rows]

    def undo_move(self, number: int) -> None:
        update = "UPDATE moves SET undone_at=? WHERE number=? AND undone_at=?"
        self._session.run(update, self._session.next_instant(), number, FOREVER)

    def undo_stale(self, root: int) -> None:
        update = "UPDATE moves SET undone_at=? WHERE ordinal=? AND action='stale' AND undone_at=?"
        self._session.run(update, self._session.next_instant(), root, FOREVER)

    def withdraw_observations(self, root: int) -> None:
        rows = self._session.all(
            f"SELECT DISTINCT o.ordinal, o.root FROM {verified('evidence e')} JOIN {keys('memories h')}"
            f" ON h.ordinal = e.observation JOIN {verified('memories o')} ON o.id = h.id"
            " AND o.expired_at = ?1"
            " WHERE e.source=?2 AND e.known_to=?1 ORDER BY o.ordinal",
            FOREVER,
            root,
        )
        for ordinal, observation in rows:
            stamp = self._session.next_instant()
            self.set_evidence(int(observation), {}, stamp)
            self._versions.expire(int(ordinal), stamp)

    def set_evidence(self, observation: int, stances: dict[int, str], stamp: int) -> None:
        select = f"SELECT source, stance FROM {verified('evidence')} WHERE observation=? AND known_to=?"
        rows = self._session.all(select, observation, FOREVER)
        held = {int(source): str(stance) for source, stance in rows}
        for source in sorted(held):
            if stances.get(source) != held[source]:
                update = "UPDATE evidence SET known_to=? WHERE observation=? AND source=? AND known_to=?"
                self._session.run(update, stamp, observation, source, FOREVER)
        insert = insert_into("evidence", "observation, source, stance, known_from, known_to")
        for source, stance in sorted(stances.items()):
            if held.get(source) != stance:
                self._session.run(insert, observation, source, stance, stamp, FOREVER)

    def return_archived(self, memory: str, reason: str) -> bool:
        held = self._versions.current(memory)
        if held is None:
            return False
        hidden = self._expiries.revive(held.root)
        if not hidden and not (held.state & ARCHIVED and self._was_archived(held)):
            return False
        self.add_move(held.root, "return", "archived", "", reason)
        self._versions.revise(held.ordinal, state=held.state & ~ARCHIVED)
        return True

    def _was_archived(self, held: StoredVersion) -> bool:
        tags = self._versions.compared_fields(held.ordinal).tags
        if not spaces_of(read_object(held.metadata), tags):
            return True
        move = f"SELECT 1 FROM {verified('moves')} WHERE ordinal=? AND action='archive' LIMIT 1"
        return self._session.one(move, held.root) is not None

    def continue_after(self, ordinal: int, trust: float, after: str, **changed: Any) -> RowRef:
        held = self._versions.read(ordinal)
        before = self._session.one(
            f"SELECT was FROM {verified('moves')} WHERE ordinal=? AND action='continue' LIMIT 1", held.root
        )
        fresh = self._versions.derive(ordinal, trust, **changed)
        copy_relations(self._session.connection, ordinal, fresh.ordinal)
        copy_statements(self._session.connection, ordinal, fresh.ordinal)
        self._expiries.copy(held.root, fresh.root)
        first = str(before[0]) if before else held.id
        self.add_move(fresh.root, "continue", first, after, "it holds again after it")
        return fresh

    def end_due(self, due: Sequence[Due]) -> list[Due]:
        return [each for each in due if self._end(each)]

    def _end(self, due: Due) -> bool:
        # It may have got another end, or been forgotten, since it was read.
        if self._expiries.read(due.root) != (due.task, due.moment):
            return False
        if due.task == ERASE:
            return bool(self._versions.erase([due.memory]))
        held = self._versions.current(due.memory)
        if held is None:
            self._expiries.set(due.root, None)
            return False
        self._expiries.set(due.root, (EXPIRED, due.moment))
        if held.state & ARCHIVED:
            return False
        self._versions.revise(held.ordinal, state=held.state | ARCHIVED)
        self.add_move(due.root, "archive", "", "archived", due.reason)
        return True
