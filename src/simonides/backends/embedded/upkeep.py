"""Rows about maintenance: what was done to memories and why, and what observations rest on.

Every row is stamped with when it was recorded, so an earlier viewpoint never sees it, and hangs on a memory's
first version, so it vanishes with the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.expiry import revive
from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_names, read_object
from simonides.records.interval import FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import ARCHIVED, CONSOLIDATED
from simonides.records.memory import Move
from simonides.records.versions import CurrentVersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from simonides.backends.embedded.transaction import WriteTransaction

_MOVE = (
    "SELECT v.number, m.id, v.action, v.was, v.became, v.reason, v.made_at, v.undone_at FROM moves v"
    " JOIN memories m ON m.ordinal = v.ordinal"
)

_STANDING = f"""
SELECT m.ordinal, m.root, m.id, m.kind, m.layer, m.text, m.acl, m.project, m.tags, e.speaker, e.trust,
  m.salience, m.confidence, m.proof_count, m.state, m.valid_from, m.valid_to, r.ingested_at,
  m.occurred_from, m.occurred_to, m.signature,
  m.access_count + (SELECT count(*) FROM accesses a WHERE a.ordinal = m.root AND a.accessed_at <= ?1),
  (SELECT max(a.accessed_at) FROM accesses a WHERE a.ordinal = m.root AND a.accessed_at <= ?1),
  m.metadata, t.names
FROM memories m JOIN memories r ON r.ordinal = m.root
  JOIN label_sets t ON t.number = m.tags AND {sound("label_sets", "t")}
  JOIN chunks c ON c.number = m.chunk AND {sound("chunks", "c")}
  JOIN episodes e ON e.number = c.episode AND {sound("episodes", "e")}
WHERE m.expired_at = ?2 ORDER BY m.root
"""


def read_standing(connection: apsw.Connection, now: int) -> Iterator[CurrentVersion]:
    """Every memory that the bank holds now, ended ones too, by the ordinal of the first version."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(_STANDING, (now, FOREVER))
    for row in rows:
        occurred_from, occurred_to, signature, accesses, last, metadata, tags = row[18:]
        occurred = None if occurred_from is None else (int(occurred_from), int(occurred_to))
        keyed = metadata != "{}" and bool(spaces_of(read_object(metadata), read_names(tags)))
        values: list[Any] = [*row[:18], occurred, bytes(signature), int(accesses), last, keyed]
        yield CurrentVersion(*values)


def read_statements(connection: apsw.Connection) -> Iterator[tuple[int, str, int, str, bool]]:
    """Relations of memories held now: root, name, subject's number, folded object, single-valued."""
    for root, name, subject, obj, single in connection.execute(
        "SELECT m.root, r.name, r.subject, r.object, r.single_valued FROM relations r"
        f" JOIN memories m ON m.ordinal = r.ordinal AND {sound('relations', 'r')}"
        " WHERE m.expired_at=? AND m.state & ?=0"
        " ORDER BY r.name, r.subject, r.object, m.root",
        (FOREVER, CONSOLIDATED),
    ):
        yield int(root), str(name), int(subject), str(obj), bool(single)


def read_evidence(connection: apsw.Connection, known_at: int) -> dict[int, dict[int, str]]:
    """By observation, its sources and their stance, as they were recorded by *known_at*; roots."""
    found: dict[int, dict[int, str]] = {}
    for observation, source, stance in connection.execute(
        "SELECT observation, source, stance FROM evidence WHERE known_from<=?1 AND ?1<known_to"
        f" AND {sound('evidence')}"
        " ORDER BY observation, source",
        (known_at,),
    ):
        found.setdefault(int(observation), {})[int(source)] = str(stance)
    return found


def read_moves(
    connection: apsw.Connection, memory: str | None = None, *, actions: Sequence[str] = ()
) -> list[Move]:
    """Moves in the order in which they were made; of one memory, of some actions, or all."""
    where, values = [sound("moves", "v")], list[Any]()
    if memory is not None:
        where.append("v.ordinal = (SELECT root FROM memories WHERE id=? LIMIT 1)")
        values.append(memory)
    if actions:
        where.append(f"v.action IN ({','.join('?' * len(actions))})")
        values += actions
    rows = connection.execute(f"{_MOVE} WHERE {' AND '.join(where)} ORDER BY v.number", values)
    return [Move(*row) for row in rows]


def observations_of(connection: apsw.Connection, ids: Iterable[str]) -> list[str]:
    """Ids of observations that rest, or once rested, on one of *ids*; those in *ids* are left out."""
    given = dict.fromkeys(ids)
    found: dict[str, None] = {}
    for memory in given:
        for (observation,) in connection.execute(
            "SELECT DISTINCT CAST(o.id AS TEXT) FROM memories m JOIN evidence e ON e.source = m.root"
            " JOIN memories o ON o.ordinal = e.observation WHERE m.id=? ORDER BY o.ordinal",
            (memory,),
        ):
            found[str(observation)] = None
    return [observation for observation in found if observation not in given]


class Upkeep:
    """The rows about maintenance inside an open write transaction.

    Args:
        connection: in the transaction.
        transaction: writes the versions.
    """

    def __init__(self, connection: apsw.Connection, transaction: WriteTransaction) -> None:
        self._connection = connection
        self._transaction = transaction

    @property
    def connection(self) -> apsw.Connection:
        """For the reading functions of this module, inside the transaction."""
        return self._connection

    def note(self, root: int, action: str, was: str, became: str, reason: str) -> None:
        """Record a move."""
        self._connection.execute(
            "INSERT INTO moves(ordinal, action, was, became, reason, made_at, undone_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (root, action, was, became, reason, self._transaction.next_instant(), FOREVER),
        )

    def ends(self, root: int, memory: str) -> list[Move]:
        """Moves that stand and by which a memory was ended or ended another, the last one first."""
        rows = self._connection.execute(
            f"{_MOVE} WHERE v.action='close' AND v.undone_at=?1 AND (v.ordinal=?2 OR v.became=?3)"
            f" AND {sound('moves', 'v')} ORDER BY v.number DESC",
            (FOREVER, root, memory),
        )
        return [Move(*row) for row in rows]

    def drop_notes(self, root: int) -> None:
        """Take back what was noted of the names in a memory's words."""
        self._connection.execute(
            "UPDATE moves SET undone_at=? WHERE ordinal=? AND action='stale' AND undone_at=?",
            (self._transaction.next_instant(), root, FOREVER),
        )

    def withdraw_observations(self, root: int) -> None:
        """End the observations that rest on a memory; maintenance makes others, where there is reason to."""
        rows: list[tuple[Any, ...]] = self._connection.execute(
            "SELECT DISTINCT o.ordinal, o.root FROM evidence e JOIN memories h ON h.ordinal = e.observation"
            " JOIN memories o ON o.id = h.id AND o.expired_at = ?1"
            f" WHERE e.source=?2 AND e.known_to=?1 AND {sound('evidence', 'e')} ORDER BY o.ordinal",
            (FOREVER, root),
        ).fetchall()
        for ordinal, observation in rows:
            stamp = self._transaction.next_instant()
            self.set_evidence(int(observation), {}, stamp)
            self._transaction.expire(int(ordinal), stamp)

    def mark_undone(self, number: int) -> None:
        """Record that a move stands no more."""
        self._connection.execute(
            "UPDATE moves SET undone_at=? WHERE number=? AND undone_at=?",
            (self._transaction.next_instant(), number, FOREVER),
        )

    def move(self, number: int) -> Move | None:
        """One move by number."""
        row = self._connection.execute(
            f"{_MOVE} WHERE v.number=? AND {sound('moves', 'v')}", (number,)
        ).fetchone()
        return None if row is None else Move(*row)

    def return_archived(self, memory: str, reason: str) -> bool:
        """Bring back a memory that was archived, or is hidden since its time to live has ended; else false.

        A value under a key that was stored without words is found by its key alone, and stays so.
        """
        ordinal = self._transaction.current_ordinal(memory)
        if ordinal is None:
            return False
        state, root = self._transaction.columns(ordinal, "state", "root")
        hidden = revive(self._connection, int(root), self._transaction.now)
        if not hidden and not (int(state) & ARCHIVED and self._was_archived(ordinal, int(root))):
            return False
        self.note(int(root), "return", "archived", "", reason)
        self._transaction.revise(ordinal, state=int(state) & ~ARCHIVED)
        return True

    def _was_archived(self, ordinal: int, root: int) -> bool:
        metadata = read_object(self._transaction.columns(ordinal, "metadata")[0])
        if not spaces_of(metadata, self._transaction.frame(ordinal).tags):
            return True
        row = self._connection.execute(
            f"SELECT 1 FROM moves WHERE ordinal=? AND action='archive' AND {sound('moves')} LIMIT 1", (root,)
        )
        return row.fetchone() is not None

    def set_evidence(self, observation: int, stances: dict[int, str], stamp: int) -> None:
        """Let an observation rest on *stances* (source's root → stance) from *stamp* on."""
        held = {
            int(source): str(stance)
            for source, stance in self._connection.execute(
                f"SELECT source, stance FROM evidence WHERE observation=? AND known_to=?"
                f" AND {sound('evidence')}",
                (observation, FOREVER),
            )
        }
        for source in sorted(held):
            if stances.get(source) != held[source]:
                self._connection.execute(
                    "UPDATE evidence SET known_to=? WHERE observation=? AND source=? AND known_to=?",
                    (stamp, observation, source, FOREVER),
                )
        for source, stance in sorted(stances.items()):
            if held.get(source) != stance:
                self._connection.execute(
                    "INSERT INTO evidence(observation, source, stance, known_from, known_to)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (observation, source, stance, stamp, FOREVER),
                )
