"""What a view reads from the rows, in one recall's read transaction. Implements ``index.view.RowReader``.

Channels may run side by side; they share one connection, so they take turns here.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from simonides.retain.names import fold_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simonides.backends.embedded.bank import Reading
    from simonides.records.memory import Memory
    from simonides.records.source import Source
    from simonides.retain.extraction.known_names import KnownNames


class RecallRows:
    """The rows behind one snapshot.

    Args:
        reading: an open read transaction.
        names: of the bank's entities, for finding them in a query.
    """

    def __init__(self, reading: Reading, names: KnownNames) -> None:
        self._reading = reading
        self._names = names
        self._merges: dict[int, int] | None = None
        self._lock = threading.Lock()

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """Records by ordinal, in the order asked for."""
        with self._lock:
            return self._reading.memories(ordinals)

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        """MinHash signatures by ordinal."""
        with self._lock:
            return self._reading.signatures(ordinals)

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        """Raw sources by ordinal."""
        with self._lock:
            return self._reading.sources(ordinals)

    def find_entities(self, text: str) -> tuple[int, ...]:
        """Entities whose names stand in *text*, in order; merged ones as one."""
        folded = dict.fromkeys(fold_name(name) for name, _, _ in self._names.find(text))
        with self._lock:
            numbers = [number for name in folded for number in self._reading.entities_named(name)]
        return tuple(dict.fromkeys(self._whole(number) for number in numbers))

    def entity_groups(self, entities: Sequence[int]) -> dict[int, int]:
        """The given entities and all that were merged with them, each with what it counts as."""
        wholes = {self._whole(entity) for entity in entities}
        groups = {whole: whole for whole in wholes}
        groups |= {entity: self._whole(entity) for entity in entities}
        groups |= {e: self._whole(e) for e in self._all_merges() if self._whole(e) in wholes}
        return groups

    def _all_merges(self) -> dict[int, int]:
        with self._lock:
            if self._merges is None:
                self._merges = self._reading.merged_entities()
            return self._merges

    def _whole(self, entity: int) -> int:
        merges = self._all_merges()
        seen = {entity}
        while (into := merges.get(entity)) is not None and into not in seen:
            entity = into
            seen.add(entity)
        return entity
