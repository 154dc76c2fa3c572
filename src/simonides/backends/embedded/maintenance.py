"""Rows about maintenance: moves (what was done to a memory, and why) and the evidence of observations.

Every row is stamped with the time at which it was recorded, so an earlier viewpoint does not see it. It
belongs to a memory's first version, so it is erased with the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.relations import copy_relations, copy_statements
from simonides.backends.embedded.rows import insert_into, keys, marks_for, read_names, read_object, verified
from simonides.records.interval import FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import ARCHIVED, CONSOLIDATED
from simonides.records.memory import Move
from simonides.records.time_to_live import ERASE, EXPIRED
from simonides.records.versions import CurrentVersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from simonides.backends.embedded.expiry import Expiries
    from simonides.backends.embedded.session import WriteSession
    from simonides.backends.embedded.versions import Versions
    from simonides.records.time_to_live import Due
    from simonides.records.versions import RowRef, StoredVersion

_ADD_MOVE = insert_into("moves", "ordinal, action, was, became, reason, made_at, undone_at")
_MOVE = (
    f"SELECT v.number, m.id, v.action, v.was, v.became, v.reason, v.made_at, v.undone_at"
    f" FROM {verified('moves v')} JOIN {keys('memories m')} ON m.ordinal = v.ordinal"
)

_USES = f"{verified('accesses a')} WHERE a.ordinal = m.root AND a.accessed_at <= ?1"
_CURRENT = f"""
SELECT m.ordinal, m.root, m.id, m.kind, m.layer, m.text, m.acl, m.project, m.tags, e.speaker, e.trust,
  m.salience, m.confidence, m.proof_count, m.state, m.valid_from, m.valid_to, r.ingested_at,
  m.occurred_from, m.occurred_to, m.signature,
  m.access_count + (SELECT count(*) FROM {_USES}), (SELECT max(a.accessed_at) FROM {_USES}),
  m.metadata, t.names
FROM {verified("memories m")} JOIN {verified("memories r")} ON r.ordinal = m.root
  JOIN {verified("label_sets t")} ON t.number = m.tags
  JOIN {verified("chunks c")} ON c.number = m.chunk JOIN {verified("episodes e")} ON e.number = c.episode
WHERE m.expired_at = ?2 ORDER BY m.root
"""


def read_current_versions(connection: apsw.Connection, now: int) -> Iterator[CurrentVersion]:
    """Every memory that the bank holds now, ended ones too, by the ordinal of the first version."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(_CURRENT, (now, FOREVER))
    for row in rows:
        occurred_from, occurred_to, signature, accesses, last, metadata, tags = row[18:]
        occurred = None if occurred_from is None else (int(occurred_from), int(occurred_to))
        keyed = metadata != "{}" and bool(spaces_of(read_object(metadata), read_names(tags)))
        values: list[Any] = [*row[:18], occurred, bytes(signature), int(accesses), last, keyed]
        yield CurrentVersion(*values)


def read_current_relations(connection: apsw.Connection) -> Iterator[tuple[int, str, int, str, bool]]:
    """Relations of memories held now: root, name, subject's number, folded object, single-valued."""
    for root, name, subject, obj, single in connection.execute(
        f"SELECT m.root, r.name, r.subject, r.object, r.single_valued FROM {verified('relations r')}"
        f" JOIN {verified('memories m')} ON m.ordinal = r.ordinal WHERE m.expired_at=? AND m.state & ?=0"
        " ORDER BY r.name, r.subject, r.object, m.root",
        (FOREVER, CONSOLIDATED),
    ):
        yield int(root), str(name), int(subject), str(obj), bool(single)


def read_evidence(connection: apsw.Connection, known_at: int) -> dict[int, dict[int, str]]:
    """By observation, its sources and their stance, as they were recorded by *known_at*; roots."""
    found: dict[int, dict[int, str]] = {}
    for observation, source, stance in connection.execute(
        f"SELECT observation, source, stance FROM {verified('evidence')} WHERE known_from<=?1 AND ?1<known_to"
        " ORDER BY observation, source",
        (known_at,),
    ):
        found.setdefault(int(observation), {})[int(source)] = str(stance)
    return found


def read_moves(
    connection: apsw.Connection, memory: str | None = None, *, actions: Sequence[str] = ()
) -> list[Move]:
    """Moves in the order in which they were made; of one memory, of some actions, or all."""
    where, values = ["1"], list[Any]()
    if memory is not None:
        where.append(f"v.ordinal = (SELECT root FROM {keys('memories')} WHERE id=? LIMIT 1)")
        values.append(memory)
    if actions:
        where.append(f"v.action IN ({marks_for(actions)})")
        values += actions
    rows = connection.execute(f"{_MOVE} WHERE {' AND '.join(where)} ORDER BY v.number", values)
    return [Move(*row) for row in rows]


def observations_of(connection: apsw.Connection, ids: Iterable[str]) -> list[str]:
    """Ids of observations that rest, or once rested, on one of *ids*; those in *ids* are left out."""
    given = dict.fromkeys(ids)
    found: dict[str, None] = {}
    for memory in given:
        for (observation,) in connection.execute(
            f"SELECT DISTINCT CAST(o.id AS TEXT) FROM {keys('memories m')} JOIN {keys('evidence e')}"
            " ON e.source ="
            f" m.root JOIN {keys('memories o')} ON o.ordinal = e.observation WHERE m.id=? ORDER BY o.ordinal",
            (memory,),
        ):
            found[str(observation)] = None
    return [observation for observation in found if observation not in given]


class Maintenance:
    """Maintenance inside a write transaction; see ``storage.writer.Maintenance``."""

    def __init__(self, session: WriteSession, versions: Versions, expiries: Expiries) -> None:
        self._session = session
        self._versions = versions
        self._expiries = expiries

    def add_move(self, root: int, action: str, was: str, became: str, reason: str) -> None:
        self._session.run(_ADD_MOVE, root, action, was, became, reason, self._session.next_instant(), FOREVER)

    def read_move(self, number: int) -> Move | None:
        row = self._session.one(f"{_MOVE} WHERE v.number=?", number)
        return None if row is None else Move(*row)

    def ends_of(self, root: int, memory: str) -> list[Move]:
        rows = self._session.all(
            f"{_MOVE} WHERE v.action='close' AND v.undone_at=?1 AND (v.ordinal=?2 OR v.became=?3)"
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
