"""What a channel found, in order, and a candidate of the pool with its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.records.explanation import Attempt


FUSED = "fused"
"""The signal that keeps a candidate's fused score, whatever later stages make of its score."""


@dataclass(slots=True)
class Candidate:
    """One memory in the pool; never changed once it is made.

    Not frozen, because a recall makes a thousand of them, and a frozen one takes twice as long: mypy watches
    over its fields instead.

    Attributes:
        ordinal: row ordinal of the memory's version.
        score: the last score, on the scale of the stage named by ``scored_by``.
        scored_by: name of the stage that set ``score``.
        ranks: per channel, the rank there, counted from 1.
        channel_scores: per channel, the score there, on that channel's own scale.
        signals: named numbers that refiners added.
    """

    ordinal: Final[int]
    score: Final[float]
    scored_by: Final[str]
    ranks: Final[Mapping[str, int]] = field(default_factory=dict)
    channel_scores: Final[Mapping[str, float]] = field(default_factory=dict)
    signals: Final[Mapping[str, float]] = field(default_factory=dict)

    def rescored(self, score: float, scored_by: str, **signals: float) -> Candidate:
        """The same candidate with another score and more signals."""
        return self.with_signals(score, scored_by, signals)

    def with_signals(self, score: float, scored_by: str, signals: Mapping[str, float]) -> Candidate:
        """The same as ``rescored``, in half the time: for whole pools, several times a recall."""
        # dataclasses.replace takes six times as long.
        return Candidate(
            self.ordinal, score, scored_by, self.ranks, self.channel_scores, {**self.signals, **signals}
        )


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
