"""Entities inside a write transaction: names, aliases, merges, and which memories mention whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.change_log import NAME
from simonides.backends.embedded.relations import READABLE, listed
from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_names
from simonides.records.entity import Entity, counts_as
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.backends.embedded.session import WriteSession


class Entities:
    """The entities of a bank."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def find(self, folded: str) -> list[Entity]:
        rows = self._session.all(
            f"SELECT number FROM entities WHERE folded=?1 AND {sound('entities')}"
            f" UNION SELECT entity FROM aliases WHERE folded=?1 AND {sound('aliases')} ORDER BY 1",
            folded,
        )
        return [self.read(int(number)) for (number,) in rows]

    def read(self, number: int) -> Entity:
        row = self._session.connection.execute(
            "SELECT e.number, e.name, e.folded, e.kind, e.qualifier, s.names FROM entities e"
            f" JOIN label_sets s ON s.number = e.scope AND {sound('label_sets', 's')}"
            f" WHERE e.number=? AND {sound('entities', 'e')}",
            (number,),
        ).fetchone()
        if row is None:
            raise LookupError(f"no entity {number}")
        number, name, folded, kind, qualifier, names = row
        readers = frozenset(read_names(names))
        return Entity(int(number), self.canonical(int(number)), name, folded, kind, qualifier, readers)

    def canonical(self, entity: int) -> int:

        def into(merged: int) -> int | None:
            row = self._session.one(
                f"SELECT into_entity FROM merges WHERE entity=? AND undone_at=? AND {sound('merges')}"
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
        row = self._session.one("SELECT entity FROM merges WHERE number=? AND undone_at=?", number, FOREVER)
        return None if row is None else int(row[0])

    def undo_merge(self, number: int) -> bool:
        row = self._session.connection.execute(
            "UPDATE merges SET undone_at=? WHERE number=? AND undone_at=? RETURNING entity",
            (self._session.now, number, FOREVER),
        ).fetchone()
        if row is not None:
            self._session.log(NAME, int(row[0]), self._session.now)
        return row is not None

    def add_mention(self, ordinal: int, entity: int) -> None:
        self._session.connection.execute(
            "INSERT OR IGNORE INTO mentions(ordinal, entity) VALUES (?, ?)", (ordinal, entity)
        )

    def mentioned(self, ordinal: int) -> set[int]:
        rows = self._session.all(
            f"SELECT entity FROM mentions WHERE ordinal=? AND {sound('mentions')} ORDER BY entity", ordinal
        )
        return {self.canonical(int(entity)) for (entity,) in rows}

    def known_before(self, entity: int, ordinal: int, readers: Sequence[str]) -> bool:
        row = self._session.one(
            "SELECT 1 FROM mentions n JOIN memories m ON m.ordinal = n.ordinal"
            " JOIN label_sets s ON s.number = m.acl"
            f" WHERE n.entity=?2 AND n.ordinal<?3 AND {READABLE} LIMIT 1",
            listed(readers),
            entity,
            ordinal,
        )
        return row is not None

    def mentions_namesake(self, ordinal: int, entity: int) -> bool:
        whole, folded = self.read(entity).whole, self.read(entity).folded
        bearers = self._session.all(
            "SELECT e.number FROM mentions n JOIN entities e ON e.number = n.entity"
            f" WHERE n.ordinal=? AND e.folded=? AND {sound('entities', 'e')}",
            ordinal,
            folded,
        )
        return bool(bearers) and all(self.canonical(int(number)) != whole for (number,) in bearers)

    def drop_unused(self, entity: int) -> None:
        """Delete an entity that nothing mentions any more, or a qualifier that nothing states any more."""
        self._session.connection.execute(
            "DELETE FROM entities WHERE number=?1 AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity=?1)",
            (entity,),
        )
        # Without one, or by its number where another bearer of the name is without one.
        for qualifier in ("", f"#{entity}"):
            self._session.connection.execute(
                "UPDATE OR IGNORE entities SET qualifier=?2 WHERE number=?1 AND qualifier NOT IN ('', ?3)"
                " AND NOT EXISTS (SELECT 1 FROM relations WHERE subject=?1 AND object=qualifier)",
                (entity, qualifier, f"#{entity}"),
            )
