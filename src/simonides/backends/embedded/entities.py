"""Entities: names, aliases, merges, and which memories mention whom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.change_log import NAME
from simonides.backends.embedded.relations import READABLE, listed
from simonides.backends.embedded.rows import keys, read_names, verified
from simonides.records.entity import Entity, EntityCount, all_count_as, counts_as
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw
    from numpy.typing import NDArray

    from simonides.backends.embedded.session import WriteSession
    from simonides.index.graph import Graph

# An entity e with the set s of those who may know of it.
_ENTITY = f"{verified('entities e')} JOIN {verified('label_sets s')} ON s.number = e.scope"
_SIGNS = "+#@/. "
_WITHIN = (
    "{0}.folded >= r.value ->> 0 AND {0}.folded < r.value ->> 1"
    f" AND (rtrim({{0}}.folded, '{_SIGNS}') = r.value ->> 2"
    " OR (r.value ->> 3 <> '' AND instr({0}.folded, r.value ->> 3)))"
)


class Entities:
    """The entities inside a write transaction; see ``storage.writer.Entities``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def find(self, folded: str) -> list[Entity]:
        numbers = read_entities_named(self._session.connection, folded, FOREVER)
        return [self.read(number) for number in numbers]

    def read(self, number: int) -> Entity:
        row = self._session.one(
            f"SELECT e.name, e.folded, e.kind, e.qualifier, s.names FROM {_ENTITY} WHERE e.number=?", number
        )
        if row is None:
            raise LookupError(f"no entity {number}")
        name, folded, kind, qualifier, names = row
        readers = frozenset(read_names(names))
        return Entity(number, self.canonical(number), name, folded, kind, qualifier, readers)

    def canonical(self, entity: int) -> int:

        def into(merged: int) -> int | None:
            row = self._session.one(
                f"SELECT into_entity FROM {verified('merges')} WHERE entity=? AND undone_at=?"
                " ORDER BY number DESC LIMIT 1",
                merged,
                FOREVER,
            )
            return None if row is None else int(row[0])

        return counts_as(entity, into)[0]

    def add(self, name: str, folded: str, kind: str, readers: Sequence[str], qualifier: str) -> int:
        return self._session.number(
            "INSERT INTO entities(name, folded, kind, scope, qualifier) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT(folded, scope, qualifier) DO UPDATE SET folded=excluded.folded RETURNING number",
            name,
            folded,
            kind,
            self._session.label_set(tuple(readers)),
            qualifier,
        )

    def qualify(self, entity: int, qualifier: str) -> None:
        self._session.connection.execute(
            "UPDATE OR IGNORE entities SET qualifier=? WHERE number=?", (qualifier, entity)
        )

    def add_alias(self, entity: int, name: str, folded: str) -> None:
        self._session.connection.execute(
            "INSERT OR IGNORE INTO aliases(folded, name, entity, added_at) VALUES (?, ?, ?, ?)",
            (folded, name, entity, self._session.now),
        )
        self._session.log(NAME, entity, self._session.now)

    def merge(self, entity: int, into: int) -> int:
        entity = self.canonical(entity)
        number = self._session.number(
            "INSERT INTO merges(entity, into_entity, merged_at, undone_at) VALUES (?, ?, ?, ?)"
            " RETURNING number",
            entity,
            into,
            self._session.now,
            FOREVER,
        )
        self._session.log(NAME, entity, self._session.now)
        return number

    def entity_of_merge(self, number: int) -> int | None:
        row = self._session.one(
            f"SELECT entity FROM {verified('merges')} WHERE number=? AND undone_at=?", number, FOREVER
        )
        return None if row is None else int(row[0])

    def undo_merge(self, number: int) -> bool:
        entity = self.entity_of_merge(number)
        if entity is None:
            return False
        self._session.run("UPDATE merges SET undone_at=? WHERE number=?", self._session.now, number)
        self._session.log(NAME, entity, self._session.now)
        return True

    def add_mention(self, ordinal: int, entity: int) -> None:
        self._session.connection.execute(
            "INSERT OR IGNORE INTO mentions(ordinal, entity) VALUES (?, ?)", (ordinal, entity)
        )

    def mentioned(self, ordinal: int) -> set[int]:
        rows = self._session.all(f"SELECT entity FROM {verified('mentions')} WHERE ordinal=?", ordinal)
        return {self.canonical(int(entity)) for (entity,) in rows}

    def known_before(self, entity: int, ordinal: int, readers: Sequence[str]) -> bool:
        row = self._session.one(
            f"SELECT 1 FROM {verified('mentions n')} JOIN {verified('memories m')} ON m.ordinal = n.ordinal"
            f" JOIN {verified('label_sets s')} ON s.number = m.acl"
            f" WHERE n.entity=?2 AND n.ordinal<?3 AND {READABLE} LIMIT 1",
            listed(readers),
            entity,
            ordinal,
        )
        return row is not None

    def mentions_namesake(self, ordinal: int, entity: int) -> bool:
        named = self.read(entity)
        bearers = self._session.all(
            f"SELECT e.number FROM {verified('mentions n')} JOIN {verified('entities e')}"
            " ON e.number = n.entity"
            " WHERE n.ordinal=? AND e.folded=?",
            ordinal,
            named.folded,
        )
        return bool(bearers) and all(self.canonical(int(number)) != named.whole for (number,) in bearers)

    def drop_unused(self, entity: int) -> None:
        """Delete an entity that nothing mentions any more, or a qualifier that nothing states any more."""
        self._session.run(
            "DELETE FROM entities WHERE number=?1"
            f" AND NOT EXISTS (SELECT 1 FROM {keys('mentions')} WHERE entity=?1)",
            entity,
        )
        # Without a qualifier, or by its number where another bearer of the name has none.
        for qualifier in ("", f"#{entity}"):
            self._session.run(
                "UPDATE OR IGNORE entities SET qualifier=?2 WHERE number=?1 AND qualifier NOT IN ('', ?3)"
                f" AND NOT EXISTS (SELECT 1 FROM {keys('relations')} WHERE subject=?1 AND object=qualifier)",
                entity,
                qualifier,
                f"#{entity}",
            )


def read_entities_named(connection: apsw.Connection, folded: str, known_at: int) -> list[int]:
    """Numbers of the entities with a folded name, or an alias that they had by *known_at*; ascending."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT number FROM {verified('entities')} WHERE folded=?1"
        f" UNION SELECT entity FROM {verified('aliases')} WHERE folded=?1 AND added_at<=?2 ORDER BY 1",
        (folded, known_at),
    )
    return [int(number) for (number,) in rows]


def read_merges(connection: apsw.Connection, known_at: int) -> dict[int, int]:
    """What each merged entity counted as at *known_at*, directly; of several merges the last."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT entity, into_entity FROM {verified('merges')} WHERE merged_at<=?1 AND undone_at>?1"
        " ORDER BY number",
        (known_at,),
    )
    return {int(entity): int(into) for entity, into in rows}


def count_entities(connection: apsw.Connection, graph: Graph, rows: NDArray[np.int64]) -> list[EntityCount]:
    """Entities that *rows* mention, most mentioned first, then by name and number; merged ones as one."""
    merged = all_count_as(read_merges(connection, FOREVER - 1))
    mentions = graph.entities(rows)
    names, places = np.unique(mentions.second, return_inverse=True)
    wholes = np.array([merged.get(int(name), int(name)) for name in names], np.int64)
    # A memory that speaks of two merged entities mentions one.
    pairs = np.unique(np.stack([wholes[places], mentions.first]), axis=1)
    entities, times = np.unique(pairs[0], return_counts=True)
    found = []
    for entity, count in zip(entities.tolist(), times.tolist(), strict=True):
        row = connection.execute(
            f"SELECT name, kind, qualifier FROM {verified('entities')} WHERE number=?", (entity,)
        ).fetchone()
        if row is not None:
            others = connection.execute(
                f"SELECT name FROM {verified('aliases')} WHERE entity=? ORDER BY name", (entity,)
            )
            aliases = tuple(str(name) for (name,) in others)
            found.append(EntityCount(entity, str(row[0]), str(row[1]), str(row[2]), aliases, count))
    return sorted(found, key=lambda entity: (-entity.mentions, entity.name, entity.number))


def read_entity_names(
    connection: apsw.Connection, after: int, readers: Sequence[str] | None
) -> tuple[list[str], int]:
    """Names and aliases of entities numbered above *after* that all *readers* may know of.

    No readers = everyone; ``None`` = the owner, who knows all.

    Returns:
        the names, and the number to go on from.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT e.number, e.name, s.names FROM {_ENTITY} WHERE e.number > ?1"
        f" UNION ALL SELECT e.number, a.name, s.names FROM {_ENTITY}"
        f" JOIN {verified('aliases a')} ON a.entity = e.number WHERE e.number > ?1 ORDER BY 1, 2",
        (after,),
    ).fetchall()
    return _known(rows, readers), int(rows[-1][0]) if rows else after


def read_names_within(
    connection: apsw.Connection, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
) -> list[str]:
    """Names and aliases in any of *ranges* that all *readers* may know of, by their entities' numbers.

    Args:
        connection: in a read transaction.
        ranges: least folded form, the first one behind, what a name there is (but for signs behind it), and
            what it may hold instead; empty = nothing.
        readers: none = everyone; ``None`` = the owner, who knows all.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT e.number, e.name, s.names FROM json_each(?1) r CROSS JOIN {verified('entities e')}"
        f" JOIN {verified('label_sets s')} ON s.number = e.scope WHERE {_WITHIN.format('e')}"
        f" UNION SELECT e.number, a.name, s.names FROM json_each(?1) r CROSS JOIN {verified('aliases a')}"
        f" JOIN {verified('entities e')} ON e.number = a.entity"
        f" JOIN {verified('label_sets s')} ON s.number = e.scope WHERE {_WITHIN.format('a')} ORDER BY 1, 2",
        (json.dumps(ranges),),
    ).fetchall()
    return _known(rows, readers)


def _known(rows: Iterable[tuple[Any, str, str]], readers: Sequence[str] | None) -> list[str]:
    """The names that all *readers* may know of, of rows of an entity's number, name and scope."""
    return [
        str(name)
        for _, name, scope in rows
        if readers is None or scope == "[]" or (readers and set(readers) <= set(read_names(scope)))
    ]


def any_within(connection: apsw.Connection, ranges: Iterable[tuple[str, str]]) -> bool:
    """Whether a folded name or alias lies in one of *ranges*."""
    folded = "folded >= r.value ->> 0 AND folded < r.value ->> 1"
    found = connection.execute(
        f"SELECT 1 FROM json_each(?1) r WHERE EXISTS (SELECT 1 FROM {keys('entities')} WHERE {folded})"
        f" OR EXISTS (SELECT 1 FROM {keys('aliases')} WHERE {folded}) LIMIT 1",
        (json.dumps(list(ranges)),),
    ).fetchone()
    return found is not None


def names_changed(connection: apsw.Connection) -> int:
    """The last change that took names away or gave an old entity a new one."""
    return int(
        connection.execute(
            "SELECT coalesce(max(sequence), 0) FROM changes WHERE operation IN ('name', 'erase')"
        ).get
    )
