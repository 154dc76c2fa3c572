"""ChatGPT's ``conversations.json``: a list of conversations, each a tree of messages.

The conversation is the path from the tree's ``current_node`` up to its root: of a message that was edited or
answered anew, the version that was seen last. Kept are the texts of user, assistant and tools, spoken ones
too; left out and counted are system and hidden messages, calls of tools and what they printed, thoughts,
pictures and sound. A conversation without ``current_node`` ends at the newest message that nothing follows.

A message that cannot be read is skipped alone. Where the tree is broken, what hangs together up to the last
message is kept.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from simonides.records.hygiene import to_float
from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.content import part_kind, texts_of
from simonides.retain.importing.item import ImportReport
from simonides.retain.importing.json_source import json_rows, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import ImportedItem, NamedFile

SOURCE = "chatgpt"

_ROLES = frozenset({"user", "assistant", "tool"})
_TEXTS = frozenset({"text", "multimodal_text"})


def read_chatgpt(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The turns of every conversation, one conversation after the other; the session is its id."""
    report = report or ImportReport()
    for line, conversation in json_rows(stream, file, report.skipped, "conversations"):
        try:
            messages = _path(conversation, file, line, report)
        except (ValueError, TypeError) as error:
            report.skipped(file.wrong(line, str(error), f"conversation {_id(conversation) or '?'}"))
            continue
        turns = []
        for message in messages:
            try:
                turns += _said(message, line, report)
            except (ValueError, TypeError) as error:
                name = f"message {_id(message) or '?'} of conversation {_id(conversation)}"
                report.skipped(file.wrong(line, str(error), name))
        title = conversation.get("title")
        yield from turn_items(
            turns,
            file,
            report,
            session=_id(conversation),
            source=SOURCE,
            title=title.strip() if isinstance(title, str) else "",
        )


def _id(row: object) -> str:
    if not isinstance(row, dict):
        return ""
    return str(row.get("conversation_id") or row.get("id") or "")


def _path(conversation: object, file: NamedFile, line: int, report: ImportReport) -> list[Any]:
    """The messages that were seen last, in order."""
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        raise TypeError(f"expected a conversation with a mapping of messages, got {kind_of(conversation)}")
    if not _id(conversation):
        raise ValueError("has no id")
    nodes: dict[str, Any] = conversation["mapping"]
    place = conversation.get("current_node") or _newest_leaf(nodes)
    if place is not None and not isinstance(nodes.get(str(place)), dict):
        _tell_broken(place, conversation, file, line, report)
        place = _newest_leaf(nodes)
    path: list[Any] = []
    seen: set[str] = set()
    while place is not None:
        if place in seen or not isinstance(nodes.get(str(place)), dict):
            _tell_broken(place, conversation, file, line, report)
            break
        seen.add(str(place))
        path.append(nodes[str(place)].get("message"))
        place = nodes[str(place)].get("parent")
    return path[::-1]


def _tell_broken(
    place: object, conversation: dict[str, Any], file: NamedFile, line: int, report: ImportReport
) -> None:
    problem = f"its tree of messages is broken at {place!r}; what follows it was kept"
    report.skipped(file.wrong(line, problem, f"conversation {_id(conversation)}"))


def _newest_leaf(nodes: dict[str, Any]) -> str | None:
    leaves = [
        (_seconds(node), place)
        for place, node in nodes.items()
        if isinstance(node, dict) and not node.get("children")
    ]
    return max(leaves)[1] if leaves else None


def _seconds(node: dict[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return to_float(time) if isinstance(time, int | float) else 0.0


def _object(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"{key} of a message: expected an object, got {kind_of(value)}")
    return value or {}


def _unsaid(
    message: dict[str, Any], author: dict[str, Any], content: dict[str, Any], metadata: dict[str, Any]
) -> str:
    """What a message is that nobody said to anybody; empty for one that was said."""
    if author.get("role") not in _ROLES:
        return "system message"
    if metadata.get("is_visually_hidden_from_conversation"):
        return "hidden message"
    if message.get("recipient") not in {None, "all"}:
        return "tool call"
    kind = content.get("content_type")
    return "" if kind in _TEXTS else part_kind(kind)


def _said(message: object, line: int, report: ImportReport) -> list[Turn]:
    """The turn that a message is; none where nothing of it was said."""
    if message is None:
        return []
    if not isinstance(message, dict):
        raise TypeError(f"expected a message, got {kind_of(message)}")
    author, content, metadata = (_object(message, key) for key in ("author", "content", "metadata"))
    if not content or content.get("parts") in ([], [""]):
        return []
    if unsaid := _unsaid(message, author, content, metadata):
        report.left_out[unsaid] += 1
        return []
    parts = content.get("parts") or []
    if not isinstance(parts, list):
        raise TypeError(f"parts of a message: expected a list, got {kind_of(parts)}")
    text = "\n\n".join(texts_of(parts, report))
    if not text:
        return []
    identity = str(message.get("id") or "")
    return [
        Turn(
            text,
            line,
            part=f"message {identity}",
            role=author["role"],
            when=message.get("create_time"),
            metadata={"id": identity} if identity else {},
        )
    ]
