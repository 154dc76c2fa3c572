"""ChatGPT's ``conversations.json``: a list of conversations, each a tree of messages.

The conversation is the path from the tree's ``current_node`` up to its root: of a message that was edited or
answered anew, the version that was seen last. Kept are the texts of user, assistant and tools; left out are
system messages, hidden ones, calls of tools, thoughts, pictures and sound. A conversation without
``current_node`` ends at the newest message that nothing follows.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from simonides.records.hygiene import to_float
from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.item import refuse
from simonides.retain.importing.json_source import json_rows, kind_of, moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import ImportedItem, NamedFile, Skipped

SOURCE = "chatgpt"

_ROLES = frozenset({"user", "assistant", "tool"})
_TEXTS = frozenset({"text", "multimodal_text"})


def read_chatgpt(stream: IO[str], file: NamedFile, skipped: Skipped = refuse) -> Iterator[ImportedItem]:
    """The turns of every conversation, one conversation after the other; the session is its id."""
    for line, conversation in json_rows(stream, file, "conversations"):
        name = f"conversation {_id(conversation) or '?'}"
        try:
            turns = _turns(conversation, line)
        except (ValueError, TypeError) as error:
            skipped(file.wrong(line, str(error), name))
            continue
        title = conversation.get("title")
        yield from turn_items(
            turns,
            session=_id(conversation),
            source=SOURCE,
            title=title.strip() if isinstance(title, str) else "",
        )


def _id(conversation: object) -> str:
    if not isinstance(conversation, dict):
        return ""
    return str(conversation.get("conversation_id") or conversation.get("id") or "")


def _turns(conversation: object, line: int) -> list[Turn]:
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        raise TypeError(f"expected a conversation with a mapping of messages, got {kind_of(conversation)}")
    if not _id(conversation):
        raise ValueError("has no id")
    nodes: dict[str, Any] = conversation["mapping"]
    path: list[Any] = []
    seen: set[object] = set()
    place = conversation.get("current_node") or _newest_leaf(nodes)
    while place is not None:
        if place in seen or not isinstance(nodes.get(place), dict):
            raise ValueError(f"its tree of messages is broken at {place!r}")
        seen.add(place)
        path.append(nodes[place].get("message"))
        place = nodes[place].get("parent")
    return [turn for message in reversed(path) for turn in _said(message, line)]


def _newest_leaf(nodes: dict[str, Any]) -> str | None:
    leaves = [
        (_seconds(_object(node, "message").get("create_time")), place)
        for place, node in nodes.items()
        if isinstance(node, dict) and not node.get("children")
    ]
    return max(leaves)[1] if leaves else None


def _object(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"{key} of a message: expected an object, got {kind_of(value)}")
    return value or {}


def _seconds(value: object) -> float:
    return to_float(value) if isinstance(value, int | float) else 0.0


def _said(message: object, line: int) -> Iterator[Turn]:
    if not isinstance(message, dict):
        return
    author, content, metadata = (_object(message, key) for key in ("author", "content", "metadata"))
    hidden = metadata.get("is_visually_hidden_from_conversation")
    if author.get("role") not in _ROLES or hidden or message.get("recipient") not in {None, "all"}:
        return
    if content.get("content_type") not in _TEXTS:
        return
    parts = content.get("parts") or []
    if not isinstance(parts, list):
        raise TypeError(f"parts of a message: expected a list, got {kind_of(parts)}")
    text = "\n\n".join(part for part in parts if isinstance(part, str) and part.strip())
    if text:
        identity = str(message.get("id") or "")
        yield Turn(
            text,
            line,
            part=f"message {identity}",
            role=author["role"],
            when=moment(message.get("create_time")),
            metadata={"id": identity} if identity else {},
        )
