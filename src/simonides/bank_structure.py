"""The verbs of a bank for what is beside its memories: entities, and values under keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.services.context import arguments
from simonides.services.entities import Entities
from simonides.services.keyed_records import KeyedStorage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from simonides.records.entity import EntityCount, EntityDetails
    from simonides.records.keyed_record import KeyedRecord
    from simonides.services.context import BankContext


class BankStructure:
    """Entities, and values under keys. Part of ``Bank``."""

    _context: BankContext

    def entities(self, limit: int | None = 100, *, named: str | None = None) -> list[EntityCount]:
        """Names in the memories that the caller may read, most mentioned first.

        Args:
            limit: maximum number, from 0; ``None`` = all.
            named: only those with a name or alias that holds this text. In whatever case.

        Raises:
            InputError: an argument is wrong.
        """
        return Entities(self._context).entities(limit, named)

    def get_entity(
        self,
        entity: int,
        *,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        most: int = 50,
    ) -> EntityDetails:
        """What the memories that the caller may read tell of an entity; of a merged one, what it counts as.

        Its memories are those that ``list_memories`` lists, and its 30 first neighbours are told.

        Args:
            entity: number of the entity, as entities gives it.
            as_of: as for ``recall``.
            known_at: the same.
            most: maximum number of memories, newest first, 1 to 1,000.

        Raises:
            NotFoundError: no memory that the caller may read mentions it at this viewpoint.
            InputError: an argument is wrong.
        """
        return Entities(self._context).get(**arguments(locals()))

    def add_alias(self, entity: int, name: str) -> None:
        """Add another name to an entity."""
        Entities(self._context).add_alias(entity, name)

    def remove_alias(self, entity: int, alias: str) -> None:
        """Remove a name that ``add_alias`` added, as if it had never been added, also for earlier moments.

        Memories that were stored meanwhile keep what they mention.

        Raises:
            NotFoundError: there is no such entity, or it has no such other name.
            InputError: it is the entity's own name.
        """
        Entities(self._context).remove_alias(entity, alias)

    def merge_entities(self, entity: int, into: int) -> int:
        """Merge an entity into another; returns the number of the merge, for ``undo_merge``."""
        return Entities(self._context).merge(entity, into)

    def undo_merge(self, merge: int) -> None:
        """Undo an entity merge.

        Raises:
            NotFoundError: there is no such merge, or it was undone.
        """
        Entities(self._context).undo_merge(merge)

    def list_records(
        self,
        space: str,
        path: Sequence[str] = (),
        *,
        exact: bool = False,
        newest: int | None = None,
        refresh: bool = False,
    ) -> list[KeyedRecord]:
        """Read values by their key, as they are at one moment, in the order of storing.

        Args:
            space: name of the program that owns the records.
            path: start of the keys; empty = all.
            exact: only those at the path itself, not below it.
            newest: only the newest N, 1 to 10,000.
            refresh: start their time to live again; this writes.

        Raises:
            InputError: an argument is wrong.
        """
        return KeyedStorage(self._context).read(**arguments(locals()))

    def put_records(
        self, space: str, records: Iterable[Mapping[str, Any]], *, append: bool = False
    ) -> list[str]:
        """Store values under keys in one transaction; the value that was under a key is erased.

        Args:
            space: name of the program that owns the records.
            records: objects with path and value. *path* is the key, a list of strings; *value* JSON; *text*
                what recall finds it by, by default the value as JSON; blank = only its key finds it, and
                recall with ``include_archived``; *replaces* ids of all that must be at or below the path, an
                empty list = nothing may be, by default anything; and keys of an item of ``retain`` such as
                session, role and source. A record with a ttl is erased when that ends; one without never
                ends.
            append: add each below its path, numbered after the last one there.

        Returns:
            one id per record, in order.

        Raises:
            InputError: a record is wrong; nothing was stored.
            ConflictError: what is at a path is not what the record replaces; nothing was stored.
            the same as ``retain``.
        """
        return KeyedStorage(self._context).put(space, records, append=append)

    def move_records(self, space: str, path: Sequence[str], to: Sequence[str]) -> int:
        """Replace the start of the keys of the records at or below a path, in one transaction.

        Returns:
            how many there were.

        Raises:
            InputError: one path lies below the other.
            ConflictError: a record is at or below *to*; nothing was changed.
        """
        return KeyedStorage(self._context).move(space, path, to)

    def pop_record(self, space: str, path: Sequence[str] = ()) -> KeyedRecord | None:
        """Erase the newest record at or below a path and return it; each is returned once."""
        return KeyedStorage(self._context).pop(space, path)

    def forget_records(self, space: str, path: Sequence[str] = (), *, exact: bool = False) -> int:
        """Erase the records at or below a path, in one transaction; returns how many there were.

        Args:
            space: name of the program that owns the records.
            path: start of the keys; empty = all.
            exact: only those at the path itself, not below it.
        """
        return KeyedStorage(self._context).forget(space, path, exact=exact)
