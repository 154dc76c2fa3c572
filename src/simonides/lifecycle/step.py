"""One change that a maintenance run makes, or would make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simonides.records.json_ready import JsonReady


@dataclass(frozen=True, slots=True)
class Step(JsonReady):
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


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What a run did, or in a dry run would do; *left* = due steps that wait for the next run."""

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
