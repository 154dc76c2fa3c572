"""A Claude Code session: one JSON object a line, of which ``user`` and ``assistant`` lines are turns.

Kept are the texts that the two wrote; left out are thoughts, calls of tools and their results, side chains
(an agent's talk with its own helpers), lines marked as meta, and what a slash command printed. The session
is the line's ``sessionId``.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.item import refuse
from simonides.retain.importing.json_source import json_lines, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import ImportedItem, NamedFile, Skipped

SOURCE = "claude-code"

ROLES = ("user", "assistant")
_PRINTED = ("<command-", "<local-command-")


def read_claude_code(stream: IO[str], file: NamedFile, skipped: Skipped = refuse) -> Iterator[ImportedItem]:
    """The turns of a session, in order."""
    sessions: dict[str, list[Turn]] = {}
    for line, row in json_lines(stream, file, skipped):
        if row.get("type") not in ROLES or row.get("isMeta") or row.get("isSidechain"):
            continue
        try:
            text = _text(row)
            session = _session(row)
        except (ValueError, TypeError) as error:
            skipped(file.wrong(line, str(error)))
            continue
        if text and not text.startswith(_PRINTED):
            identity = row.get("uuid")
            turn = Turn(
                text,
                line,
                role=row["type"],
                when=row.get("timestamp"),
                metadata={"id": identity} if isinstance(identity, str) else {},
            )
            sessions.setdefault(session, []).append(turn)
    for session, turns in sessions.items():
        yield from turn_items(turns, session=session, source=SOURCE)


def _session(row: dict[str, Any]) -> str:
    session = row.get("sessionId")
    if not isinstance(session, str) or not session:
        raise ValueError("sessionId: is missing")
    return session


def _text(row: dict[str, Any]) -> str:
    message = row.get("message")
    if not isinstance(message, dict):
        raise TypeError(f"message: expected an object, got {kind_of(message)}")
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        raise TypeError(f"message.content: expected a text or a list of blocks, got {kind_of(content)}")
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return "\n\n".join(text for block in blocks if (text := str(block.get("text") or "").strip()))
