"""Lists memories page by page, and counts them by what they have in common, as a page for people needs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import ConflictError, InputError
from simonides.index.facets import Chosen, counts, keyed_counts, most_first, narrowed, newest
from simonides.options import BROWSED, ORDER, RECALL
from simonides.recall.arguments import read_recall_arguments
from simonides.records.hygiene import MAX_ID_BYTES, clean_text
from simonides.records.interval import parse_time
from simonides.records.kind import PINNED, STANDING, Layer
from simonides.services.viewing import Viewing, verified
from simonides.text.speech import label_of, session_key, speaker_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.view import BankView
    from simonides.records.memory import Memory
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader

_DEFAULT_PAGE = 100
# Memories that are read before their bytes are counted.
_READ_AT_ONCE = 16
_ARCHIVED = "archived"
_MARKS = {"pinned": PINNED, "standing": STANDING}
_NAMES: Mapping[str, Callable[[Memory], str]] = {
    "speaker": lambda memory: memory.speaker or label_of(memory.text),
    "session": lambda memory: memory.session,
}
"""What the index has keys of alone."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """What is listed or counted: rows of a view, and which of them are archived, as masks."""

    view: BankView
    rows: NDArray[np.bool_]
    archived: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Browsing:
    """Lists and counts memories."""

    context: BankContext

    def memories(self, *, after: str | None, max_bytes: int | None, **among: Any) -> list[Memory]:
        context, values = self.context, self._checked(among)
        last = "" if after is None else clean_text(after, "after", MAX_ID_BYTES)
        most = values["limit"] or _DEFAULT_PAGE
        with context.reading() as reading:
            listed = self._listed(reading, values)
            if values["order"] == "newest":
                ordinals = newest(listed.view.snapshot, listed.rows, self._place(reading, last), most)
            else:
                ordinals = reading.ordinals_after(last, listed.rows, most)
            found = verified(reading, _within(max_bytes, ordinals, listed.view.memories))
        context.record_read("list", reading, [memory.id for memory in found])
        return found

    def facets(self, **among: Any) -> Mapping[str, Any]:
        values = self._checked(among)
        with self.context.reading() as reading:
            listed = self._listed(reading, values)
            snapshot, rows = listed.view.snapshot, listed.rows
            found = counts(snapshot, rows, self.context.zone)
            for name, named in _NAMES.items():
                keyed = keyed_counts(snapshot, rows, name)
                memories = verified(reading, listed.view.memories(list(keyed)))
                found[name] = most_first(zip(map(named, memories), keyed.values(), strict=True))
            state = snapshot.column("state")
            marked = {name: (state & mark) != 0 for name, mark in _MARKS.items()}
            marked[_ARCHIVED] = listed.archived
            found["state"] = most_first(
                (name, int(np.count_nonzero(rows & mask))) for name, mask in marked.items()
            )
        facets = {
            name: [{"value": value, "count": count} for value, count in pairs]
            for name, pairs in found.items()
        }
        return {"total": int(np.count_nonzero(rows)), "facets": facets}

    def _checked(self, among: Mapping[str, Any]) -> dict[str, Any]:
        values = self.context.check((*RECALL, *BROWSED, ORDER), {"query": "-", **among})
        archived = values["include_archived"] or values["state"] == _ARCHIVED
        return {**values, "include_archived": archived}

    def _listed(self, reading: Reader, values: Mapping[str, Any]) -> _Listed:
        context, viewing, now = self.context, Viewing(self.context), self.context.now()
        filters = read_recall_arguments(values, principal=context.principal, zone=context.zone).filters
        view = viewing.view(reading, filters, now)
        # What its time to live has archived by now bears no mark yet.
        others = viewing.view(reading, replace(filters, archived=False), now) if filters.archived else view
        archived = view.eligible & ~others.eligible
        layer, speaker, session, state = (values[name] for name in ("layer", "speaker", "session", "state"))
        chosen = Chosen(
            layer=None if layer is None else Layer(layer),
            speaker=None if speaker is None else speaker_key(speaker),
            session=None if session is None else session_key(session),
            period=self._period(values["period"]),
            mark=_MARKS.get(state),
            entity=values["entity"],
        )
        rows = narrowed(view, chosen)
        return _Listed(view, rows & archived if state == _ARCHIVED else rows, archived)

    def _period(self, value: object) -> tuple[int, int] | None:
        if value is None:
            return None
        time = parse_time(value, "period", zone=self.context.zone)
        if time.start == time.end:
            raise InputError("period", "one instant has no length; give a year, a month or a day")
        return time.start, time.end

    def _place(self, reading: Reader, last: str) -> tuple[int, int] | None:
        """Where a memory stands in the order of storing."""
        if not last:
            return None
        first = next(filter(self.context.may_read, reading.versions(last)), None)
        if first is None:
            raise ConflictError("the memory where the page before ended is gone; read from the first page")
        return first.ingested_at_micros, first.ordinal


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
