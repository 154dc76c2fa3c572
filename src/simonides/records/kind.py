"""The closed vocabularies of a memory: kind, layer, state marks, and what it does in a conversation.

A mark never changes what a memory states. It is part of the version, so an earlier viewpoint sees the marks
that stood then.

In a conversation a memory states, asks, is a tool's output, an assistant's turn, or an echo. Who said it
follows from the trust stamped by role (``retain.placing``), which each row has kept from the beginning, so it
is known of old banks, too. Tools and documents are trusted alike: what is filed, as a part of a document or
under a path, is a document's, and what is not is a tool's.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Literal


class Kind(StrEnum):
    """What sort of thing a memory states. The order is the code stored in index columns: append only."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    DECISION = "decision"
    CODE = "code"
    PREFERENCE = "preference"
    OBSERVATION = "observation"
    QUARANTINE = "quarantine"
    """Set aside: in no recall that does not ask for this kind, and it closes or repeats nothing."""


class Layer(StrEnum):
    """How far a memory has been promoted (EN-13). The order is the code stored in index columns."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    CODEBASE = "codebase"


RECALLED = tuple(kind for kind in Kind if kind is not Kind.QUARANTINE)
"""Kinds that a recall looks at unless it is told otherwise."""

KIND_CODES = {kind: code for code, kind in enumerate(Kind)}
LAYER_CODES = {layer: code for code, layer in enumerate(Layer)}


PINNED = 1
"""Kept from decay, and first in a brief."""

ARCHIVED = 2
"""Found on request only, until it is used again."""

CONSOLIDATED = 4
"""An observation that maintenance made from several memories (HI-17)."""

STANDING = 8
"""A pinned memory that also leads the context of each recall that asks for standing memories."""

ALL_STATES = PINNED | ARCHIVED | CONSOLIDATED | STANDING


TRUST = {"user": 1.0, "": 1.0, "assistant": 0.7, "tool": 0.6, "document": 0.6, "import": 0.5}
"""How far a source is trusted, by role; an empty role is the caller itself."""

ROLE_OF_MESSAGE = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "",
    "developer": "",
}
"""Role of a chat message → role of the memory; an empty one is stored as none."""


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
    """The role that decides a row's order, empty = any other; *filed*: it belongs to a document or a path."""
    if trust == TRUST["assistant"]:
        return "assistant"
    return "tool" if trust == TRUST["tool"] and not filed else ""
