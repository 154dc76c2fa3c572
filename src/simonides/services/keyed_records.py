"""Values under keys, for programs and frameworks that keep their state in a bank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.options import MOST_RECORDS
from simonides.records.hygiene import clean_switch, is_row_number, shown
from simonides.retain.keyed_records import KeyedRecords, inside
from simonides.retain.redacted_errors import redact_errors
from simonides.services.write_path import WritePath, erase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simonides.records.keyed_record import KeyedRecord
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class KeyedStorage:
    """Reads and writes values under keys."""

    context: BankContext

    def _records(self, space: str) -> KeyedRecords:
        self.context.redactor().name(space, "space")
        return KeyedRecords(space, self.context.principal, self.context.now())

    def read(
        self, space: str, path: Sequence[str], *, exact: bool, newest: int | None, refresh: bool
    ) -> list[KeyedRecord]:
        clean_switch(refresh, "refresh")
        if newest is not None and not (is_row_number(newest) and newest <= MOST_RECORDS):
            raise InputError(
                "newest", f"expected a whole number from 1 to {MOST_RECORDS:,}, got {shown(newest)}"
            )
        records = self._records(space)
        with self.context.reading() as reading:
            found = records.read(reading, path, exact=exact, newest=newest)
        if refresh and any(record.ttl is not None for record in found):
            with self.context.writing() as transaction:
                records.refresh(transaction, found)
        self.context.record_read("list", reading, [record.id for record in found])
        return found

    def put(self, space: str, given: Iterable[Mapping[str, Any]], *, append: bool) -> list[str]:
        records, path, redact = self._records(space), WritePath(self.context), self.context.parts.redact
        given = list(given) if isinstance(given, Iterator) else given
        with redact_errors(redact, given):
            wanted = records.wanted(given, self.context.redactor().json_text, append=append)
        drafts = path.read_drafts([each.item for each in wanted], {})
        if not drafts:
            return []
        return path.prepare_and_store(
            drafts,
            lambda transaction, ready: records.put(
                transaction, ready, wanted, path.write, partial(erase, self.context), append=append
            ),
        )

    def move(self, space: str, path: Sequence[str], to: Sequence[str]) -> int:
        records = self._records(space)
        with self.context.writing() as transaction:
            return records.move(transaction, path, to)

    def pop(self, space: str, path: Sequence[str]) -> KeyedRecord | None:
        records = self._records(space)
        with self.context.writing() as transaction:
            reading = inside(transaction)
            found = next(iter(records.read(reading, path, newest=1)), None)
            if found is not None:
                erase(self.context, transaction, [found.id])
                self.context.record_read("read", reading, [found.id])
        return found

    def forget(self, space: str, path: Sequence[str], *, exact: bool) -> int:
        records = self._records(space)
        with self.context.writing() as transaction:
            found = records.read(inside(transaction), path, exact=exact)
            return erase(self.context, transaction, list(dict.fromkeys(record.id for record in found)))
