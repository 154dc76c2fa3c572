"""Lists, shows, names, merges and parts the entities that memories mention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError, NotFoundError
from simonides.lifecycle.briefing import newest_first
from simonides.options import GET_ENTITY, RECALL_DEFAULTS
from simonides.recall.arguments import read_recall_arguments
from simonides.records.entity import EntityDetails, EntityName, Neighbour
from simonides.records.hygiene import clean_count, clean_label, is_row_number, shown
from simonides.retain.placing import all_may_read
from simonides.retain.resolution import fold_name
from simonides.services.viewing import Viewing, verified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.index.view import BankView
    from simonides.records.entity import Entity, EntityCount
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader
    from simonides.storage.writer import WriteTransaction

_MOST_NEIGHBOURS = 30


@dataclass(frozen=True, slots=True)
class Entities:
    """Reads and changes entities."""

    context: BankContext

    def entities(self, limit: int | None, named: str | None) -> list[EntityCount]:
        limit = None if limit is None else clean_count(limit, "limit", 0)
        folded = None if named is None else fold_name(clean_label(named, "named"))
        if folded == "":
            return []
        with self.context.reading() as reading:
            view = Viewing(self.context).view(reading)
            return reading.entities(np.flatnonzero(view.visible), folded)[:limit]

    def get(self, **asked: Any) -> EntityDetails:
        context = self.context
        entity, as_of, known_at, most = context.check(GET_ENTITY, asked).values()
        moments = {**RECALL_DEFAULTS, "query": "", "as_of": as_of, "known_at": known_at}
        filters = read_recall_arguments(moments, principal=context.principal, zone=context.zone).filters
        with context.reading() as reading:
            view = Viewing(context).view(reading, filters)
            whole, rows, known = _mentioning(view, entity)
            called = reading.called({whole: len(rows)}, view.known_at)
            if not (len(rows) and called and entity in known):
                raise NotFoundError(
                    f"no entity {entity} at this viewpoint; entities() lists those there are now"
                )
            listed = rows[view.eligible[rows]]
            memories = verified(reading, newest_first(view, listed, most))
            neighbours = _neighbours(reading, view, whole, rows)
            merges = reading.merges(sorted(known), view.known_at)
        context.record_read("list", reading, [memory.id for memory in memories])
        return EntityDetails(called[0], tuple(memories), len(listed), neighbours, tuple(merges))

    def add_alias(self, entity: int, name: str) -> None:
        self.context.redactor().name(clean_label(name, "name"), "name")
        with self.context.writing() as transaction:
            self._entity(transaction, entity)
            transaction.entities.add_alias(entity, name, fold_name(name))

    def remove_alias(self, entity: int, alias: str) -> None:
        folded = fold_name(clean_label(alias, "alias"))
        with self.context.writing() as transaction:
            found = self._entity(transaction, entity)
            if transaction.entities.remove_alias(entity, folded):
                return
            if folded == found.folded:
                raise InputError(
                    "alias",
                    f"{shown(alias)} is the own name of entity {entity}; only what add_alias added can go",
                )
            raise NotFoundError(
                f"entity {entity} has no other name {shown(alias)}; entities() lists its aliases"
            )

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


def _mentioning(view: BankView, entity: int) -> tuple[int, NDArray[np.int64], set[int]]:
    """What an entity counts as, the visible rows that mention it, and the entities that count as the same.

    To a principal only those of them that these rows mention.
    """
    groups = view.read.entity_groups([entity], view.known_at)
    edges = view.snapshot.graph.mentioning(np.array(sorted(groups), np.int64))
    edges = edges.keep(view.visible[edges.second])
    whole = groups[entity]
    known = groups.keys() if view.principal is None else {whole, *edges.first.tolist()}
    return whole, np.unique(edges.second), set(known)


def _neighbours(
    reading: Reader, view: BankView, whole: int, rows: NDArray[np.int64]
) -> tuple[Neighbour, ...]:
    """What visible *rows* mention beside an entity, and how they relate the two."""
    beside = view.mentions(rows)
    beside = beside.keep(beside.second != whole)
    numbers, together = np.unique(beside.second, return_counts=True)
    first = np.lexsort((numbers, -together))[:_MOST_NEIGHBOURS]
    counts = dict(zip(numbers[first].tolist(), together[first].tolist(), strict=True))
    of_both = np.unique(beside.first[np.isin(beside.second, numbers[first])])
    merged = view.read.merges(view.known_at)
    relations: dict[int, set[str]] = {number: set() for number in counts}
    for name, *ends in reading.relations_between(of_both.tolist(), view.known_at):
        subject, obj = (merged.get(end, end) for end in ends)
        if whole in {subject, obj}:
            relations.get(obj if subject == whole else subject, set()).add(name)
    called = {each.number: each for each in reading.called(counts, view.known_at)}
    return tuple(
        Neighbour(
            EntityName(number, called[number].name, called[number].kind),
            count,
            tuple(sorted(relations[number])),
        )
        for number, count in counts.items()
        if number in called
    )
