"""Reads memories as they are: one, all, their versions, sources, differences and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import NotFoundError
from simonides.options import RECALL
from simonides.recall.arguments import read_recall_arguments
from simonides.records.hygiene import MAX_ID_BYTES, clean_text
from simonides.records.interval import FOREVER, from_micros, latest_recorded, parse_time
from simonides.records.memory import Diff, compare
from simonides.records.query import Filters
from simonides.services.viewing import Viewing, verified, visible_memories

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from simonides.records.memory import Memory
    from simonides.records.source import Source
    from simonides.services.context import BankContext

_DEFAULT_PAGE = 100
# Memories that are read before their bytes are counted.
_READ_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Reads memories."""

    context: BankContext

    def get(self, memory: str) -> Memory:
        versions = self.context.versions(memory)
        return next((found for found in versions if found.expired_at_micros == FOREVER), versions[-1])

    def memories(self, *, after: str | None, max_bytes: int | None, **among: Any) -> list[Memory]:
        context = self.context
        values = context.check(RECALL, {"query": "-", **among})
        request = read_recall_arguments(values, principal=context.principal, zone=context.zone)
        last = "" if after is None else clean_text(after, "after", MAX_ID_BYTES)
        with context.reading() as reading:
            view = Viewing(context).view(reading, request.filters)
            ordinals = reading.ordinals_after(last, view.eligible, request.limit or _DEFAULT_PAGE)
            found = verified(reading, _within(max_bytes, ordinals, view.memories))
        context.record_read("list", reading, [memory.id for memory in found])
        return found

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


def _within(
    max_bytes: int | None, ordinals: Sequence[int], read: Callable[[Sequence[int]], list[Memory]]
) -> list[Memory]:
    """The memories at *ordinals* up to the one that exceeds *max_bytes*, read a few at a time."""
    if max_bytes is None:
        return read(ordinals)
    found: list[Memory] = []
    size = 0
    for start in range(0, len(ordinals), _READ_AT_ONCE):
        for memory in read(ordinals[start : start + _READ_AT_ONCE]):
            found.append(memory)
            size += memory.size
            if size >= max_bytes:
                return found
    return found
