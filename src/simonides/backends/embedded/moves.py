"""Rows about maintenance: what was done to memories and why, and what observations rest on.

Every row is stamped with when it was recorded, so an earlier viewpoint never sees it, and hangs on a memory's
first version, so it vanishes with the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_names, read_object
from simonides.records.interval import FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import CONSOLIDATED
from simonides.records.memory import Move
from simonides.records.versions import CurrentVersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

MOVE = (
    "SELECT v.number, m.id, v.action, v.was, v.became, v.reason, v.made_at, v.undone_at FROM moves v"
    " JOIN memories m ON m.ordinal = v.ordinal"
)

_CURRENT = f"""
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
    rows = connection.execute(f"{MOVE} WHERE {' AND '.join(where)} ORDER BY v.number", values)
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
