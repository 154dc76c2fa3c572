"""Edges between memories, or between memories and entities, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LINK_KINDS = ("semantic", "causal", "temporal", "session")
"""The order is the code stored in the index: append only."""

LINK_CODES = {kind: code for code, kind in enumerate(LINK_KINDS)}


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges as columns: first end int64, second end int64, kind uint8, weight float32."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def join(cls, parts: Sequence[Edges]) -> Edges:
        """One after the other."""
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.second for part in parts]),
            np.concatenate([part.kinds for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    def keep(self, mask: NDArray[np.bool_]) -> Edges:
        """Those where *mask* is true."""
        if mask.all():
            return self
        places = mask.nonzero()[0]
        return Edges(self.first[places], self.second[places], self.kinds[places], self.weights[places])

    def ordered(self) -> Edges:
        """Sorted by (first end, second end, kind), so that the answer does not tell sealed from newer."""
        order = np.lexsort((self.kinds, self.second, self.first))
        return Edges(self.first[order], self.second[order], self.kinds[order], self.weights[order])

    def unique(self) -> Edges:
        """Sorted, each (first end, second end, kind) once, with its first weight."""
        edges = self.ordered()
        if not len(edges):
            return edges
        same = (
            (edges.first[1:] == edges.first[:-1])
            & (edges.second[1:] == edges.second[:-1])
            & (edges.kinds[1:] == edges.kinds[:-1])
        )
        return edges.keep(np.concatenate([np.array([True]), ~same]))

    def reversed(self) -> Edges:
        """The same edges from the other end."""
        return Edges(self.second, self.first, self.kinds, self.weights)
