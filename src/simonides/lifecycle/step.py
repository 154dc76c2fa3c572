"""One change that a maintenance run makes, or would make."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """What changes about one memory, and why.

    Attributes:
        action: promote, archive, erase, return, observe, update or withdraw.
        memory: id; empty for an observation that is not there yet.
        was, became: layers, states, or numbers of sources.
        reason: in words, with the numbers that decided.
    """

    action: str
    memory: str
    was: str
    became: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What a run did, or in a dry run would do.

    Attributes:
        steps: in the order in which they were made.
        left: steps that are due and wait for the next run.
        dry_run: nothing was written.
    """

    steps: tuple[Step, ...]
    left: int
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "dry_run": self.dry_run,
            "left": self.left,
            "steps": [step.to_dict() for step in self.steps],
        }
