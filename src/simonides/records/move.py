"""What maintenance, or the owner, did to one memory, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simonides.records.interval import FOREVER, from_micros

if TYPE_CHECKING:
    from simonides.records.memory import Memory


@dataclass(frozen=True, slots=True)
class Move:
    """One recorded move.

    Attributes:
        number: by which it is undone.
        memory: id.
        action: promote, archive, return, stale; close = a newer statement ended it, continue = it is a
            memory that holds again after another one.
        was, became: the layers, the states, or the names that lead nowhere; of a close when it would have
            ended (microseconds UTC; empty = never) and the memory that ended it; of a continue the memory
            that it continues and the one that it holds again after.
        reason: in words, with the numbers or the rule that decided.
        made_at_micros, undone_at_micros: microseconds UTC; ``FOREVER`` while it stands.
    """

    number: int
    memory: str
    action: str
    was: str
    became: str
    reason: str
    made_at_micros: int
    undone_at_micros: int

    @property
    def stands(self) -> bool:
        """Whether it was not undone."""
        return self.undone_at_micros == FOREVER

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        made, undone = from_micros(self.made_at_micros), from_micros(self.undone_at_micros)
        return {
            **{name: value for name, value in asdict(self).items() if not name.endswith("_micros")},
            "made_at": made.isoformat() if made else None,
            "undone_at": undone.isoformat() if undone else None,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory behind an observation.

    Attributes:
        memory: as it stood at the recall's viewpoint in recorded time.
        stance: ``for`` or ``against``.
    """

    memory: Memory
    stance: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"stance": self.stance, "memory": self.memory.to_dict()}
