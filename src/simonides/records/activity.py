"""What happens in a bank: what was written, and what was returned to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from datetime import datetime

    from simonides.records.memory import Memory

STORED, CHANGED, ENDED, ARCHIVED, FORGOTTEN = "stored", "changed", "ended", "archived", "forgotten"
RECALLED, BRIEFED = "recalled", "briefed"
WHAT = (STORED, CHANGED, ENDED, ARCHIVED, FORGOTTEN, RECALLED, BRIEFED)


@dataclass(frozen=True, slots=True)
class Written:
    """A change of rows as the change log tells it.

    Attributes:
        number: of the change.
        at: microseconds UTC; 0 = an erasure by an earlier version, which kept no time.
        ordinal: of the version that came, or was withdrawn; ``None`` = memories were erased.
        before: of the version before it; ``None`` = it is the first.
        withdrawn: no version took its place.
    """

    number: int
    at: int
    ordinal: int | None
    before: int | None
    withdrawn: bool


class Given(NamedTuple):
    """What a recall returned; a tuple, because every recall makes one.

    Attributes:
        number: rises with each; of an impression the number of its row.
        at: the clock, microseconds UTC.
        recall: its id.
        principal: who asked; empty = the owner.
        ids: of the memories whose words it holds.
        context: the text, exactly as it was given; empty where it is not kept.
    """

    number: int
    at: int
    recall: str
    principal: str
    ids: tuple[str, ...]
    what: str = RECALLED
    query: str = ""
    context: str = ""
    band: str = ""
    confidence: float | None = None
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Event(JsonReady):
    """One thing that happened.

    Attributes:
        at: recorded time of what was written, the clock of a recall; ``None`` = not known.
        what: stored, changed, ended, archived or forgotten; or recalled or briefed.
        memory: the version that was written; ``None`` of what was forgotten or returned.
        ids: of the memory, or of the memories that were returned.
        query, context: what was asked, and the text exactly as it was given; empty where it is not kept.
        band, confidence, profile: of the recall.
        by: who stored it or asked; empty = the owner, ``None`` = not known.
        recall: id of the recall.
    """

    at: datetime | None
    what: str
    memory: Memory | None = None
    ids: tuple[str, ...] = ()
    query: str = ""
    context: str = ""
    band: str = ""
    confidence: float | None = None
    profile: str = ""
    by: str | None = None
    recall: str = ""

    @property
    def size(self) -> int:
        """Bytes of its texts, roughly."""
        return len(self.query) + len(self.context) + (0 if self.memory is None else self.memory.size)


@dataclass(frozen=True, slots=True)
class Activity(JsonReady):
    """Events, oldest first, and where the next call continues."""

    events: tuple[Event, ...]
    next: str
