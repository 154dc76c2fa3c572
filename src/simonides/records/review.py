"""What deserves a person's decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from datetime import datetime

    from simonides.records.memory import Memory

SPACE = "review"
"""Where decisions are kept: a record under an item's key says that it was decided."""

SUPERSEDED, NEAR_DUPLICATE, CONFLICT = "superseded", "near_duplicate", "conflict"
UNSURE_DATE, QUARANTINED = "unsure_date", "quarantined"
WHAT = (SUPERSEDED, NEAR_DUPLICATE, CONFLICT, UNSURE_DATE, QUARANTINED)


@dataclass(frozen=True, slots=True)
class ReviewItem(JsonReady):
    """One thing to decide.

    Attributes:
        key: of the item, the same as long as it is there.
        what: superseded, near_duplicate, conflict, unsure_date or quarantined.
        memory: that it is about: the one that ended, else the newer one.
        other: what ended it, resembles or contradicts it; ``None`` = nothing, or it was forgotten.
        rule: why it is here.
        move: by which ``undo_move`` takes the end back; ``None`` = there is none, or a principal asks.
        at: since when.
        days: that the words of an unsure date may mean, ISO 8601, the earlier one first; else empty.
        decided: whether a record in the space "review" says so.
    """

    key: str
    what: str
    memory: Memory
    other: Memory | None
    rule: str
    move: int | None
    at: datetime | None
    days: tuple[str, ...]
    decided: bool


@dataclass(frozen=True, slots=True)
class Review(JsonReady):
    """Items, newest first; ``next`` is the cursor of the next page, ``None`` = this is the last."""

    items: tuple[ReviewItem, ...]
    next: str | None
