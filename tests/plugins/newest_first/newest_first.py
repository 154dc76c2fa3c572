"""A channel of another package: what began to hold last comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Ranking
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class NewestFirst:
    """Channel.

    Attributes:
        depth: memories at most.
    """

    depth: int

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        """Eligible memories, the newest first."""
        rows = np.flatnonzero(view.eligible)
        return view.ranking(rows, view.column("valid_from", rows).astype(np.float64), self.depth)
