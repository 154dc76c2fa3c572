"""The inbox of what deserves a person's decision.

superseded      a newer memory ended this one: a move ``close`` that stands
near_duplicate  two memories of one meaning hold side by side: a semantic link of ``SIMILAR_MEANING`` or more
conflict        the newest memory of several that state different values of what has one at a time
unsure_date     its words name a day without a year, and do not tell whether it lies behind or ahead: of the
                newest ``MOST_UNDATED`` statements without a date
quarantined     it is set aside; told to the owner alone

A key holds the time of its item and a hash of what it is about, so keys in order are items by time. It is the
same for everybody, and tells no number that would count what others wrote. Turns and parts of documents stand
beside each other by design, and values under keys are no statements: neither are near duplicates.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.view import tagged
from simonides.options import CURSOR, INCLUDE_DECIDED, REVIEW_ITEMS
from simonides.recall.refining.pool import first_recorded
from simonides.records.edges import LINK_CODES
from simonides.records.entity import all_count_as
from simonides.records.interval import FOREVER, from_micros, local_time
from simonides.records.keyed_record import path_in, spaces_of, tag_of
from simonides.records.kind import KIND_CODES, Kind, Utterance
from simonides.records.query import Filters
from simonides.records.review import (
    CONFLICT,
    NEAR_DUPLICATE,
    QUARANTINED,
    SPACE,
    SUPERSEDED,
    UNSURE_DATE,
    Review,
    ReviewItem,
)
from simonides.records.time_to_live import ERASE
from simonides.retain.duplicates import SIMILAR_MEANING
from simonides.retain.supersession import CLOSE
from simonides.services.viewing import Viewing
from simonides.text.statements.words import same_value
from simonides.text.times.expressions import find_unsure_days

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from simonides.index.view import BankView
    from simonides.records.memory import Memory, Move
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader

MOST_UNDATED = 2_000
LONGEST_UNDATED = 60
"""Words of a statement that is looked at for days; in a longer text a day is of something in it."""

PAGE_BYTES = 512 * 1024
"""Of the memories on one page (``Memory.size``); the item that passes it is the last one."""


@dataclass(frozen=True, slots=True)
class _Found:
    """An item before its memories are read; *at* in microseconds UTC."""

    what: str
    at: int
    memory: str
    other: str
    rule: str
    move: int | None = None
    days: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        about = f"{self.what} {self.memory} {self.other}".encode()
        # To the millisecond, as principals know it.
        return f"{max(0, self.at) // 1_000:012x}{hashlib.blake2b(about, digest_size=10).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Reviewing:
    """Lists what is to be decided."""

    context: BankContext

    def review(self, *, most: int, cursor: str | None, include_decided: bool) -> Review:
        given = {"most": most, "cursor": cursor, "include_decided": include_decided}
        values = self.context.check((REVIEW_ITEMS, CURSOR, INCLUDE_DECIDED), given)
        most, cursor, include_decided = (values[name] for name in given)
        with self.context.reading() as reading:
            found = {each.key: each for each in self._found(reading)}
            decided = self._decided(reading)
            items: list[ReviewItem] = []
            size, more = 0, False
            for key in sorted(found, reverse=True):
                if (cursor is not None and key >= cursor) or (key in decided and not include_decided):
                    continue
                item = self._item(reading, found[key], decided=key in decided)
                if item is not None:
                    more = len(items) == most or size >= PAGE_BYTES
                    if more:
                        break
                    items.append(item)
                    size += item.memory.size + (0 if item.other is None else item.other.size)
        told = [each.id for item in items for each in (item.memory, item.other) if each is not None]
        self.context.record_read("review", reading, told)
        return Review(tuple(items), items[-1].key if more else None)

    def _found(self, reading: Reader) -> Iterator[_Found]:
        view = Viewing(self.context).view(reading)
        # An end by hand names no newer memory, and somebody has decided it already.
        closed = [move for move in reading.moves(actions=(CLOSE,)) if move.became]
        yield from self._superseded(closed)
        # Where an end was undone, both hold by decision.
        undone = {frozenset((move.memory, move.became)) for move in closed if not move.stands}
        for each in (*_alike(view), *_conflicts(reading, view)):
            if frozenset((each.memory, each.other)) not in undone:
                yield each
        yield from _unsure_days(view, self.context.zone)
        if self.context.principal is None:
            wide = Filters(kinds=(Kind.QUARANTINE,), archived=True, observations=True)
            yield from _set_aside(Viewing(self.context).view(reading, wide))

    def _superseded(self, closed: list[Move]) -> Iterator[_Found]:
        for move in closed:
            if move.stands:
                number = move.number if self.context.principal is None else None
                yield _Found(SUPERSEDED, move.made_at_micros, move.memory, move.became, move.reason, number)

    def _decided(self, reading: Reader) -> set[object]:
        """Keys that the owner, or who asks, has put a record under: nobody else decides for them."""
        context = self.context
        due = reading.roots_due(context.now(), ERASE)
        kept = tagged(reading.snapshot, tag_of(SPACE, ()), context.principal, due).tolist()
        paths = [
            path_in(memory, SPACE)
            for memory in reading.memories(kept)
            if memory.author in {"", context.author}
        ]
        return {path[0] for path in paths if isinstance(path, list) and path and isinstance(path[0], str)}

    def _item(self, reading: Reader, found: _Found, *, decided: bool) -> ReviewItem | None:
        """The item with its memories; ``None`` where who acts may not see both, or it is none after all."""
        memory, readable = self._newest(reading, found.memory)
        other, both = self._newest(reading, found.other) if found.other else (None, True)
        if memory is None or not (readable and both):
            return None
        if found.what == NEAR_DUPLICATE and any(
            each is None or each.document or each.session or spaces_of(each.metadata, each.tags)
            for each in (memory, other)
        ):
            return None
        at = from_micros(found.at)
        return ReviewItem(
            found.key, found.what, memory, other, found.rule, found.move, at, found.days, decided
        )

    def _newest(self, reading: Reader, memory: str) -> tuple[Memory | None, bool]:
        """A memory as it is now, and whether who acts may see it; what was forgotten hides nothing."""
        versions = reading.versions(memory)
        seen = [each for each in versions if self.context.may_read(each)]
        current = next((each for each in seen if each.expired_at_micros == FOREVER), None)
        return current or (seen[-1] if seen else None), bool(seen) or not versions


def _alike(view: BankView) -> Iterator[_Found]:
    edges = view.links(np.flatnonzero(view.eligible))
    edges = edges.keep(
        (edges.kinds == LINK_CODES["semantic"])
        & (edges.weights >= SIMILAR_MEANING)
        & view.eligible[edges.second]
    )
    # Each pair stands there both ways; the newer memory comes first, whichever was changed since.
    edges = edges.keep(view.column("root", edges.first) > view.column("root", edges.second))
    recorded = first_recorded(view, edges.first)
    ids = (view.column("id_key", ends).tolist() for ends in (edges.first, edges.second))
    for at, mine, theirs, cosine in zip(recorded.tolist(), *ids, edges.weights.tolist(), strict=True):
        rule = f"alike by meaning: cosine {cosine:.3f}, from {SIMILAR_MEANING} on"
        yield _Found(NEAR_DUPLICATE, int(at), _id(mine), _id(theirs), rule)


def _conflicts(reading: Reader, view: BankView) -> Iterator[_Found]:
    merged = all_count_as(reading.merged_entities(FOREVER - 1))
    values: dict[tuple[str, int], dict[int, str]] = {}
    for row, name, subject, value in reading.single_valued_relations():
        if view.eligible[row]:
            values.setdefault((name, merged.get(subject, subject)), {})[row] = value
    for (name, _), stated in values.items():
        held = np.array(sorted(stated), np.int64)
        recorded, ids = first_recorded(view, held).tolist(), view.column("id_key", held).tolist()
        told = zip(recorded, ids, [stated[row] for row in held.tolist()], strict=True)
        *earlier, (at, last, value) = sorted(told)
        for _, other, before in earlier:
            if not same_value(value, before):
                rule = f"another value of {name!r}, which has one at a time"
                yield _Found(CONFLICT, int(at), _id(last), _id(other), rule)


def _unsure_days(view: BankView, zone: tzinfo) -> Iterator[_Found]:
    held = np.flatnonzero(view.eligible)
    held = held[
        (view.column("occurred_from", held) == FOREVER)
        & (view.column("utterance", held) == Utterance.STATEMENT)
        & (view.column("words", held) <= LONGEST_UNDATED)
    ][-MOST_UNDATED:]
    recorded = first_recorded(view, held).tolist()
    for at, memory in zip(recorded, view.memories(held.tolist()), strict=True):
        if memory.document or spaces_of(memory.metadata, memory.tags):
            continue
        said = local_time(int(at), zone)
        for found in find_unsure_days(memory.text, anchor=said, zone=zone)[:1] if said else ():
            rule = f"{found.text!r} may lie behind or ahead of {said:%Y-%m-%d}"
            days = (found.latest.isoformat(), found.next.isoformat())
            yield _Found(UNSURE_DATE, int(at), memory.id, "", rule, days=days)


def _set_aside(view: BankView) -> Iterator[_Found]:
    """Memories in quarantine, since they came into it the last time."""
    snapshot = view.snapshot
    ids = snapshot.column("id_key")
    held = ids[view.eligible]
    since: dict[int, int] = {}
    for row in np.flatnonzero(np.isin(ids, held)).tolist():
        where = np.array([row], np.int64)
        key = int(ids[row])
        if snapshot.gather("kind", where)[0] != KIND_CODES[Kind.QUARANTINE]:
            since.pop(key, None)
        else:
            since.setdefault(key, int(snapshot.gather("ingested_at", where)[0]))
    for key, at in since.items():
        yield _Found(QUARANTINED, at, _id(key), "", "it is in quarantine")


def _id(key: int) -> str:
    return f"{key:016x}"
