"""Turns of a conversation that a reader found, as items with their neighbours as context."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.retain.conversations import conversation_items
from simonides.retain.importing.item import ImportedItem, given

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Turn:
    """What someone said.

    Attributes:
        text: not blank.
        line, part: where it stands; see ``ImportedItem``.
        role: user, assistant or tool.
        speaker: a name that belongs before the text; a role is none.
        when: when it was said.
        metadata: the original's id and the like.
    """

    text: str
    line: int
    part: str = ""
    role: str = "user"
    speaker: str = ""
    when: object = None
    metadata: dict[str, Any] = field(default_factory=dict)


def turn_items(
    turns: Sequence[Turn], *, session: str, source: str, title: str = ""
) -> Iterator[ImportedItem]:
    """One item per turn.

    Args:
        turns: of one conversation, in order.
        session: its name.
        source: the program it comes from.
        title: of the conversation, found with every turn of it.
    """
    said = [
        given(text=t.text, speaker=t.speaker, event_time=t.when, role=t.role, metadata=t.metadata)
        for t in turns
    ]
    for turn, item in zip(turns, conversation_items(said, session=session), strict=True):
        context = "\n".join(part for part in (title, item["context"]) if part)
        speaker = turn.speaker or turn.role
        yield ImportedItem(
            {**item, "context": context, "speaker": speaker, "source": source}, turn.line, turn.part
        )
