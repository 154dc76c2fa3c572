"""Reads the rows behind a view, inside one read transaction. Implements ``index.view.RowReader``.

Channels may run side by side; they share one connection, so they take turns here.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from simonides.records.entity import all_count_as
from simonides.retain.extraction.known_names import LEADS, ODD_LEADS, KnownNames, Leads, name_ranges
from simonides.retain.resolution import fold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.memory import Memory
    from simonides.records.source import Source
    from simonides.retain.extraction.known_names import Found
    from simonides.storage.reader import Reader


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
    """The rows behind one snapshot, and the *names* of the bank's entities for finding them in a query."""

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
