"""Reads memories as they are: one, its versions, sources, differences and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import NotFoundError
from simonides.records.interval import FOREVER, from_micros, latest_recorded, parse_time
from simonides.records.memory import Diff, compare
from simonides.records.query import Filters
from simonides.services.viewing import Viewing, visible_memories

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from simonides.records.memory import Memory
    from simonides.records.source import Source
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Reads memories."""

    context: BankContext

    def get(self, memory: str) -> Memory:
        versions = self.context.versions(memory)
        return next((found for found in versions if found.expired_at_micros == FOREVER), versions[-1])

    def source(self, memory: str) -> Source:
        current = self.get(memory)
        with self.context.reading() as reading:
            found = reading.source(current.id)
        if found is None:
            raise NotFoundError(f"memory {memory!r} was forgotten meanwhile")
        return found

    def diff(self, earlier: datetime | str, later: datetime | str | None) -> Diff:
        context, viewing = self.context, Viewing(self.context)
        now = context.now()
        first = parse_time(earlier, "earlier", zone=context.zone).start
        second = None if later is None else parse_time(later, "later", zone=context.zone).start
        with context.reading() as reading:
            before, after = (
                visible_memories(
                    reading, viewing.view(reading, Filters(as_of=moment, principal=context.principal), now)
                )
                for moment in (first, second)
            )
        context.record_read("diff", reading, [memory.id for memory in (*before, *after)])
        return compare(before, after)

    def stats(self) -> Mapping[str, Any]:
        context = self.context
        with context.reading() as reading:
            current = int(np.count_nonzero(Viewing(context).view(reading).visible))
        counts = {"bank": context.name, "current": current}
        return counts if context.principal is not None else {**counts, **context.rows.stats()}

    def last_write(self) -> datetime | None:
        self.context.require_owner("last_write")
        with self.context.reading() as reading:
            newest = reading.snapshot.last_ingested
            last = latest_recorded(self.context.now(), newest)
            return from_micros(min(last, newest)) if reading.snapshot.rows else None
