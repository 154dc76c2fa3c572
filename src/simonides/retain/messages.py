"""Reads chat messages, as language models take and give them, into turns of a conversation.

    {"role": "user", "content": "My flight leaves on 4 May."}
    {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "weather", …}}]}
    {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "21 degrees"}]}
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "21 degrees"}]}
    {"type": "function_call_output", "call_id": "1", "output": "21 degrees"}

These are messages of OpenAI's Chat Completions and Responses and of Anthropic's Messages, also as the objects
of their packages (anything with ``model_dump``), and LangChain's (``"type": "human"``). A turn has the roles
of ``retain``: user, assistant, tool.

Left out and counted are system messages, calls of tools, thoughts, refusals, images, audio, video, files and
parts of a type that is not known. What a tool was called with becomes context of its result. Keys that only
the interface of a model knows (``id``, ``annotations``, ``cache_control``) are passed over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from simonides.errors import InputError, UnknownNameError
from simonides.records.hygiene import shown
from simonides.records.kind import ROLE_OF_MESSAGE
from simonides.retain.items import ITEM_KEYS, field_of, read_text

LOST = ("image", "audio", "video", "file", "other part")
"""What is left out although it may hold something to remember."""

_TEXTS = frozenset({"text", "input_text", "output_text"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call"})
_PARTS: Mapping[str, str] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("file", "input_file", "document", "container_upload", "search_result"), "file"),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning", "reasoning_text"), "thought"),
    "refusal": "refusal",
}
_TYPED = frozenset({"reasoning", "item_reference", "compaction"})
# What a message may say of itself as any item may; of the rest some names mean other things there.
_OWN = ITEM_KEYS - {
    "text", "role", "speaker", "expansion", "relation", "subject", "object", "single_valued",
}  # fmt: skip
_LONGEST_CALL = 500
"""Characters of a call that become context of its result."""


class MessageObject(Protocol):
    """A message of a client's package, such as OpenAI's ``ChatCompletionMessage``."""

    def model_dump(self) -> dict[str, Any]:
        """The message as a mapping."""
        ...


def plain(value: object) -> object:
    """A message or part of a client's package as a mapping; anything else as it is."""
    if value is None or isinstance(value, str | Mapping | list | tuple | int | float | bytes | type):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    return vars(value) if hasattr(value, "type") or hasattr(value, "role") else value


def is_message(item: object) -> bool:
    """Whether an item is a chat message; one with a ``text`` is an item like any other."""
    message = plain(item)
    if not isinstance(message, Mapping) or "text" in message:
        return False
    if "content" in message:
        return True
    if "role" in message:
        return any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
    kind = message.get("type")
    return isinstance(kind, str) and (kind in _TYPED or kind.endswith(("_call", "_call_output")))


@dataclass(slots=True)
class MessageReader:
    """Reads the messages of a list, in order; counts in ``left_out`` what it leaves out."""

    left_out: Counter[str] = field(default_factory=Counter)
    # Call → name of the tool, and the call in words.
    _calls: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, item: object, place: str) -> Iterator[dict[str, Any]]:
        """The turns of one message, for which ``is_message`` holds.

        None, one, or one more for each tool result.

        *place* is for errors, such as ``messages[3]``; empty for a single message. The items have text, role
        and speaker; ``context`` of a tool's result is its call. ``InputError``: the message is wrong, or is
        empty.
        """
        message = plain(item)
        assert isinstance(message, Mapping)
        kind = message.get("type")
        if "role" not in message and isinstance(kind, str) and kind not in ROLE_OF_MESSAGE:
            yield from self._typed(message, kind, place)
            return
        role = _role(message, place)
        if not role:
            self.left_out["system message"] += 1
            return
        before = self.left_out.total()
        self._note_calls(message)
        for key, name in (("refusal", "refusal"), ("audio", "audio")):
            if message.get(key):
                self.left_out[name] += 1
        own = {key: value for key, value in message.items() if key in _OWN and value is not None}
        found = list(self._content(message, role, own, place))
        if not found and self.left_out.total() == before:
            if role != "tool":
                raise InputError(field_of(place, "content"), "is blank; leave the message out")
            self.left_out["empty tool result"] += 1
        yield from found

    def _content(
        self, message: Mapping[str, Any], role: str, own: dict[str, Any], place: str
    ) -> Iterator[dict[str, Any]]:
        field_ = field_of(place, "content")
        content = message.get("content")
        texts: list[str] = []
        glue = "\n"
        if isinstance(content, str):
            texts = [content]
        elif isinstance(content, list | tuple):
            for number, each in enumerate(content):
                part = plain(each)
                at = f"{field_}[{number}]"
                if isinstance(part, Mapping) and part.get("type") == "tool_result":
                    yield from self._result(
                        part.get("content"), part.get("tool_use_id"), own, f"{at}.content"
                    )
                    continue
                texts += self._part(part, at)
                if isinstance(part, Mapping) and part.get("citations"):
                    # Sentences that a model cites for are cut into blocks.
                    glue = ""
        elif content is not None:
            raise InputError(field_, f"expected a string or a list of parts, got {type(content).__name__}")
        text = glue.join(each for each in texts if each.strip() or not glue)
        if not text.strip():
            return
        if role == "tool":
            call = message.get("tool_call_id")
            yield self._told(text, call, own, field_, str(message.get("name") or ""))
            return
        name = message.get("speaker") or message.get("name") or ""
        if not isinstance(name, str):
            raise InputError(field_of(place, "name"), f"expected a string, got {type(name).__name__}")
        yield {**own, "text": read_text(text, field_), "role": role, "speaker": name}

    def _part(self, part: object, place: str) -> list[str]:
        """The texts of a part; what it holds beside is counted."""
        if isinstance(part, str):
            return [part]
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(part, Mapping) or not isinstance(kind, str):
            raise InputError(place, f"expected a string, or an object with a type, got {shown(part)}")
        if kind in _TEXTS:
            if not isinstance(part.get("text"), str):
                raise InputError(f"{place}.text", f"expected a string, got {shown(part.get('text'))}")
            return [part["text"]]
        if kind in _CALLS:
            self._note(part.get("id"), part.get("name"), part.get("input", part.get("args")))
        else:
            self.left_out[_PARTS.get(kind, "other part")] += 1
        return []

    def _result(
        self, content: object, call: object, own: dict[str, Any], place: str
    ) -> Iterator[dict[str, Any]]:
        """What a tool gave back, as a turn of it."""
        if isinstance(content, list | tuple):
            texts = [
                text for n, each in enumerate(content) for text in self._part(plain(each), f"{place}[{n}]")
            ]
            content = "\n".join(text for text in texts if text.strip())
        if content is None or (isinstance(content, str) and not content.strip()):
            self.left_out["empty tool result"] += 1
            return
        if not isinstance(content, str):
            raise InputError(place, f"expected a string or a list of parts, got {type(content).__name__}")
        yield self._told(content, call, own, place)

    def _told(
        self, text: str, call: object, own: dict[str, Any], place: str, name: str = ""
    ) -> dict[str, Any]:
        called, words = self._calls.get(str(call), ("", ""))
        return {
            **own,
            "text": read_text(text, place),
            "role": "tool",
            "speaker": name or called,
            "context": words or own.get("context"),
        }

    def _typed(self, message: Mapping[str, Any], kind: str, place: str) -> Iterator[dict[str, Any]]:
        """An item of Responses that has no role."""
        if kind.endswith("_call_output"):
            own = {key: value for key, value in message.items() if key in _OWN and value is not None}
            yield from self._result(
                message.get("output"), message.get("call_id"), own, field_of(place, "output")
            )
        elif kind.endswith("_call"):
            given = message.get("arguments", message.get("input"))
            self._note(message.get("call_id"), message.get("name"), given)
        elif kind in _TYPED:
            self.left_out["thought" if kind == "reasoning" else "other part"] += 1
        else:
            raise InputError(field_of(place, "role"), f"is missing; give one of {', '.join(ROLE_OF_MESSAGE)}")

    def _note_calls(self, message: Mapping[str, Any]) -> None:
        calls = message.get("tool_calls") or ()
        for each in calls if isinstance(calls, list | tuple) else ():
            call = plain(each)
            if not isinstance(call, Mapping):
                continue
            what = plain(call.get("function") or call.get("custom") or call)
            if isinstance(what, Mapping):
                given = what.get("arguments", what.get("input", what.get("args")))
                self._note(call.get("id"), what.get("name"), given)
        old = plain(message.get("function_call"))
        if isinstance(old, Mapping):
            self._note(None, old.get("name"), old.get("arguments"))

    def _note(self, call: object, name: object, given: object) -> None:
        self.left_out["tool call"] += 1
        if isinstance(call, str):
            name = name if isinstance(name, str) else ""
            words = f"{name} {_written(given)}".strip()[:_LONGEST_CALL]
            # It becomes context: what cannot be stored is no reason to refuse the message.
            self._calls[call] = (name, words.encode("utf-8", "ignore").decode().replace("\0", ""))


def _written(given: object) -> str:
    """What a tool was called with; nothing where it cannot be written."""
    if isinstance(given, str):
        return given
    try:
        return json.dumps(given, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return ""


def _role(message: Mapping[str, Any], place: str) -> str:
    role = message.get("role", message.get("type"))
    if role is None:
        raise InputError(field_of(place, "role"), f"is missing; give one of {', '.join(ROLE_OF_MESSAGE)}")
    if not isinstance(role, str):
        raise InputError(
            field_of(place, "role"), f"expected one of {', '.join(ROLE_OF_MESSAGE)}, got {shown(role)}"
        )
    if role not in ROLE_OF_MESSAGE:
        raise UnknownNameError(field_of(place, "role"), role[:60], ROLE_OF_MESSAGE)
    return ROLE_OF_MESSAGE[role]
