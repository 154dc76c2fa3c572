"""What each stage saw and did, and how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage's line.

    Attributes:
        name: the stage's name in the profile.
        shape: understander, channel, fuser, refiner or packer.
        technique: the registered technique that ran.
        milliseconds: wall time of the stage.
        count: memories that came out (terms, for an understander that produced terms).
        reason: why the stage did less than asked; empty when it ran in full.
    """

    name: str
    shape: str
    technique: str
    milliseconds: float
    count: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The whole story of one recall. Times (as_of, known_at) in microseconds UTC."""

    query: str
    profile: str
    seed: int
    as_of: int
    known_at: int
    sequence: int
    rows: int
    visible: int
    eligible: int
    stages: tuple[StageTrace, ...]
    milliseconds: float
    degraded: tuple[str, ...] = ()

    def to_dict(self) -> Mapping[str, Any]:
        """A JSON-ready description."""
        return {
            "query": self.query,
            "profile": self.profile,
            "seed": self.seed,
            "as_of_micros": self.as_of,
            "known_at_micros": self.known_at,
            "sequence": self.sequence,
            "rows": self.rows,
            "visible": self.visible,
            "eligible": self.eligible,
            "degraded": list(self.degraded),
            "milliseconds": round(self.milliseconds, 3),
            "stages": [
                {
                    "name": stage.name,
                    "shape": stage.shape,
                    "technique": stage.technique,
                    "milliseconds": round(stage.milliseconds, 3),
                    "count": stage.count,
                    "reason": stage.reason,
                }
                for stage in self.stages
            ],
        }
