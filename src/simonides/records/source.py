"""Where a memory comes from: the raw text that was retained, and the part of it that the memory tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_NEIGHBOUR = 1_000
"""Characters of a turn that are kept in the context of the turns around it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The raw text of which an item is a part; half-open span in characters.

    ``place`` is where the caller's list has it, for errors: ``turns[3]``; empty = where the item stands.
    """

    text: str
    start: int
    stop: int
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Source(JsonReady):
    """The raw source behind a memory (HI-15).

    Attributes:
        text: verbatim: the whole document, the turn as it was said, or the item itself.
        start, stop: the memory's chunk in it, characters, half-open.
        document: the caller's id of the document; empty = none.
        session: the conversation; empty = none.
        speaker: who said it; empty = not known.
        author: principal who retained it; empty = the owner.
        trust: 0 to 1, by the role it was retained in.
        recorded_at: aware, UTC.
    """

    text: str
    start: int
    stop: int
    document: str
    session: str
    speaker: str
    author: str
    trust: float
    recorded_at: datetime

    @property
    def chunk(self) -> str:
        """The part of the text that the memory tells."""
        return self.text[self.start : self.stop]
