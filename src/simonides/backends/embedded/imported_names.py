"""Entities, aliases and merges of an export, and what all parts of an import share."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.change_log import NAME, read_meta
from simonides.backends.embedded.entities import read_merges
from simonides.backends.embedded.labels import label_set_code
from simonides.backends.embedded.rows import insert_into, verified
from simonides.backends.embedded.session import WriteSession
from simonides.records.entity import all_count_as, counts_as
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    import apsw


class ImportSession(WriteSession):
    """What all parts of an import share; *added*: rows that it added so far, by kind."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.added: Counter[str] = Counter()

    def begin(self, connection: apsw.Connection) -> None:
        """Start another transaction of the import."""
        super().__init__(connection, read_meta(connection), self.now)

    def add(self, kind: str, sql: str, *parameters: Any) -> bool:
        """Insert a row of a *kind*; whether it is new."""
        self.run(sql, *parameters)
        changed = bool(self.connection.changes())
        self.added[kind] += changed
        return changed


class ImportedNames:
    """The entities of a file, by their numbers in it."""

    def __init__(self, session: ImportSession) -> None:
        self._session = session
        self._numbers = array("q")
        # Of this transaction: the bank's merges, and what each merged entity counts as.
        self._merges: tuple[set[tuple[Any, ...]], dict[int, int]] | None = None

    def begin(self) -> None:
        """Read the merges anew, in another transaction."""
        self._merges = None

    def add(self, found: dict[str, Any]) -> None:
        if found["number"] != len(self._numbers) + 1:
            raise ValueError("is out of order")
        scope = label_set_code(self._session.connection, found["readers"])
        identity = found["folded"], scope, found["qualifier"]
        row = self._session.one(
            f"SELECT number FROM {verified('entities')} WHERE folded=? AND scope=? AND qualifier=?", *identity
        )
        if row is None:
            row = self._session.one(
                insert_into("entities", "name, kind, folded, scope, qualifier") + " RETURNING number",
                found["name"],
                found["kind"],
                *identity,
            )
            self._session.added["entities"] += 1
        self._numbers.append(int(row[0]) if row else 0)

    def number_of(self, place: int) -> int:
        """The bank's number of the file's entity."""
        if not 0 < place <= len(self._numbers):
            raise ValueError(f"speaks of entity {place}, which is not in the file")
        return self._numbers[place - 1]

    def add_alias(self, found: dict[str, Any]) -> None:
        entity = self.number_of(found["entity"])
        insert = insert_into("aliases", "folded, name, entity, added_at", "INSERT OR IGNORE")
        if self._session.add("aliases", insert, found["folded"], found["name"], entity, found["added_at"]):
            self._session.log(NAME, entity, self._session.now)

    def add_merge(self, found: dict[str, Any]) -> None:
        """Add a merge, unless the two entities count as one in the bank already, either way round."""
        entity, into = self.number_of(found["entity"]), self.number_of(found["into"])
        merged_at = found["merged_at"]
        if entity == into:
            raise ValueError("merges an entity into itself")
        if self._merges is None:
            rows = self._session.connection.execute(
                f"SELECT entity, into_entity, merged_at FROM {verified('merges')}"
            )
            self._merges = set(rows), all_count_as(read_merges(self._session.connection, FOREVER - 1))
        present, wholes = self._merges
        if (entity, into, merged_at) in present:
            return
        if found["undone_at"] == FOREVER:
            # As merge_entities does: what counts as another lets that one be merged.
            entity = self._whole(entity, wholes)
            if entity == self._whole(into, wholes):
                return
            wholes[entity] = into
        insert = insert_into("merges", "entity, into_entity, merged_at, undone_at")
        self._session.add("merges", insert, entity, into, merged_at, found["undone_at"])
        present.add((entity, into, merged_at))
        self._session.log(NAME, entity, self._session.now)

    def _whole(self, entity: int, wholes: dict[int, int]) -> int:
        whole, passed = counts_as(entity, wholes.get)
        wholes.update(dict.fromkeys(passed, whole))
        return whole
