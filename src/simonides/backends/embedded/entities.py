"""Entities: names, aliases, merges, and which memories mention whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.change_log import NAME
from simonides.backends.embedded.relations import READABLE, listed
from simonides.backends.embedded.rows import keys, read_names, verified
from simonides.records.entity import Entity, counts_as
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from simonides.backends.embedded.session import WriteSession

# An entity e with the set s of those who may know of it.
ENTITY = f"{verified('entities e')} JOIN {verified('label_sets s')} ON s.number = e.scope"


class Entities:
    """The entities inside a write transaction; see ``storage.writer.Entities``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def find(self, folded: str) -> list[Entity]:
        numbers = read_entities_named(self._session.connection, folded, FOREVER)
        return [self.read(number) for number in numbers]

    def read(self, number: int) -> Entity:
        row = self._session.one(
            f"SELECT e.name, e.folded, e.kind, e.qualifier, s.names FROM {ENTITY} WHERE e.number=?", number
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

    def remove_alias(self, entity: int, folded: str) -> bool:
        self._session.run("DELETE FROM aliases WHERE folded=? AND entity=?", folded, entity)
        removed = bool(self._session.connection.changes())
        if removed:
            self._session.log(NAME, entity, self._session.now)
        return removed

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


def read_entities_holding(connection: apsw.Connection, folded: str) -> list[int]:
    """Numbers of the entities with a name or alias whose folded form holds a text; ascending."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT number FROM {keys('entities')} WHERE instr(folded, ?1)"
        f" UNION SELECT entity FROM {keys('aliases')} WHERE instr(folded, ?1) ORDER BY 1",
        (folded,),
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
