"""Builds what one call may see: a view of the index at the viewpoint of the caller."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simonides.index.view import Ended, build_view
from simonides.lifecycle.briefing import newest_first
from simonides.lifecycle.preferring import prefer_observations, with_stand_ins
from simonides.records.entity import all_count_as
from simonides.records.query import Filters
from simonides.records.time_to_live import ERASE, EXPIRE
from simonides.retain.extraction.known_names import LEADS, ODD_LEADS, KnownNames, Leads, name_ranges
from simonides.retain.resolution import fold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from simonides.index.view import BankView
    from simonides.recall.plan import Plan
    from simonides.records.memory import Memory
    from simonides.records.source import Source
    from simonides.retain.extraction.known_names import Found
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader


@dataclass(frozen=True, slots=True)
class Viewing:
    """Builds views inside read transactions."""

    context: BankContext

    def view(self, reading: Reader, filters: Filters | None = None, now: int | None = None) -> BankView:
        """What *filters* (by default all that who acts may read) let see *now* (by default the clock)."""
        filters = Filters(principal=self.context.principal) if filters is None else filters
        now = self.context.now() if now is None else now
        past = filters.as_of is not None or filters.known_at is not None
        # What is to be erased is gone at every viewpoint once the clock says so.
        clock = self.context.now() if past else now

        def ended(moment: int) -> Ended:
            return Ended(
                reading.roots_due(moment, EXPIRE),
                reading.roots_due(clock, ERASE),
                reading.moments_ended(moment) if past else (),
            )

        return build_view(reading.snapshot, filters, now, self.rows(reading), ended)

    def rows(self, reading: Reader) -> ViewRows:
        """Reads the rows behind a view."""
        principal = self.context.principal
        return ViewRows(reading, NameLookup(reading, None if principal is None else (principal,)))

    def with_observations(
        self, plan: Plan, view: BankView, reading: Reader, filters: Filters
    ) -> tuple[Plan, BankView]:
        """A plan and a view in which observations stand in for their sources, if *filters* prefer them."""
        if not filters.observations:
            return plan, view
        evidence = reading.evidence(view.known_at)
        view, stand_ins = prefer_observations(view, evidence, filters)
        return with_stand_ins(plan, stand_ins), view

    def standing(self, reading: Reader, filters: Filters, now: int) -> list[Memory]:
        """The standing memories of a scope at its viewpoint, newest first."""
        wide = replace(filters, kinds=None, project=None, window=None, archived=False, observations=True)
        view = self.view(reading, wide, now)
        return [
            memory
            for memory in newest_first(view, np.flatnonzero(view.standing))
            if filters.project is None or memory.project in {"", filters.project}
        ]


def verified(reading: Reader, memories: list[Memory]) -> list[Memory]:
    """Check what a view read against its checksums before it is returned.

    ``DamagedError`` where they differ.
    """
    reading.check([memory.ordinal for memory in memories])
    return memories


def visible_memories(reading: Reader, view: BankView) -> list[Memory]:
    """All memories that are visible in a view, verified."""
    return verified(reading, view.memories(np.flatnonzero(view.visible).tolist()))


class NameFinder(Protocol):
    """What finds the names of a bank in a text, as ``KnownNames`` does."""

    def find(self, text: str, accepts: Callable[[str], bool]) -> list[Found]:
        """Known names in *text*, from left to right, not overlapping; at each place the longest."""
        ...


class NameReader(Protocol):
    """What reads names by their folded forms, as ``Reader`` does."""

    def names_within(
        self, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
    ) -> list[str]:
        """Names in ranges that all *readers* may know of, by their entities' numbers."""
        ...

    def any_name_within(self, ranges: Iterable[tuple[str, str]]) -> bool:
        """Whether there is a name in one of *ranges*."""
        ...


class NameLookup:
    """Finds names by reading only those that may stand in the text: a bank has a hundred thousand.

    *readers* are whoever is to know of a name; ``None`` = the owner, who knows all.
    """

    def __init__(self, reading: NameReader, readers: Sequence[str] | None) -> None:
        self._reading = reading
        self._readers = readers
        self._leads: Leads | None = None
        self._lock = threading.Lock()

    def find(self, text: str, accepts: Callable[[str], bool]) -> list[Found]:
        """As ``KnownNames.find`` over all names of the bank."""
        return KnownNames(self._names(text)).find(text, accepts)

    def _names(self, text: str) -> list[str]:
        with self._lock:
            if self._leads is None:
                self._leads = self._read_leads()
            ranges = name_ranges(text, self._leads)
            return self._reading.names_within(ranges, self._readers) if ranges else []

    def _read_leads(self) -> Leads:
        there = self._reading.any_name_within
        signs = tuple(sign for sign, behind in LEADS.items() if there([(sign, behind)]))
        return Leads(signs, odd=there(ODD_LEADS))


class ViewRows:
    """The rows behind one snapshot, and the *names* of the bank's entities for finding them in a query.

    Implements ``index.view.RowReader``. Channels may run side by side; they share one connection, so they
    take turns here.
    """

    def __init__(self, reading: Reader, names: NameFinder) -> None:
        self._reading = reading
        self._names = names
        self._merges: dict[int, dict[int, int]] = {}
        # Within one read transaction a row does not change, and several stages read the same.
        self._memories: dict[int, Memory] = {}
        self._lock = threading.Lock()

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """Records by ordinal, in the order asked for; whoever hands one out checks it."""
        with self._lock:
            wanted = [int(ordinal) for ordinal in ordinals]
            missing = [ordinal for ordinal in dict.fromkeys(wanted) if ordinal not in self._memories]
            self._memories.update(zip(missing, self._reading.candidates(missing), strict=True))
            return [self._memories[ordinal] for ordinal in wanted]

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        """MinHash signatures by ordinal."""
        with self._lock:
            return self._reading.signatures(ordinals)

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        """Raw sources by ordinal."""
        with self._lock:
            return self._reading.sources(ordinals)

    def find_entities(self, text: str, known_at: int, counts: Callable[[int], bool]) -> tuple[int, ...]:
        """Entities that count and whose names, by *known_at*, stand in *text*, in order; merged as one."""
        bearers: dict[str, list[int]] = {}

        def borne(name: str) -> bool:
            folded = fold_name(name)
            if folded not in bearers:
                with self._lock:
                    numbers = self._reading.entities_named(folded, known_at)
                wholes = dict.fromkeys(self._whole(number, known_at) for number in numbers)
                bearers[folded] = [whole for whole in wholes if counts(whole)]
            return bool(bearers[folded])

        found = self._names.find(text, borne)
        return tuple(dict.fromkeys(whole for name, _, _ in found for whole in bearers[fold_name(name)]))

    def entity_groups(self, entities: Sequence[int], known_at: int) -> dict[int, int]:
        """The entities and all that were merged with them by *known_at*, each with what it counts as."""
        wholes = {self._whole(entity, known_at) for entity in entities}
        merged = {entity: whole for entity, whole in self.merges(known_at).items() if whole in wholes}
        return {whole: whole for whole in wholes} | merged

    def merges(self, known_at: int) -> dict[int, int]:
        """Entities that had been merged into others by *known_at*, each with what it counts as."""
        with self._lock:
            if known_at not in self._merges:
                self._merges[known_at] = all_count_as(self._reading.merged_entities(known_at))
            return self._merges[known_at]

    def _whole(self, entity: int, known_at: int) -> int:
        return self.merges(known_at).get(entity, entity)
