"""Where each node of a walk stands in its arrays: in the order in which nodes were met.

A walk sees a small part of a large bank; so passes over its arrays stay short.
Cost: one look-up for each node asked for, and 4 bytes for each node of the bank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simonides.index.distinct import ascending

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROOM = 1_024
"""Places that arrays have at first; four times as many when these are taken."""

Item = TypeVar("Item", bound=np.generic)


class Places:
    """Each node at the next place when it is first met; nothing is at 0.

    Attributes:
        room: places that there are; those behind the last node are empty.
    """

    def __init__(self, nodes: int) -> None:
        self.room = _ROOM
        self._nodes = np.zeros(self.room, np.int64)
        self._count = 1
        # By node; 0 = not met.
        self._places = np.zeros(nodes, np.int32)

    def at(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each node; 0 for those that were not met."""
        return self._places.take(nodes).astype(np.int64)

    def nodes(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The node at each place."""
        return self._nodes.take(places)

    def ordered(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes at *places*, which are distinct, from the lowest on."""
        return ascending(self._nodes[places], len(self._places))

    def meet(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give a place to each node that has none; those that had none, each once, by place."""
        try:
            new = nodes.compress(self._places.take(nodes) == 0)
        except IndexError:
            # Rare, and to look for it each time costs as much as the look-up.
            self._places = longer(self._places, int(nodes.max()) + 1 + len(self._places) // 4)
            new = nodes.compress(self._places.take(nodes) == 0)
        marks = np.arange(self._count, self._count + len(new), dtype=np.int32)
        # One mark of each node's stays, and so each is new once, without a sort.
        self._places[new] = marks
        new = new.compress(self._places.take(new) == marks)
        self._places[new] = marks[: len(new)]
        before, self._count = self._count, self._count + len(new)
        if self._count > self.room:
            self.room = max(self._count, 4 * self.room)
            self._nodes = longer(self._nodes, self.room)
        self._nodes[before : self._count] = new
        return new


def longer(array: NDArray[Item], length: int) -> NDArray[Item]:
    """*array*, then zeros."""
    grown = np.zeros(length, array.dtype)
    grown[: len(array)] = array
    return grown
