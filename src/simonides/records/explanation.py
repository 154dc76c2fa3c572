"""Why a memory was returned, and why another was not (DF-02)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Unit = Literal["", "score", "places", "tokens", "seconds"]
"""What ``WhyNot.short_by`` counts."""


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """What one stage made of one memory.

    Attributes:
        stage, shape: the stage's name in the profile, and its shape.
        verdict: found, not found, kept, added, dropped, absent (it was not there), skipped, packed or
            not packed.
        rank: the memory's place after the stage, from 1; ``None`` when it is not there.
        score: its score after the stage, on the stage's own scale.
        note: in words, where there is more to say.
    """

    stage: str
    shape: str
    verdict: str
    rank: int | None = None
    score: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one hit stands where it does.

    Attributes:
        id, rank: of the hit.
        tokens: what it took of the budget.
        ranks, channel_scores: per channel, its rank (from 1) and score there.
        fused_score: after fusion; ``None`` for a memory that a later stage brought in.
        signals: every signal and boost by name.
        score, scored_by: the last score, and the stage that gave it.
        relevance: as in ``Hit``.
        verdicts: one per stage that is named in the trace, in its order.
    """

    id: str
    rank: int
    tokens: int
    ranks: Mapping[str, int]
    channel_scores: Mapping[str, float]
    fused_score: float | None
    signals: Mapping[str, float]
    score: float
    scored_by: str
    verdicts: tuple[StageVerdict, ...]
    relevance: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {**asdict(self), "verdicts": [asdict(verdict) for verdict in self.verdicts]}


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Where a memory was lost.

    Attributes:
        id: of the memory.
        returned: whether it was not lost at all.
        stage: the stage that lost it; ``visible`` or ``eligible`` = it was never looked at; empty = none.
        reason: in words.
        short_by, unit: by how much it was lost; ``None`` where that is no amount.
        remedy: what would have kept it.
        verdicts: what every stage made of it, as far as it came.
    """

    id: str
    returned: bool
    stage: str
    reason: str
    short_by: float | None = None
    unit: Unit = ""
    remedy: str = ""
    verdicts: tuple[StageVerdict, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {**asdict(self), "verdicts": [asdict(verdict) for verdict in self.verdicts]}
