"""What a memory does in a conversation: it states, asks, is a tool's output, an assistant's turn, or an echo.

Who said it follows from the trust that the store stamps by role (``retain.trust``), which each row has kept
from the beginning, so it is known of old banks, too. Tools and documents are trusted alike: what is filed, as
a part of a document or under a path, is a document's, and what is not is a tool's.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

TRUST = {"user": 1.0, "": 1.0, "assistant": 0.7, "tool": 0.6, "document": 0.6, "import": 0.5}
"""How far a source is trusted, by role; an empty role is the caller itself."""


class Utterance(IntEnum):
    """As the index column ``utterance`` holds it."""

    STATEMENT = 0
    QUESTION = 1
    """It only asks, whoever does; so does the call of a tool."""
    TOOL_OUTPUT = 2
    ASSISTANT = 3
    """An assistant states it, perhaps from memory."""
    ECHO = 4
    """What the engine gave a tool from memory."""


ANSWER_NOTHING = frozenset({Utterance.QUESTION, Utterance.ECHO})


def role_by_trust(trust: float, *, filed: bool) -> Literal["assistant", "tool", ""]:
    """The role that a row was retained in, as far as order depends on it; empty = any other.

    Args:
        trust: as the store stamped it.
        filed: whether the row belongs to a document or a path.
    """
    if trust == TRUST["assistant"]:
        return "assistant"
    return "tool" if trust == TRUST["tool"] and not filed else ""
