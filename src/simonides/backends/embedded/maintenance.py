"""Writes the rows about maintenance: moves, evidence, and the ends of times to live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.expiry import copy_expiry, read_expiry, revive, set_expiry
from simonides.backends.embedded.moves import MOVE
from simonides.backends.embedded.relations import copy_relations, copy_statements
from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_object
from simonides.records.interval import FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import ARCHIVED
from simonides.records.memory import Move
from simonides.records.time_to_live import ERASE, EXPIRED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.backends.embedded.session import WriteSession
    from simonides.backends.embedded.versions import Versions
    from simonides.records.time_to_live import Due
    from simonides.records.versions import RowRef, StoredVersion


class Maintenance:
    """What maintenance notes of memories, inside a write transaction.

    Args:
        session: of the transaction.
        versions: writes the versions.
    """

    def __init__(self, session: WriteSession, versions: Versions) -> None:
        self._session = session
        self._versions = versions

    def add_move(self, root: int, action: str, was: str, became: str, reason: str) -> None:
        self._session.connection.execute(
            "INSERT INTO moves(ordinal, action, was, became, reason, made_at, undone_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (root, action, was, became, reason, self._session.next_instant(), FOREVER),
        )

    def read_move(self, number: int) -> Move | None:
        row = self._session.connection.execute(
            f"{MOVE} WHERE v.number=? AND {sound('moves', 'v')}", (number,)
        ).fetchone()
        return None if row is None else Move(*row)

    def ends_of(self, root: int, memory: str) -> list[Move]:
        rows = self._session.connection.execute(
            f"{MOVE} WHERE v.action='close' AND v.undone_at=?1 AND (v.ordinal=?2 OR v.became=?3)"
            f" AND {sound('moves', 'v')} ORDER BY v.number DESC",
            (FOREVER, root, memory),
        )
        return [Move(*row) for row in rows]

    def undo_move(self, number: int) -> None:
        self._session.connection.execute(
            "UPDATE moves SET undone_at=? WHERE number=? AND undone_at=?",
            (self._session.next_instant(), number, FOREVER),
        )

    def undo_stale(self, root: int) -> None:
        self._session.connection.execute(
            "UPDATE moves SET undone_at=? WHERE ordinal=? AND action='stale' AND undone_at=?",
            (self._session.next_instant(), root, FOREVER),
        )

    def withdraw_observations(self, root: int) -> None:
        rows: list[tuple[Any, ...]] = self._session.connection.execute(
            "SELECT DISTINCT o.ordinal, o.root FROM evidence e JOIN memories h ON h.ordinal = e.observation"
            " JOIN memories o ON o.id = h.id AND o.expired_at = ?1"
            f" WHERE e.source=?2 AND e.known_to=?1 AND {sound('evidence', 'e')} ORDER BY o.ordinal",
            (FOREVER, root),
        ).fetchall()
        for ordinal, observation in rows:
            stamp = self._session.next_instant()
            self.set_evidence(int(observation), {}, stamp)
            self._versions.expire(int(ordinal), stamp)

    def set_evidence(self, observation: int, stances: dict[int, str], stamp: int) -> None:
        held = {
            int(source): str(stance)
            for source, stance in self._session.connection.execute(
                f"SELECT source, stance FROM evidence WHERE observation=? AND known_to=?"
                f" AND {sound('evidence')}",
                (observation, FOREVER),
            )
        }
        for source in sorted(held):
            if stances.get(source) != held[source]:
                self._session.connection.execute(
                    "UPDATE evidence SET known_to=? WHERE observation=? AND source=? AND known_to=?",
                    (stamp, observation, source, FOREVER),
                )
        for source, stance in sorted(stances.items()):
            if held.get(source) != stance:
                self._session.connection.execute(
                    "INSERT INTO evidence(observation, source, stance, known_from, known_to)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (observation, source, stance, stamp, FOREVER),
                )

    def return_archived(self, memory: str, reason: str) -> bool:
        held = self._versions.current(memory)
        if held is None:
            return False
        hidden = revive(self._session.connection, held.root, self._session.now)
        if not hidden and not (held.state & ARCHIVED and self._was_archived(held)):
            return False
        self.add_move(held.root, "return", "archived", "", reason)
        self._versions.revise(held.ordinal, state=held.state & ~ARCHIVED)
        return True

    def _was_archived(self, held: StoredVersion) -> bool:
        tags = self._versions.compared_fields(held.ordinal).tags
        if not spaces_of(read_object(held.metadata), tags):
            return True
        move = f"SELECT 1 FROM moves WHERE ordinal=? AND action='archive' AND {sound('moves')} LIMIT 1"
        return self._session.one(move, held.root) is not None

    def continue_after(self, ordinal: int, trust: float, after: str, **changed: Any) -> RowRef:
        held = self._versions.read(ordinal)
        before = self._session.one(
            f"SELECT was FROM moves WHERE ordinal=? AND action='continue' AND {sound('moves')} LIMIT 1",
            held.root,
        )
        fresh = self._versions.derive(ordinal, trust, **changed)
        copy_relations(self._session.connection, ordinal, fresh.ordinal)
        copy_statements(self._session.connection, ordinal, fresh.ordinal)
        copy_expiry(self._session.connection, held.root, fresh.root)
        first = str(before[0]) if before else held.id
        self.add_move(fresh.root, "continue", first, after, "it holds again after it")
        return fresh

    def end_due(self, due: Sequence[Due]) -> list[Due]:
        return [each for each in due if self._end(each)]

    def _end(self, due: Due) -> bool:
        connection = self._session.connection
        # It may have got another end, or been forgotten, since it was read.
        if read_expiry(connection, due.root) != (due.task, due.moment):
            return False
        if due.task == ERASE:
            return bool(self._versions.erase([due.memory]))
        held = self._versions.current(due.memory)
        if held is None:
            set_expiry(connection, due.root, None)
            return False
        set_expiry(connection, due.root, (EXPIRED, due.moment))
        if held.state & ARCHIVED:
            return False
        self._versions.revise(held.ordinal, state=held.state | ARCHIVED)
        self.add_move(due.root, "archive", "", "archived", due.reason)
        return True
