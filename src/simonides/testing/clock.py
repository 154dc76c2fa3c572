"""A clock that stands still until it is told to move, for tests of anything that depends on time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from simonides.errors import InputError


@dataclass(slots=True)
class FrozenClock:
    """A settable clock that satisfies ``protocols.Clock``: call it for the time.

    Attributes:
        now: the aware moment that every call returns; assign to set it, also backwards.
    """

    now: datetime = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __post_init__(self) -> None:
        if self.now.utcoffset() is None:
            raise InputError("now", f"{self.now!r} has no time zone; give an aware datetime")

    def __call__(self) -> datetime:
        return self.now

    def advance(self, *, days: float = 0, seconds: float = 0) -> datetime:
        """Move by *days* and *seconds* (negative: backwards) and return the new moment."""
        self.now += timedelta(days=days, seconds=seconds)
        return self.now
