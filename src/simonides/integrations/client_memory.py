"""What a call of a language model's client recalls before it and retains after it.

Each interface (OpenAI's Chat Completions and Responses, Anthropic's Messages) is described once, by where its
texts stand; answers and events may be objects or mappings.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import SimonidesError
from simonides.recall.packing.as_data import DATA_NOTICE, NOTICE, pack_as_data
from simonides.records.kind import ROLE_OF_MESSAGE
from simonides.records.source import LONGEST_NEIGHBOUR
from simonides.retain.conversations import WINDOW
from simonides.retain.messages import MessageReader, is_message, plain
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.surfaces.client.remote import RemoteBank

T = TypeVar("T")

_LONGEST_QUERY = 4_000
"""Characters from the end of a message: what is asked stands behind what was pasted."""

# A model that cites would show marks to a user who cannot look them up.

_log = logging.getLogger("simonides")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the texts of one interface stand.

    Attributes:
        argument: that holds the messages.
        part: type of a part that is a text.
        said: an answer → the message in it.
        piece: an event of a stream → (place in the answer, text, whether the model cites there).
        snapshot: attribute of what ``stream`` gives that is the answer so far; empty = there is none.
    """

    argument: str
    part: str
    said: Callable[[object], dict[str, Any]]
    piece: Callable[[object], tuple[Any, str, bool] | None]
    snapshot: str = ""


def _get(value: object, name: str) -> Any:
    """An attribute, or a key, of what a client gave; ``None`` where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def assistant(content: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def _first_choice(answer: object) -> object:
    return next((each for each in _get(answer, "choices") or () if not _get(each, "index")), None)


def _said_in_chat(answer: object) -> dict[str, Any]:
    return assistant(_get(_get(_first_choice(answer), "message"), "content"))


def _piece_of_chat(event: object) -> tuple[Any, str, bool] | None:
    text = _get(_get(_first_choice(event), "delta"), "content")
    return (0, text, False) if isinstance(text, str) else None


def _said_in_response(answer: object) -> dict[str, Any]:
    messages = [each for each in _get(answer, "output") or () if _get(each, "type") == "message"]
    return assistant([part for each in messages for part in _get(each, "content") or ()])


def _piece_of_response(event: object) -> tuple[Any, str, bool] | None:
    if _get(event, "type") != "response.output_text.delta":
        return None
    return (
        (_get(event, "output_index") or 0, _get(event, "content_index") or 0),
        _get(event, "delta"),
        False,
    )


def _said_in_message(answer: object) -> dict[str, Any]:
    return assistant(_get(answer, "content"))


def _piece_of_message(event: object) -> tuple[Any, str, bool] | None:
    kind = _get(event, "type")
    what = _get(event, "delta" if kind == "content_block_delta" else "content_block")
    if kind not in {"content_block_start", "content_block_delta"}:
        return None
    text, cited = _get(what, "text"), _get(what, "type") == "citations_delta"
    return (_get(event, "index") or 0, text or "", cited) if text or cited else None


_CHAT = Endpoint("messages", "text", _said_in_chat, _piece_of_chat, "current_completion_snapshot")
_RESPONSES = Endpoint("input", "input_text", _said_in_response, _piece_of_response)
_MESSAGES = Endpoint("messages", "text", _said_in_message, _piece_of_message, "current_message_snapshot")
ENDPOINTS: Mapping[tuple[str, ...], Endpoint] = {
    ("chat", "completions"): _CHAT,
    ("responses",): _RESPONSES,
    ("messages",): _MESSAGES,
    ("beta", "chat", "completions"): _CHAT,
    ("beta", "messages"): _MESSAGES,
}


@dataclass(slots=True)
class Memory:
    """What calls of one client share.

    Attributes:
        bank: asked and written.
        session: of what is retained.
        max_tokens: of what is put into a request.
        recall_options, retain_options: of the bank's methods.
        failures: that the log has told of.
    """

    bank: Bank | RemoteBank
    session: str
    max_tokens: int
    recall_options: dict[str, Any]
    retain_options: dict[str, Any]
    failures: set[tuple[str, type]] = field(default_factory=set)

    def before(self, endpoint: Endpoint, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call with what is recalled for it; the same ones where nothing is."""
        return self.safely("recall", lambda: self._with_memories(endpoint, values), values)

    def after(
        self, endpoint: Endpoint, values: Mapping[str, Any], said: Callable[[], dict[str, Any]]
    ) -> None:
        """Retain what a call of *endpoint* with the caller's *values* has brought.

        *said* gives the message.
        """
        self.safely("retain", lambda: self._retain(_listed(values[endpoint.argument]), said()), None)

    def _with_memories(self, endpoint: Endpoint, values: dict[str, Any]) -> dict[str, Any]:
        given = values[endpoint.argument]
        messages = _listed(given)
        asked = next(
            ((at, turn) for at in reversed(range(len(messages))) for turn in _of_user(messages[at])), None
        )
        if asked is None:
            return values
        at, turn = asked
        query = turn["text"][-_LONGEST_QUERY:]
        options = {"standing": True, **self.recall_options}
        found: Recall = self.bank.recall(query, max_tokens=self.max_tokens, **options)
        said = {" ".join(line.split()) for each in messages for line in _lines(each)}
        fresh, standing = (
            tuple(hit for hit in hits if " ".join(hit.memory.text.split()) not in said)
            for hits in (found.hits, found.standing)
        )
        packed = pack_as_data(
            replace(found, hits=fresh, standing=standing),
            ApproximateTokenCounter().count,
            max_tokens=self.max_tokens,
        ).text.replace(NOTICE, DATA_NOTICE, 1)
        if not packed:
            return values
        if isinstance(given, str):
            return {**values, endpoint.argument: f"{packed}\n\n{given}"}
        messages[at] = _with_block(messages[at], packed, endpoint.part)
        return {**values, endpoint.argument: messages}

    def _retain(self, messages: list[Any], answer: dict[str, Any]) -> None:
        while messages and _is_answer(messages[-1]):
            # The beginning of the answer, put into the model's mouth.
            messages.pop()
        first = next((at + 1 for at in reversed(range(len(messages))) if _is_answer(messages[at])), 0)
        new = [turn for each in messages[first:] for turn in _of_user(each)] + _turns(answer)
        if not new:
            return
        around: list[str] = []
        for each in reversed(messages[:first]):
            around[:0] = _lines(each)
            if len(around) >= WINDOW:
                break
        context = "\n".join(line[:LONGEST_NEIGHBOUR] for line in around[-WINDOW:])
        turns = [
            {"role": turn["role"], "content": turn["text"], "speaker": turn["speaker"], "context": context}
            for turn in new
        ]
        self.bank.retain(turns, session=self.session, **self.retain_options)

    def safely(self, verb: str, work: Callable[[], T], otherwise: T) -> T:
        """What *work* gives; where it fails the log tells of it, and *otherwise*."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 whatever memory does, the call is to go on
            kind = (verb, type(error))
            level = logging.DEBUG if kind in self.failures else logging.WARNING
            self.failures.add(kind)
            _log.log(
                level,
                "memory could not %s, and calls go on without it; this is told once: %s: %s",
                verb,
                type(error).__name__,
                error,
            )
            return otherwise


def _listed(given: Any) -> list[Any]:
    """The messages of a request; a text alone is one of the user."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _turns(message: object) -> list[dict[str, Any]]:
    """The turns of a message; none of one that is wrong, of which the client will tell."""
    if not is_message(message):
        return []
    try:
        return list(MessageReader().read(message, "messages"))
    except SimonidesError:
        return []


def _of_user(message: object) -> list[dict[str, Any]]:
    return [turn for turn in _turns(message) if turn["role"] == "user"]


def _lines(message: object) -> list[str]:
    """What was said, as it is stored; without the results of tools, which the wrapper does not store."""
    said = [turn for turn in _turns(message) if turn["role"] != "tool"]
    return [f"{turn['speaker']}: {turn['text']}" if turn["speaker"] else turn["text"] for turn in said]


def _is_answer(message: object) -> bool:
    """Whether the model said it: a message, a call of a tool, a thought."""
    message = plain(message)
    if not isinstance(message, Mapping):
        return False
    kind = str(message.get("type") or "")
    if "role" not in message and (kind == "reasoning" or kind.endswith("_call")):
        return True
    return ROLE_OF_MESSAGE.get(str(message.get("role", kind))) == "assistant"


def _with_block(message: object, block: str, part: str) -> dict[str, Any]:
    """A copy of a message with a text in front of the user's first words."""
    copied = dict(plain(message))  # type: ignore[call-overload]
    content = copied["content"]
    if isinstance(content, str):
        return {**copied, "content": f"{block}\n\n{content}"}
    parts = list(content)
    # Behind the results of tools, which must come first.
    at = next(number for number, each in enumerate(parts) if isinstance(each, str) or _get(each, "text"))
    parts.insert(at, {"type": part, "text": block})
    return {**copied, "content": parts}
