"""What a bank believed at two moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.records.memory import Memory


@dataclass(frozen=True, slots=True)
class Change:
    """One memory in two versions."""

    before: Memory
    after: Memory


@dataclass(frozen=True, slots=True)
class Diff:
    """Memories by id: believed only then, only later, or in another version. Each list is sorted by id."""

    ended: tuple[Memory, ...]
    begun: tuple[Memory, ...]
    changed: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "ended": [memory.to_dict() for memory in self.ended],
            "begun": [memory.to_dict() for memory in self.begun],
            "changed": [
                {"before": change.before.to_dict(), "after": change.after.to_dict()}
                for change in self.changed
            ],
        }


def compare(before: Iterable[Memory], after: Iterable[Memory]) -> Diff:
    """The difference between two sets of believed memories (at most one version of each)."""
    old = {memory.id: memory for memory in before}
    new = {memory.id: memory for memory in after}
    return Diff(
        ended=tuple(old[i] for i in sorted(old.keys() - new.keys())),
        begun=tuple(new[i] for i in sorted(new.keys() - old.keys())),
        changed=tuple(
            Change(old[i], new[i])
            for i in sorted(old.keys() & new.keys())
            if old[i].version != new[i].version
        ),
    )
