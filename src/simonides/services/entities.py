"""Lists, names, merges and parts the entities that memories mention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, NotFoundError
from simonides.records.hygiene import clean_count, clean_label, is_row_number
from simonides.retain.placing import all_may_read
from simonides.retain.resolution import fold_name
from simonides.services.viewing import Viewing

if TYPE_CHECKING:
    from simonides.records.entity import Entity, EntityCount
    from simonides.services.context import BankContext
    from simonides.storage.writer import WriteTransaction


@dataclass(frozen=True, slots=True)
class Entities:
    """Reads and changes entities."""

    context: BankContext

    def entities(self, limit: int | None) -> list[EntityCount]:
        limit = None if limit is None else clean_count(limit, "limit", 0)
        with self.context.reading() as reading:
            view = Viewing(self.context).view(reading)
            return reading.entities(np.flatnonzero(view.visible))[:limit]

    def add_alias(self, entity: int, name: str) -> None:
        self.context.redactor().name(clean_label(name, "name"), "name")
        with self.context.writing() as transaction:
            self._entity(transaction, entity)
            transaction.entities.add_alias(entity, name, fold_name(name))

    def merge(self, entity: int, into: int) -> int:
        with self.context.writing() as transaction:
            merged, whole = self._entity(transaction, entity), self._entity(transaction, into)
            if merged.whole == whole.whole:
                raise InputError("into", f"entity {entity} and entity {into} are merged already")
            if not all_may_read(transaction.entities.read(merged.whole).readers, whole.readers):
                raise InputError(
                    "into", f"entity {into} is known to fewer than entity {entity} is; merge it the other way"
                )
            return transaction.entities.merge(entity, into)

    def undo_merge(self, merge: int) -> None:
        with self.context.writing() as transaction:
            entity = transaction.entities.entity_of_merge(merge) if is_row_number(merge) else None
            if entity is None or not self._may_know(transaction.entities.read(entity)):
                raise NotFoundError(f"no merge {merge!r} to undo; merge_entities returns the numbers")
            transaction.entities.undo_merge(merge)

    def _entity(self, transaction: WriteTransaction, number: int) -> Entity:
        try:
            found = transaction.entities.read(number) if is_row_number(number) else None
        except LookupError:
            found = None
        if found is None or not self._may_know(found):
            raise NotFoundError(f"no entity {number!r}; entities() lists them")
        return found

    def _may_know(self, entity: Entity) -> bool:
        principal = self.context.principal
        return principal is None or all_may_read([principal], entity.readers)
