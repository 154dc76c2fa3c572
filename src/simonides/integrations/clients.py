"""A client of a language model that remembers: it recalls before each call, and retains after it.

    client = simonides.remember(OpenAI(), bank)
    client.chat.completions.create(model=…, messages=[{"role": "user", "content": "When is my flight?"}])

The client may be OpenAI's, Anthropic's, or any with the same methods, synchronous or asynchronous: ``create``
and ``parse`` of ``chat.completions``, ``responses`` and ``messages``, and ``stream`` of ``chat.completions``
and ``messages``. Everything else of it is as it was, and neither package is needed here.

Before a call: the last message of the user is the query. Standing memories and what is recalled stand in
front of it, in a copy of the request, marked as data and within ``max_tokens``; what the request says already
is not repeated. Where there is neither, the request is the caller's. After it: the messages of the user
behind the last answer, and the new answer, are retained, so a history that is sent again is not stored again.
A stream passes through; what came of it is retained when it ends, fails, is closed or is dropped.

An error of memory breaks no call: the log tells of it once. An error of the client passes through, and then
nothing is retained. Weakness: a question costs a recall and a write, some milliseconds each, in its call.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, TypeVar

from simonides.bank import Bank
from simonides.errors import InputError, UnknownNameError
from simonides.integrations.client_memory import ENDPOINTS, Endpoint, Memory
from simonides.integrations.client_streams import AsyncStream, Manager, StandIn, Stream
from simonides.integrations.keyed import check_bank
from simonides.options import MAX_RELATION_BYTES
from simonides.records.hygiene import clean_count, clean_text
from simonides.surfaces.client.asynchronous import AsyncBank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simonides.surfaces.client.remote import RemoteBank

Client = TypeVar("Client")

MAX_TOKENS = 1_000
"""Of the memories in one request."""

# What the wrapper says of each message, or what is of one call alone.
_OWN_OF_RETAIN = {
    "self", "items", "session", "context", "role", "speaker", "document_id", "idempotency_key", "relation",
    "subject", "object", "single_valued",
}  # fmt: skip

_ON_THE_WAY = {path[:length] for path in ENDPOINTS for length in range(1, len(path) + 1)}
_COPIES = frozenset({"with_options", "copy"})

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
    bank: Bank | RemoteBank | AsyncBank,
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
    if not any(_has(client, path) for path in ENDPOINTS):
        methods = ", ".join(f"{'.'.join(path)}.create" for path in ENDPOINTS)
        raise InputError(
            "client", f"{type(client).__name__} has none of {methods}; give a client that has one"
        )
    check_bank(bank)
    if session is not None:
        clean_text(session, "session", MAX_RELATION_BYTES)
    memory = Memory(
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


class _Remembering(StandIn):
    """A client, or a part of it on the way to its methods."""

    def __init__(self, inner: Any, path: tuple[str, ...], memory: Memory) -> None:
        self.__dict__.update(_inner=inner, _path=path, _memory=memory)

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        path = (*self._path, name)
        if self._path in ENDPOINTS and callable(value):
            endpoint = ENDPOINTS[self._path]
            if name in {"create", "parse"}:
                return _remembered(value, endpoint, self._memory)
            if name == "stream" and endpoint.snapshot:
                return _streaming(value, endpoint, self._memory)
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


def _remembered(method: Callable[..., Any], endpoint: Endpoint, memory: Memory) -> Callable[..., Any]:
    """A method that gives an answer or a stream, with a recall before it and a retain after it."""

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
            return Stream(answer, endpoint, memory, values)
        memory.after(endpoint, values, lambda: endpoint.said(answer))
        return answer

    async def later(args: tuple[Any, ...], values: dict[str, Any]) -> Any:
        sent = await asyncio.to_thread(memory.before, endpoint, values)
        return await awaited(method(*args, **sent), values)

    async def awaited(answering: Any, values: dict[str, Any]) -> Any:
        answer = await answering
        if values.get("stream") is True:
            return AsyncStream(answer, endpoint, memory, values)
        await asyncio.to_thread(memory.after, endpoint, values, lambda: endpoint.said(answer))
        return answer

    return call


def _streaming(method: Callable[..., Any], endpoint: Endpoint, memory: Memory) -> Callable[..., Any]:
    """The same for a method that gives a context manager of a stream."""

    @functools.wraps(method)
    def call(*args: Any, **values: Any) -> Any:
        values = _settled(endpoint, values)
        if _off.get() or endpoint.argument not in values:
            return method(*args, **values)
        return Manager(method, endpoint, memory, args, values)

    return call


def _settled(endpoint: Endpoint, values: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose messages can be read twice."""
    given: Any = values.get(endpoint.argument)
    return {**values, endpoint.argument: list(given)} if hasattr(given, "__next__") else values
