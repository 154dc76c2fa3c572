"""A Claude Code session: one JSON object a line, of which ``user`` and ``assistant`` lines are turns.

Kept are the texts that the two wrote; left out and counted are thoughts, calls of tools and their results,
pictures and files. Passed over are side chains (an agent's talk with its own helpers), lines marked as meta,
and what a slash command printed. The session is the line's ``sessionId``.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.content import texts_of
from simonides.retain.importing.item import ImportReport
from simonides.retain.importing.json_source import json_lines, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import ImportedItem, NamedFile

SOURCE = "claude-code"

ROLES = ("user", "assistant")
_PRINTED = ("<command-", "<local-command-")


def read_claude_code(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The turns of a session, in order."""
    report = report or ImportReport()
    sessions: dict[str, list[Turn]] = {}
    for line, row in json_lines(stream, file, report.skipped):
        if row.get("type") not in ROLES or row.get("isMeta") or row.get("isSidechain"):
            continue
        try:
            text = _text(row, report)
            session = _session(row)
        except (ValueError, TypeError) as error:
            report.skipped(file.wrong(line, str(error)))
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
        yield from turn_items(turns, file, report, session=session, source=SOURCE)


def _session(row: dict[str, Any]) -> str:
    session = row.get("sessionId")
    if not isinstance(session, str) or not session:
        raise ValueError("sessionId: is missing")
    return session


def _text(row: dict[str, Any], report: ImportReport) -> str:
    message = row.get("message")
    if not isinstance(message, dict):
        raise TypeError(f"message: expected an object, got {kind_of(message)}")
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        raise TypeError(f"message.content: expected a text or a list of blocks, got {kind_of(content)}")
    return "\n\n".join(text.strip() for text in texts_of(content, report))
