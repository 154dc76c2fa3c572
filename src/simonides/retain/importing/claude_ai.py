"""A data export of Claude.ai: ``conversations.json``, ``projects.json`` and ``memories.json``.

    [{"uuid", "name", "chat_messages": [{"uuid", "sender": "human", "content": [{"type": "text", …}], …}]}]
    [{"uuid", "name", "description", "prompt_template", "docs": [{"uuid", "filename", "content"}]}]
    [{"conversations_memory": "…", "project_memories": {…}, "account_uuid"}]

A conversation becomes a session, a message a turn, and what was pasted into a message a document, as do the
texts of a project and what Claude noted about its user. Of a message that was edited or answered anew the
version that was seen last is kept. Thoughts, calls of tools, pictures and files without text are left out and
counted.

The form was read off published descriptions of exports; Anthropic documents none.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.retain.documents import document_items
from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.cleaning import clean_characters
from simonides.retain.importing.content import texts_of
from simonides.retain.importing.item import ImportedItem, ImportReport, given
from simonides.retain.importing.json_source import json_rows, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile

SOURCE = "claude-ai"

KEYS = frozenset({"chat_messages", "prompt_template", "conversations_memory"})
"""Keys of which a row of each file has one."""

_ROLES = {"human": "user", "assistant": "assistant"}


def read_claude_ai(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The turns of every conversation, and the documents of projects, in the order of the file."""
    report = report or ImportReport()
    for line, row in json_rows(stream, file, report.skipped):
        if not isinstance(row, dict) or not KEYS & row.keys():
            problem = f"expected a conversation, a project or a memory, got {kind_of(row)}"
            report.skipped(file.wrong(line, problem))
        elif "chat_messages" in row:
            yield from _conversation(row, line, file, report)
        else:
            name = _text(row, "name") or "memory"
            for identity, title, text in _documents(row):
                yield from _document(text, identity, title, line, f"{name}: {title}", file, report)


def _conversation(
    row: dict[str, Any], line: int, file: NamedFile, report: ImportReport
) -> Iterator[ImportedItem]:
    session, title = _text(row, "uuid"), _text(row, "name")
    messages = row["chat_messages"]
    if not session or not isinstance(messages, list):
        problem = "has no uuid" if not session else f"chat_messages: expected a list, got {kind_of(messages)}"
        report.skipped(file.wrong(line, problem, f"conversation {session or '?'}"))
        return
    turns: list[Turn] = []
    pasted: list[tuple[str, str, str]] = []
    for place, message in enumerate(_seen_last(messages, _text(row, "current_leaf_message_uuid"), report)):
        try:
            turns += _said(message, line, report)
            pasted += _attachments(message, report)
        except (ValueError, TypeError) as error:
            report.skipped(file.wrong(line, str(error), f"message {place} of conversation {session}"))
    yield from turn_items(turns, file, report, session=session, source=SOURCE, title=title)
    for identity, name, text in pasted:
        yield from _document(text, identity, name, line, f"{name} in conversation {session}", file, report)


def _seen_last(messages: list[Any], leaf: str, report: ImportReport) -> list[Any]:
    """The messages from the last one up to the first, in order; all where none says whom it follows."""
    rows = [message for message in messages if isinstance(message, dict)]
    parents = {_text(row, "uuid"): _text(row, "parent_message_uuid") for row in rows}
    answered = [parent for parent in parents.values() if parent]
    # Without two that follow one message there is one path, and a bad message does not break it.
    if len(set(answered)) == len(answered) or not all(parents.values()):
        return messages
    path: set[str] = set()
    place = leaf if leaf in parents else next(reversed(parents))
    while place in parents and place not in path:
        path.add(place)
        place = parents[place]
    kept = [m for m in messages if not isinstance(m, dict) or _text(m, "uuid") in path]
    report.left_out["other version"] += len(messages) - len(kept)
    return kept


def _said(message: object, line: int, report: ImportReport) -> list[Turn]:
    """The turn that a message is; none where it holds no text."""
    if not isinstance(message, dict):
        raise TypeError(f"expected a message, got {kind_of(message)}")
    role = _ROLES.get(_text(message, "sender"))
    if role is None:
        raise ValueError(f"sender: expected human or assistant, got {kind_of(message.get('sender'))}")
    content = message.get("content") or []
    if not isinstance(content, list):
        raise TypeError(f"content: expected a list of blocks, got {kind_of(content)}")
    text = "\n\n".join(texts_of(content, report)) or _text(message, "text").strip()
    identity = _text(message, "uuid")
    if not text:
        return []
    return [
        Turn(
            text,
            line,
            part=f"message {identity}",
            role=role,
            when=message.get("created_at"),
            metadata={"id": identity} if identity else {},
        )
    ]


def _attachments(message: dict[str, Any], report: ImportReport) -> Iterator[tuple[str, str, str]]:
    """Id, name and text of what was pasted into a message."""
    for key in ("attachments", "files"):
        listed = message.get(key)
        for place, attachment in enumerate(listed if isinstance(listed, list) else []):
            row = attachment if isinstance(attachment, dict) else {}
            name, text = _text(row, "file_name"), _text(row, "extracted_content")
            if text.strip():
                yield f"{_text(message, 'uuid')}/{place}", name or "pasted text", text
            else:
                report.left_out["file"] += 1


def _documents(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Id, title and text of each text of a project, or of what was noted about the user."""
    own = _text(row, "uuid") or _text(row, "account_uuid")
    for key, title in (
        ("description", "description"),
        ("prompt_template", "instructions"),
        ("conversations_memory", "memory of conversations"),
    ):
        if _text(row, key).strip():
            yield f"{own}/{key}", title, _text(row, key)
    memories = row.get("project_memories")
    for project, text in memories.items() if isinstance(memories, dict) else ():
        if isinstance(text, str) and text.strip():
            yield f"{own}/{project}", "memory of a project", text
    docs = row.get("docs")
    for place, doc in enumerate(docs if isinstance(docs, list) else []):
        if isinstance(doc, dict) and _text(doc, "content").strip():
            identity = _text(doc, "uuid") or f"{own}/{place}"
            yield identity, _text(doc, "filename") or "document", _text(doc, "content")


def _document(
    text: str, identity: str, title: str, line: int, part: str, file: NamedFile, report: ImportReport
) -> Iterator[ImportedItem]:
    cleaned = clean_characters(text)
    if cleaned != text:
        report.cleaned(file.wrong(line, "characters that cannot be stored were taken out", part))
    try:
        items = document_items(cleaned, document_id=f"{SOURCE}:{identity}", title=clean_characters(title))
    except InputError as error:
        report.skipped(file.wrong(line, f"{error.field}: {error.problem}", part))
        return
    for item in items:
        yield ImportedItem({**item, **given(source=SOURCE, role="document")}, line, part)


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""
