"""A client of a language model that remembers: it recalls before each call, and retains after it.

    client = simonides.remember(OpenAI(), bank)
    client.chat.completions.create(model=…, messages=[{"role": "user", "content": "When is my flight?"}])

The client may be OpenAI's, Anthropic's, or any with the same methods, synchronous or asynchronous: ``create``
and ``parse`` of ``chat.completions``, ``responses`` and ``messages``, and ``stream`` of ``chat.completions``
and ``messages``. Everything else of it is as it was, and neither package is needed here.

Before a call: the last message of the user is the query. What is recalled stands in front of it, in a copy of
the request, marked as data and within ``max_tokens``; what the request says already is not repeated. Where
nothing matches, the request is the caller's. After it: the messages of the user behind the last answer, and
the new answer, are retained, so a history that is sent again is not stored again. A stream passes through;
what came of it is retained when it ends, fails, is closed or is dropped.

An error of memory breaks no call: the log tells of it once. An error of the client passes through, and then
nothing is retained. Weakness: a question costs a recall and a write, some milliseconds each, in its call.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import logging
import threading
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from simonides.bank import Bank
from simonides.errors import InputError, SimonidesError, UnknownNameError
from simonides.recall.packing.as_data import NOTICE, pack_as_data
from simonides.records.hygiene import clean_count, clean_text
from simonides.records.source import LONGEST_NEIGHBOUR
from simonides.retain.conversations import WINDOW
from simonides.retain.items import MAX_RELATION_BYTES
from simonides.retain.messages import ROLES, MessageReader, is_message, plain
from simonides.surfaces.client.asynchronous import AsyncBank
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simonides.integrations.keyed import AnyBank
    from simonides.records.recall import Recall

Client = TypeVar("Client")

MAX_TOKENS = 1_000
"""Of the memories in one request."""

_LONGEST_QUERY = 4_000
"""Characters from the end of a message: what is asked stands behind what was pasted."""

# A model that cites would show marks to a user who cannot look them up.
_NOTICE = NOTICE.removesuffix(" Cite them as [1].")

# What the wrapper says of each message, or what is of one call alone.
_OWN_OF_RETAIN = {
    "self", "items", "session", "context", "role", "speaker", "document_id", "idempotency_key", "relation",
    "subject", "object", "single_valued",
}  # fmt: skip

_log = logging.getLogger("simonides")
_off: ContextVar[bool] = ContextVar("simonides_without_memory", default=False)


@contextlib.contextmanager
def without_memory() -> Iterator[None]:
    """Calls inside neither recall nor retain; of this thread or asynchronous task alone."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def remember(
    client: Client,
    bank: AnyBank | AsyncBank,
    *,
    session: str | None = None,
    max_tokens: int = MAX_TOKENS,
    recall_options: Mapping[str, Any] | None = None,
    retain_options: Mapping[str, Any] | None = None,
) -> Client:
    """A client that recalls before each call, and retains after it; see the module's text.

    Args:
        client: OpenAI's, Anthropic's, or one with the same methods; it stays as it is.
        bank: of this process, of a server, or an ``AsyncBank`` of either.
        session: the conversation that retained messages belong to; by default one of its own.
        max_tokens: of the memories in a request, from 1, by a cautious estimate.
        recall_options: other arguments of ``Bank.recall``, such as ``tags`` and ``precision``.
        retain_options: other arguments of ``Bank.retain``, such as ``project`` and ``acl``.

    Returns:
        a stand-in with the methods and attributes of *client*, whose settings it shares.

    Raises:
        UnknownNameError: an option that ``recall`` or ``retain`` does not take.
        InputError: the client has none of the methods, or a number or name is wrong.
    """
    if not any(_has(client, path) for path in _ENDPOINTS):
        methods = ", ".join(f"{'.'.join(path)}.create" for path in _ENDPOINTS)
        raise InputError(
            "client", f"{type(client).__name__} has none of {methods}; give a client that has one"
        )
    if session is not None:
        clean_text(session, "session", MAX_RELATION_BYTES)
    memory = _Memory(
        bank.bank if isinstance(bank, AsyncBank) else bank,
        uuid.uuid4().hex if session is None else session,
        clean_count(max_tokens, "max_tokens", 1),
        _options("recall_options", recall_options, Bank.recall, {"self", "query", "max_tokens"}),
        _options("retain_options", retain_options, Bank.retain, _OWN_OF_RETAIN),
    )
    stand_in: Any = _Remembering(client, (), memory)
    return stand_in  # type: ignore[no-any-return]


def _options(
    field_: str, given: Mapping[str, Any] | None, method: Callable[..., Any], taken: set[str]
) -> dict[str, Any]:
    names = set(inspect.signature(method).parameters) - taken
    for name in given or {}:
        if name not in names:
            raise UnknownNameError(f"{field_}.{name}", name, names)
    return dict(given or {})


def _has(client: object, path: tuple[str, ...]) -> bool:
    for name in (*path, "create"):
        client = getattr(client, name, None)
    return callable(client)


# --- What the interfaces call things ---


@dataclass(frozen=True, slots=True)
class _Endpoint:
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


def _assistant(content: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def _first_choice(answer: object) -> object:
    return next((each for each in _get(answer, "choices") or () if not _get(each, "index")), None)


def _said_in_chat(answer: object) -> dict[str, Any]:
    return _assistant(_get(_get(_first_choice(answer), "message"), "content"))


def _piece_of_chat(event: object) -> tuple[Any, str, bool] | None:
    text = _get(_get(_first_choice(event), "delta"), "content")
    return (0, text, False) if isinstance(text, str) else None


def _said_in_response(answer: object) -> dict[str, Any]:
    messages = [each for each in _get(answer, "output") or () if _get(each, "type") == "message"]
    return _assistant([part for each in messages for part in _get(each, "content") or ()])


def _piece_of_response(event: object) -> tuple[Any, str, bool] | None:
    if _get(event, "type") != "response.output_text.delta":
        return None
    return (
        (_get(event, "output_index") or 0, _get(event, "content_index") or 0),
        _get(event, "delta"),
        False,
    )


def _said_in_message(answer: object) -> dict[str, Any]:
    return _assistant(_get(answer, "content"))


def _piece_of_message(event: object) -> tuple[Any, str, bool] | None:
    kind = _get(event, "type")
    what = _get(event, "delta" if kind == "content_block_delta" else "content_block")
    if kind not in {"content_block_start", "content_block_delta"}:
        return None
    text, cited = _get(what, "text"), _get(what, "type") == "citations_delta"
    return (_get(event, "index") or 0, text or "", cited) if text or cited else None


_CHAT = _Endpoint("messages", "text", _said_in_chat, _piece_of_chat, "current_completion_snapshot")
_RESPONSES = _Endpoint("input", "input_text", _said_in_response, _piece_of_response)
_MESSAGES = _Endpoint("messages", "text", _said_in_message, _piece_of_message, "current_message_snapshot")
_ENDPOINTS: Mapping[tuple[str, ...], _Endpoint] = {
    ("chat", "completions"): _CHAT,
    ("responses",): _RESPONSES,
    ("messages",): _MESSAGES,
    ("beta", "chat", "completions"): _CHAT,
    ("beta", "messages"): _MESSAGES,
}
_ON_THE_WAY = {path[:length] for path in _ENDPOINTS for length in range(1, len(path) + 1)}
_COPIES = frozenset({"with_options", "copy"})


# --- What is recalled and retained ---


@dataclass(slots=True)
class _Memory:
    """What calls of one client share.

    Attributes:
        bank: asked and written.
        session: of what is retained.
        max_tokens: of what is put into a request.
        recall_options, retain_options: of the bank's methods.
        failures: that the log has told of.
    """

    bank: AnyBank
    session: str
    max_tokens: int
    recall_options: dict[str, Any]
    retain_options: dict[str, Any]
    failures: set[tuple[str, type]] = field(default_factory=set)

    def before(self, endpoint: _Endpoint, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call with what is recalled for it; the same ones where nothing is."""
        return self.safely("recall", lambda: self._with_memories(endpoint, values), values)

    def after(
        self, endpoint: _Endpoint, values: Mapping[str, Any], said: Callable[[], dict[str, Any]]
    ) -> None:
        """Retain what a call has brought.

        Args:
            endpoint: that was called.
            values: the caller's arguments.
            said: gives the message that came.
        """
        self.safely("retain", lambda: self._retain(_listed(values[endpoint.argument]), said()), None)

    def _with_memories(self, endpoint: _Endpoint, values: dict[str, Any]) -> dict[str, Any]:
        given = values[endpoint.argument]
        messages = _listed(given)
        asked = next(
            ((at, turn) for at in reversed(range(len(messages))) for turn in _of_user(messages[at])), None
        )
        if asked is None:
            return values
        at, turn = asked
        query = turn["text"][-_LONGEST_QUERY:]
        found: Recall = self.bank.recall(query, max_tokens=self.max_tokens, **self.recall_options)
        said = {_squeezed(line) for each in messages for line in _lines(each)}
        fresh = tuple(hit for hit in found.hits if _squeezed(hit.memory.text) not in said)
        packed = pack_as_data(
            replace(found, hits=fresh), ApproximateTokenCounter().count, max_tokens=self.max_tokens
        ).text.replace(NOTICE, _NOTICE, 1)
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

    def safely(self, verb: str, work: Callable[[], Any], otherwise: Any) -> Any:
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
    return ROLES.get(str(message.get("role", kind))) == "assistant"


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _with_block(message: object, block: str, part: str) -> dict[str, Any]:
    """A copy of a message with a text in front of the user's first words."""
    copied = dict(plain(message))  # type: ignore[call-overload]
    content = copied["content"]
    if isinstance(content, str):
        return {**copied, "content": f"{block}\n\n{content}"}
    parts = list(content)
    # Behind the results of tools, which must come first.
    at = next(number for number, each in enumerate(parts) if _is_text(each))
    parts.insert(at, {"type": part, "text": block})
    return {**copied, "content": parts}


def _is_text(part: object) -> bool:
    return isinstance(part, str) or bool(_get(part, "text"))


# --- What stands in for the client ---


class _StandIn:
    """Has the attributes of what it stands for, and passes for it."""

    _inner: Any

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._inner)

    def __repr__(self) -> str:
        return f"<remembering {self._inner!r}>"


class _Remembering(_StandIn):
    """A client, or a part of it on the way to its methods."""

    def __init__(self, inner: Any, path: tuple[str, ...], memory: _Memory) -> None:
        self.__dict__.update(_inner=inner, _path=path, _memory=memory)

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        path = (*self._path, name)
        if self._path in _ENDPOINTS and callable(value):
            endpoint = _ENDPOINTS[self._path]
            if name in {"create", "parse"}:
                return _remembered(value, endpoint, self._memory)
            if name == "stream" and endpoint.snapshot:
                return functools.wraps(value)(functools.partial(_Manager, value, endpoint, self._memory))
        if path in _ON_THE_WAY:
            return _Remembering(value, path, self._memory)
        if not self._path and name in _COPIES and callable(value):
            return lambda *args, **named: _Remembering(value(*args, **named), (), self._memory)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._inner, name, value)

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._inner.__exit__(*error)

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._inner.__aexit__(*error)


def _remembered(method: Callable[..., Any], endpoint: _Endpoint, memory: _Memory) -> Callable[..., Any]:
    """A method of the client with a recall before it and a retain after it."""

    @functools.wraps(method)
    def call(*args: Any, **values: Any) -> Any:
        values = _settled(endpoint, values)
        if _off.get() or endpoint.argument not in values:
            return method(*args, **values)
        if inspect.iscoroutinefunction(inspect.unwrap(method)):
            return later(args, values)
        answer = method(*args, **memory.before(endpoint, values))
        if inspect.isawaitable(answer):
            return awaited(answer, values)
        if values.get("stream") is True:
            return _Stream(answer, endpoint, memory, values)
        memory.after(endpoint, values, lambda: endpoint.said(answer))
        return answer

    async def later(args: tuple[Any, ...], values: dict[str, Any]) -> Any:
        sent = await asyncio.to_thread(memory.before, endpoint, values)
        return await awaited(method(*args, **sent), values)

    async def awaited(answering: Any, values: dict[str, Any]) -> Any:
        answer = await answering
        if values.get("stream") is True:
            return _AsyncStream(answer, endpoint, memory, values)
        await asyncio.to_thread(memory.after, endpoint, values, lambda: endpoint.said(answer))
        return answer

    return call


def _settled(endpoint: _Endpoint, values: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose messages can be read twice."""
    given = values.get(endpoint.argument)
    return {**values, endpoint.argument: list(given)} if hasattr(given, "__next__") else values


class _Passing(_StandIn):
    """A stream that is handed on event by event, and kept as text until it ends."""

    _open = False

    def __init__(self, inner: Any, endpoint: _Endpoint, memory: _Memory, values: Mapping[str, Any]) -> None:
        self._inner = inner
        self._items: Any = None
        self._texts: dict[Any, list[str]] = {}
        self._cited: set[Any] = set()
        self._endpoint, self._memory, self._values = endpoint, memory, values
        self._open = True

    def _take(self, event: object) -> None:
        self._memory.safely("read what is streamed", lambda: self._keep(event), None)

    def _keep(self, event: object) -> None:
        piece = self._endpoint.piece(event)
        if piece is not None and isinstance(piece[1], str):
            place, text, cited = piece
            self._texts.setdefault(place, []).append(text)
            if cited:
                self._cited.add(place)

    def _end(self) -> None:
        """Retain what came, once."""
        if self._open:
            self._open = False
            self._memory.after(self._endpoint, self._values, self._said)

    def _said(self) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [
            {"type": "text", "text": "".join(texts), "citations": place in self._cited}
            for place, texts in sorted(self._texts.items())
        ]
        return _assistant(parts)

    def __del__(self) -> None:
        # Dropped half-way. The thread that drops it may be in the middle of anything, so another one works.
        if self._open:
            self._open = False
            said = self._said()
            work = functools.partial(self._memory.after, self._endpoint, self._values, lambda: said)
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=work, name="simonides-remember").start()


class _Stream(_Passing):
    """Of a synchronous client."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            if self._items is None:
                self._items = self._inner if hasattr(self._inner, "__next__") else iter(self._inner)
            event = next(self._items)
        except Exception:
            self._end()
            raise
        self._take(event)
        return event

    def close(self) -> None:
        """Close the stream, and retain what came of it."""
        try:
            self._inner.close()
        finally:
            self._end()

    def __enter__(self) -> Self:
        if hasattr(self._inner, "__enter__"):
            self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        try:
            if hasattr(self._inner, "__exit__"):
                return self._inner.__exit__(*error)
            self._inner.close()
        finally:
            self._end()
        return None


class _AsyncStream(_Passing):
    """Of an asynchronous client."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            if self._items is None:
                self._items = self._inner if hasattr(self._inner, "__anext__") else aiter(self._inner)
            event = await anext(self._items)
        except Exception:
            await asyncio.to_thread(self._end)
            raise
        self._take(event)
        return event

    async def close(self) -> None:
        """Close the stream, and retain what came of it."""
        try:
            closing = getattr(self._inner, "close", None) or self._inner.aclose
            await closing()
        finally:
            await asyncio.to_thread(self._end)

    async def __aenter__(self) -> Self:
        if hasattr(self._inner, "__aenter__"):
            await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        if not hasattr(self._inner, "__aexit__"):
            return await self.close()
        try:
            return await self._inner.__aexit__(*error)
        finally:
            await asyncio.to_thread(self._end)


class _Manager:
    """What ``stream`` gives: a context manager of a stream that keeps the answer so far itself."""

    def __init__(
        self, method: Callable[..., Any], endpoint: _Endpoint, memory: _Memory, /, *args: Any, **values: Any
    ) -> None:
        self._endpoint, self._memory = endpoint, memory
        self._values = _settled(endpoint, values)
        self._remembers = not _off.get() and endpoint.argument in values
        self._begin = lambda sent: method(*args, **sent)
        self._inner: Any = None
        self._stream: Any = None

    def __enter__(self) -> Any:
        sent = self._memory.before(self._endpoint, self._values) if self._remembers else self._values
        self._inner = self._begin(sent)
        self._stream = self._inner.__enter__()
        return self._stream

    def __exit__(self, *error: object) -> Any:
        try:
            return self._inner.__exit__(*error)
        finally:
            self._end()

    async def __aenter__(self) -> Any:
        sent = self._values
        if self._remembers:
            sent = await asyncio.to_thread(self._memory.before, self._endpoint, sent)
        self._inner = self._begin(sent)
        self._stream = await self._inner.__aenter__()
        return self._stream

    async def __aexit__(self, *error: object) -> Any:
        try:
            return await self._inner.__aexit__(*error)
        finally:
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        if not self._remembers:
            return
        answer = None
        # There is none before the first event.
        with contextlib.suppress(Exception):
            answer = getattr(self._stream, self._endpoint.snapshot)
        read = self._endpoint.said
        self._memory.after(
            self._endpoint, self._values, lambda: _assistant(None) if answer is None else read(answer)
        )
