"""What happens in a bank, as it happens: what was written, and what was returned to whom.

    written, by any process       the change log
    returned by this process      ``RecentRecalls``, in memory: with the query and the exact context
    returned by another process   the impressions: ids alone, and only of recalls of which something was used

The three are merged by time, each in its own order. A cursor holds a number of each, sealed: the numbers
count what others wrote. It is another one each time the clock moves, so it does not tell whether they did.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import struct
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from simonides.errors import InputError
from simonides.index.view import allowed
from simonides.options import AFTER, EVENTS
from simonides.records.activity import ARCHIVED, CHANGED, ENDED, FORGOTTEN, STORED, Activity, Event, Written
from simonides.records.hygiene import shown
from simonides.records.interval import from_micros
from simonides.retain.screening import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simonides.records.activity import Given
    from simonides.records.memory import Memory
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader

PAGE_BYTES = 512 * 1024
"""Of one answer (``Event.size``); the event that passes it is the last one."""

_READ_AT_ONCE = 16
_CURSOR = struct.Struct(">4q")
_TAG_BYTES = 8

Position: TypeAlias = tuple[int, int, int]
"""The last change, impression and recall of this process that were told."""

_Found: TypeAlias = "tuple[int, Written | Given]"
"""Which number of a position counts it, and what it is."""


@dataclass(frozen=True, slots=True)
class Watching:
    """Tells what happens."""

    context: BankContext

    def activity(self, *, after: str | None, most: int) -> Activity:
        context = self.context
        values = context.check((AFTER, EVENTS), {"after": after, "most": most})
        most, now = values["most"], context.now()
        with context.reading() as reading:
            since = None if after is None else _opened(reading, values["after"])
            found, heads = self._found(reading, since, most)
            events: list[Event] = []
            size, last = 0, list(since or heads)
            for (which, each), event in self._told(reading, found, now):
                last[which] = each.number
                if event is not None:
                    events.append(event)
                    size += event.size
                    if size >= PAGE_BYTES:
                        break
            else:
                last = last if len(found) == most else list(heads)
            if since is None:
                events.reverse()
                last = list(heads)
            following = _sealed(reading, (last[0], last[1], last[2]), now)
        context.record_read("activity", reading, [memory for event in events for memory in event.ids])
        return Activity(tuple(events), following)

    def _found(self, reading: Reader, since: Position | None, most: int) -> tuple[list[_Found], Position]:
        """What to tell, oldest first after a position, else newest first; and where everything stands."""
        principal, recent = self.context.principal, self.context.rows.recent_recalls.all()
        change, impression, recall = since or (None, None, None)
        written = reading.activity.written(
            change, most, allowed(reading.snapshot, principal), erased=principal is None
        )
        elsewhere = reading.activity.shown(impression, most, principal, [each.recall for each in recent])
        here = [
            each
            for each in recent
            if principal in {None, each.principal} and (recall is None or each.number > recall)
        ]
        newest = since is None
        lists: list[list[_Found]] = [
            [(0, each) for each in written],
            [(1, each) for each in elsewhere],
            [(2, each) for each in here],
        ]
        # Backwards through all, so that what happened at one moment has one order either way.
        ordered = [each[::-1] for each in lists[::-1]] if newest else lists
        merged = heapq.merge(*ordered, key=lambda found: found[1].at, reverse=newest)
        last = max(recent[-1].number if recent else 0, recall or 0)
        heads = (reading.meta.sequence, reading.activity.last_impression(), last)
        return list(islice(merged, most)), heads

    def _told(
        self, reading: Reader, found: Sequence[_Found], now: int
    ) -> Iterator[tuple[_Found, Event | None]]:
        """Each of *found* with its event; ``None`` where its memory is not there any more."""
        for start in range(0, len(found), _READ_AT_ONCE):
            part = found[start : start + _READ_AT_ONCE]
            rows = [
                row
                for _, each in part
                if isinstance(each, Written)
                for row in (each.ordinal, each.before)
                if row is not None
            ]
            memories = dict(zip(rows, reading.memories(rows), strict=True))
            ids = {memory for _, each in part if not isinstance(each, Written) for memory in each.ids}
            kept = reading.activity.kept(sorted(ids), now)
            for which, each in part:
                if isinstance(each, Written):
                    yield (which, each), self._written(each, memories)
                else:
                    yield (which, each), self._given(each, kept)

    def _written(self, each: Written, memories: Mapping[int, Memory]) -> Event | None:
        at = from_micros(each.at) if each.at else None
        if each.ordinal is None:
            return Event(at, FORGOTTEN)
        memory = memories[each.ordinal]
        if not self.context.may_read(memory):
            return None
        what = ENDED if each.withdrawn else STORED
        if each.before is not None and not each.withdrawn:
            what = _what_changed(memories[each.before], memory)
        return Event(at, what, memory, (memory.id,), by=memory.author if what == STORED else None)

    def _given(self, each: Given, kept: set[str]) -> Event:
        # Words of what was forgotten meanwhile are told to nobody.
        whole = kept.issuperset(each.ids)
        redactor = Redactor("off" if self.context.parts.redact == "off" else "mask")
        return Event(
            from_micros(each.at),
            each.what,
            ids=tuple(memory for memory in each.ids if memory in kept),
            query=redactor.words(each.query, "query") if whole else "",
            context=each.context if whole else "",
            band=each.band,
            confidence=each.confidence,
            profile=each.profile,
            by=each.principal,
            recall=each.recall,
        )


def _what_changed(before: Memory, now: Memory) -> str:
    if now.valid_to_micros < before.valid_to_micros:
        return ENDED
    return ARCHIVED if now.archived and not before.archived else CHANGED


def _sealed(reading: Reader, position: Position, now: int) -> str:
    """A position as a cursor of this bank."""
    plain = _CURSOR.pack(now, *position)
    tag = _keyed(reading, plain, _TAG_BYTES)
    return base64.b32encode(tag + _masked(reading, tag, plain)).decode().lower()


def _opened(reading: Reader, cursor: str) -> Position:
    """The position in a cursor, not after what the bank holds: a backup may have been restored."""
    try:
        raw = base64.b32decode(cursor.upper())
    except ValueError:
        raw = b""
    tag = raw[:_TAG_BYTES]
    plain = _masked(reading, tag, raw[_TAG_BYTES:]) if len(raw) == _TAG_BYTES + _CURSOR.size else b""
    if not plain or _keyed(reading, plain, _TAG_BYTES) != tag:
        raise InputError(
            "after",
            f"{shown(cursor)} is no cursor of this bank; leave it out to begin with the newest events",
        )
    _, change, impression, recall = _CURSOR.unpack(plain)
    return min(change, reading.meta.sequence), min(impression, reading.activity.last_impression()), recall


def _keyed(reading: Reader, data: bytes, size: int) -> bytes:
    """A hash that nobody can make who does not know the bank's identity, which no answer holds."""
    return hashlib.blake2b(data, digest_size=size, key=reading.meta.bank.encode()[:64]).digest()


def _masked(reading: Reader, tag: bytes, data: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(data, _keyed(reading, tag, len(data)), strict=True))
