"""What the hooks of agents do, by client and event; read off each client's documents.

    brief        at the start of a session: what the last one left, as context
    recall       on a prompt: what fits it, as context
    transcript   when an answer ends, and before the conversation is compacted: retain the session's file
    turns        retain what the event itself holds, for clients whose sessions have no documented file

A client that retains turns has nothing left to save before it compacts. Cursor's hook on a prompt can give no
context: there the agent recalls by the MCP tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.retain.importing.chats import Turn, turn_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.retain.importing.sources import ImportedItem, ImportReport, NamedFile

BRIEF, RECALL, TRANSCRIPT, TURNS = "brief", "recall", "transcript", "turns"


@dataclass(frozen=True, slots=True)
class Hook:
    """One event of one client.

    Attributes:
        does: the actions, in order.
        said: role → field of the event that holds what was said.
    """

    does: tuple[str, ...]
    said: tuple[tuple[str, str], ...] = ()


HOOKS: Mapping[str, Mapping[str, Hook]] = {
    "claude-code": {
        "SessionStart": Hook((BRIEF,)),
        "UserPromptSubmit": Hook((RECALL,)),
        "Stop": Hook((TRANSCRIPT,)),
        "PreCompact": Hook((TRANSCRIPT,)),
    },
    "codex": {
        "SessionStart": Hook((BRIEF,)),
        "UserPromptSubmit": Hook((RECALL, TURNS), (("user", "prompt"),)),
        "Stop": Hook((TURNS,), (("assistant", "last_assistant_message"),)),
    },
    "gemini": {
        "SessionStart": Hook((BRIEF,)),
        "BeforeAgent": Hook((RECALL,)),
        "AfterAgent": Hook((TURNS,), (("user", "prompt"), ("assistant", "prompt_response"))),
    },
    "cursor": {
        "sessionStart": Hook((BRIEF,)),
        "beforeSubmitPrompt": Hook((TURNS,), (("user", "prompt"),)),
        "afterAgentResponse": Hook((TURNS,), (("assistant", "text"),)),
    },
}
"""Client → event → what is done."""

# A client's variable names the folder of the session; the event's own may be where a command has gone since.
_FOLDER_VARIABLES = {"claude-code": "CLAUDE_PROJECT_DIR", "gemini": "GEMINI_PROJECT_DIR"}
_SESSION_KEYS = ("session_id", "conversation_id")
_TURN_KEYS = ("turn_id", "generation_id")


def hook_of(client: str, event: Mapping[str, Any]) -> tuple[str, Hook]:
    """The event's name, and what is to be done; ``InputError`` for an event that nothing is done for."""
    name = event.get("hook_event_name")
    known = HOOKS[client]
    if not isinstance(name, str) or name not in known:
        found = "is missing" if name is None else f"{str(name)[:40]!r} is not known"
        raise InputError("hook_event_name", f"{found}; expected {', '.join(known)}")
    return name, known[name]


def session_folder(client: str, event: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> Path:
    """The folder that a session works in: as the client's variable says, else the event, else *here*."""
    roots = event.get("workspace_roots")
    named = (
        environ.get(_FOLDER_VARIABLES.get(client, "")),
        roots[0] if isinstance(roots, list) and roots else None,
        event.get("cwd"),
    )
    folders = (Path(each) for each in named if isinstance(each, str) and each and "\0" not in each)
    return next((each for each in folders if each.is_absolute()), here)


def turns_of(
    client: str, hook: Hook, event: Mapping[str, Any], place: NamedFile, report: ImportReport
) -> list[ImportedItem]:
    """What an event says was said, as items of an import, possibly none; ``InputError`` without a session."""
    turn = next((event[key] for key in _TURN_KEYS if isinstance(event.get(key), str)), None)
    turns = [
        Turn(
            text.strip(),
            line,
            role=role,
            when=event.get("timestamp"),
            metadata={"id": turn} if turn else {},
        )
        for line, (role, field) in enumerate(hook.said, 1)
        if isinstance(text := event.get(field), str) and text.strip()
    ]
    if not turns:
        return []
    session = next((event[key] for key in _SESSION_KEYS if isinstance(event.get(key), str)), "")
    if not session.strip():
        raise InputError("session_id", "is missing in the event")
    return [*turn_items(turns, place, report, session=session, source=client)]


def answer_of(client: str, event: str, context: str) -> dict[str, Any]:
    """What a hook prints, so that the client hands *context* to its model; empty for nothing to print."""
    if client == "cursor":
        return {"additional_context": context} if context else {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}} if context else {}
