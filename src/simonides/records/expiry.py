"""When a memory's time to live ends, and what becomes of it then."""

from __future__ import annotations

from dataclasses import dataclass

from simonides.records.interval import from_micros
from simonides.records.time_to_live import ARCHIVE
from simonides.records.time_to_live import ERASE as FORGET

EXPIRE, ERASE, EXPIRED = "expire", "erase", "expired"

ON_EXPIRY_OF = {EXPIRE: ARCHIVE, ERASE: FORGET}
"""What a task does, in the words of callers."""

TASK_OF = {on_expiry: task for task, on_expiry in ON_EXPIRY_OF.items()}


@dataclass(frozen=True, slots=True)
class Due:
    """A memory whose time to live ends.

    Attributes:
        root: ordinal of its first version.
        memory: its id.
        task: ``EXPIRE`` or ``ERASE``.
        moment: at which it ends, microseconds UTC.
    """

    root: int
    memory: str
    task: str
    moment: int

    @property
    def reason(self) -> str:
        """In words."""
        at = from_micros(self.moment)
        return f"its time to live ended at {at.isoformat() if at else 'an open end'}"
