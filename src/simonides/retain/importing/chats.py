"""Conversations of chat programs as items: ChatGPT, Claude.ai, Claude Code.

A bad turn costs no other one: its characters are cleaned, its time is taken from its neighbours, and a text
that is too long is stored in parts, before any of it becomes a neighbour's context. Left out and counted are
thoughts, calls of tools and their results, pictures, sound and files without text.

ChatGPT: ``conversations.json``, a list of conversations, each a tree of messages. The conversation is the
path from the tree's ``current_node`` up to its root: of a message that was edited or answered anew, the
version that was seen last. Without ``current_node`` it ends at the newest message that nothing follows. Kept
are the texts of user, assistant and tools; system and hidden messages are left out and counted. A message
that cannot be read is skipped alone; of a broken tree, what hangs together up to the last message is kept.

Claude.ai: ``conversations.json``, ``projects.json`` and ``memories.json`` of a data export. The form was read
off published descriptions; Anthropic documents none.

    [{"uuid", "name", "chat_messages": [{"uuid", "sender": "human", "content": [{"type": "text", …}], …}]}]
    [{"uuid", "name", "description", "prompt_template", "docs": [{"uuid", "filename", "content"}]}]
    [{"conversations_memory": "…", "project_memories": {…}, "account_uuid"}]

A conversation becomes a session, a message a turn; what was pasted into a message, the texts of a project and
what Claude noted about its user become documents. Again the version of a message that was seen last is kept.

Claude Code: one JSON object a line, of which ``user`` and ``assistant`` lines are turns; the session is the
line's ``sessionId``. Passed over are side chains (an agent's talk with its sub-agents), lines marked as meta,
and what a slash command printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.options import MAX_TEXT_BYTES
from simonides.records.hygiene import to_float
from simonides.retain.conversations import conversation_items
from simonides.retain.documents import document_items
from simonides.retain.importing.sources import (
    ImportedItem,
    ImportReport,
    clean_characters,
    cut,
    given,
    json_lines,
    json_rows,
    kind_of,
    part_kind,
    readable_time,
    texts_of,
)
from simonides.retain.items import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.retain.importing.sources import NamedFile


@dataclass(frozen=True, slots=True)
class Turn:
    """What someone said.

    Attributes:
        text: not blank.
        line, part: where it stands; see ``ImportedItem``.
        role: user, assistant or tool.
        speaker: a name that belongs before the text; a role is none.
        when: when it was said, as the other program wrote it.
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
    turns: Sequence[Turn],
    file: NamedFile,
    report: ImportReport,
    *,
    session: str,
    source: str,
    title: str = "",
) -> Iterator[ImportedItem]:
    """One item per turn of one conversation.

    *report* is told of turns that are cleaned or skipped; *title* is found with every turn.
    """
    kept = [part for turn in _timed(turns, file, report) for part in _parts(turn, file, report)]
    said = [
        given(text=t.text, speaker=t.speaker, event_time=t.when, role=t.role, metadata=t.metadata)
        for t in kept
    ]
    title = clean_characters(title)
    for turn, item in zip(kept, conversation_items(said, session=session), strict=True):
        context = "\n".join(part for part in (title, item["context"]) if part)
        # The bank is to name a turn by its place in the batch.
        origin = replace(item[ORIGIN], place="")
        own = {"context": context, "speaker": turn.speaker or turn.role, "source": source, ORIGIN: origin}
        yield ImportedItem({**item, **own}, turn.line, turn.part)


def _timed(turns: Sequence[Turn], file: NamedFile, report: ImportReport) -> list[Turn]:
    """Turns with times that can be read: instead of any other the time of the turn before, else after it.

    Without one, "yesterday" would count from the day of the import.
    """
    times = [readable_time(turn.when) for turn in turns]
    found = []
    for place, (turn, (when, problem)) in enumerate(zip(turns, times, strict=True)):
        other = None
        if problem:
            near = (*reversed(times[:place]), *times[place + 1 :])
            other = next((time for time, _ in near if time is not None), None)
            instead = "it has none now" if other is None else "the time of its neighbour was taken"
            report.cleaned(file.wrong(turn.line, f"timestamp: {problem}; {instead}", turn.part))
        found.append(replace(turn, when=other if problem else when))
    return found


def _parts(turn: Turn, file: NamedFile, report: ImportReport) -> Iterator[Turn]:
    """The turn, or the parts of one that is too long; nothing of one that holds no text."""
    text, speaker = clean_characters(turn.text), clean_characters(turn.speaker)
    if not text.strip():
        report.skipped(file.wrong(turn.line, "text: holds no characters that can be stored", turn.part))
        return
    if (text, speaker) != (turn.text, turn.speaker):
        problem = "characters that cannot be stored were taken out"
        report.cleaned(file.wrong(turn.line, problem, turn.part))
    parts = cut(text)
    if len(parts) == 1:
        yield replace(turn, text=text, speaker=speaker)
        return
    problem = f"is longer than {MAX_TEXT_BYTES:,} bytes and was stored in {len(parts)} parts"
    report.cleaned(file.wrong(turn.line, problem, turn.part))
    yield from (replace(turn, text=part, speaker=speaker) for part in parts)


CHATGPT_SOURCE = "chatgpt"

_CHATGPT_ROLES = frozenset({"user", "assistant", "tool"})
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
                turns += _said_in_chatgpt(message, line, report)
            except (ValueError, TypeError) as error:
                name = f"message {_id(message) or '?'} of conversation {_id(conversation)}"
                report.skipped(file.wrong(line, str(error), name))
        title = conversation.get("title")
        yield from turn_items(
            turns,
            file,
            report,
            session=_id(conversation),
            source=CHATGPT_SOURCE,
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
    if author.get("role") not in _CHATGPT_ROLES:
        return "system message"
    if metadata.get("is_visually_hidden_from_conversation"):
        return "hidden message"
    if message.get("recipient") not in {None, "all"}:
        return "tool call"
    kind = content.get("content_type")
    return "" if kind in _TEXTS else part_kind(kind)


def _said_in_chatgpt(message: object, line: int, report: ImportReport) -> list[Turn]:
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


CLAUDE_AI_SOURCE = "claude-ai"

KEYS = frozenset({"chat_messages", "prompt_template", "conversations_memory"})
"""Keys of which a row of each file has one."""

_CLAUDE_AI_ROLES = {"human": "user", "assistant": "assistant"}


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
            name = _text_of_turn(row, "name") or "memory"
            for identity, title, text in _documents(row):
                yield from _document(text, identity, title, line, f"{name}: {title}", file, report)


def _conversation(
    row: dict[str, Any], line: int, file: NamedFile, report: ImportReport
) -> Iterator[ImportedItem]:
    session, title = _text_of_turn(row, "uuid"), _text_of_turn(row, "name")
    messages = row["chat_messages"]
    if not session or not isinstance(messages, list):
        problem = "has no uuid" if not session else f"chat_messages: expected a list, got {kind_of(messages)}"
        report.skipped(file.wrong(line, problem, f"conversation {session or '?'}"))
        return
    turns: list[Turn] = []
    pasted: list[tuple[str, str, str]] = []
    for place, message in enumerate(
        _seen_last(messages, _text_of_turn(row, "current_leaf_message_uuid"), report)
    ):
        try:
            turns += _said_in_claude_ai(message, line, report)
            pasted += _attachments(message, report)
        except (ValueError, TypeError) as error:
            report.skipped(file.wrong(line, str(error), f"message {place} of conversation {session}"))
    yield from turn_items(turns, file, report, session=session, source=CLAUDE_AI_SOURCE, title=title)
    for identity, name, text in pasted:
        yield from _document(text, identity, name, line, f"{name} in conversation {session}", file, report)


def _seen_last(messages: list[Any], leaf: str, report: ImportReport) -> list[Any]:
    """The messages from the last one up to the first, in order; all where none says whom it follows."""
    rows = [message for message in messages if isinstance(message, dict)]
    parents = {_text_of_turn(row, "uuid"): _text_of_turn(row, "parent_message_uuid") for row in rows}
    answered = [parent for parent in parents.values() if parent]
    # Without two that follow one message there is one path, and a bad message does not break it.
    if len(set(answered)) == len(answered) or not all(parents.values()):
        return messages
    path: set[str] = set()
    place = leaf if leaf in parents else next(reversed(parents))
    while place in parents and place not in path:
        path.add(place)
        place = parents[place]
    kept = [m for m in messages if not isinstance(m, dict) or _text_of_turn(m, "uuid") in path]
    report.left_out["other version"] += len(messages) - len(kept)
    return kept


def _said_in_claude_ai(message: object, line: int, report: ImportReport) -> list[Turn]:
    """The turn that a message is; none where it holds no text."""
    if not isinstance(message, dict):
        raise TypeError(f"expected a message, got {kind_of(message)}")
    role = _CLAUDE_AI_ROLES.get(_text_of_turn(message, "sender"))
    if role is None:
        raise ValueError(f"sender: expected human or assistant, got {kind_of(message.get('sender'))}")
    content = message.get("content") or []
    if not isinstance(content, list):
        raise TypeError(f"content: expected a list of blocks, got {kind_of(content)}")
    text = "\n\n".join(texts_of(content, report)) or _text_of_turn(message, "text").strip()
    identity = _text_of_turn(message, "uuid")
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
            name, text = _text_of_turn(row, "file_name"), _text_of_turn(row, "extracted_content")
            if text.strip():
                yield f"{_text_of_turn(message, 'uuid')}/{place}", name or "pasted text", text
            else:
                report.left_out["file"] += 1


def _documents(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Id, title and text of each text of a project, or of what was noted about the user."""
    own = _text_of_turn(row, "uuid") or _text_of_turn(row, "account_uuid")
    for key, title in (
        ("description", "description"),
        ("prompt_template", "instructions"),
        ("conversations_memory", "memory of conversations"),
    ):
        if _text_of_turn(row, key).strip():
            yield f"{own}/{key}", title, _text_of_turn(row, key)
    memories = row.get("project_memories")
    for project, text in memories.items() if isinstance(memories, dict) else ():
        if isinstance(text, str) and text.strip():
            yield f"{own}/{project}", "memory of a project", text
    docs = row.get("docs")
    for place, doc in enumerate(docs if isinstance(docs, list) else []):
        if isinstance(doc, dict) and _text_of_turn(doc, "content").strip():
            identity = _text_of_turn(doc, "uuid") or f"{own}/{place}"
            yield identity, _text_of_turn(doc, "filename") or "document", _text_of_turn(doc, "content")


def _document(
    text: str, identity: str, title: str, line: int, part: str, file: NamedFile, report: ImportReport
) -> Iterator[ImportedItem]:
    cleaned = clean_characters(text)
    if cleaned != text:
        report.cleaned(file.wrong(line, "characters that cannot be stored were taken out", part))
    try:
        items = document_items(
            cleaned, document_id=f"{CLAUDE_AI_SOURCE}:{identity}", title=clean_characters(title)
        )
    except InputError as error:
        report.skipped(file.wrong(line, f"{error.field}: {error.problem}", part))
        return
    for item in items:
        yield ImportedItem({**item, **given(source=CLAUDE_AI_SOURCE, role="document")}, line, part)


def _text_of_turn(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


CLAUDE_CODE_SOURCE = "claude-code"

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
            text = _text_of_line(row, report)
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
        yield from turn_items(turns, file, report, session=session, source=CLAUDE_CODE_SOURCE)


def _session(row: dict[str, Any]) -> str:
    session = row.get("sessionId")
    if not isinstance(session, str) or not session:
        raise ValueError("sessionId: is missing")
    return session


def _text_of_line(row: dict[str, Any], report: ImportReport) -> str:
    message = row.get("message")
    if not isinstance(message, dict):
        raise TypeError(f"message: expected an object, got {kind_of(message)}")
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        raise TypeError(f"message.content: expected a text or a list of blocks, got {kind_of(content)}")
    return "\n\n".join(text.strip() for text in texts_of(content, report))
