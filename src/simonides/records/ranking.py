"""An ordered list from one channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.records.trace import Attempt


@dataclass(frozen=True, slots=True)
class Ranking:
    """Memories by falling score. Position 0 holds rank 1.

    Attributes:
        ordinals: int64, shape (n,): row ordinals, best first, no repeats.
        scores: float64, shape (n,): higher is better, on the channel's own scale, rounded to 1e-9.
        reason: why the channel did less than asked (no embedder, no terms); empty when it ran.
        attempts: each query that a channel with several tries made or passed over, in order (JB-11).
    """

    ordinals: NDArray[np.int64]
    scores: NDArray[np.float64]
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()

    def __len__(self) -> int:
        return len(self.ordinals)

    @classmethod
    def empty(cls, reason: str = "") -> Ranking:
        """A ranking without hits; *reason* goes to the trace."""
        return cls(np.empty(0, np.int64), np.empty(0, np.float64), reason)
