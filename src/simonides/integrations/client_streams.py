"""What stands in for a client's streams: each event is handed on, and what came is retained at the end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any, Self

from simonides.integrations.client_memory import assistant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simonides.integrations.client_memory import Endpoint, Memory


class StandIn:
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


class _Passing(StandIn):
    """A stream that is handed on event by event, and kept as text until it ends."""

    _open = False

    def __init__(self, inner: Any, endpoint: Endpoint, memory: Memory, values: Mapping[str, Any]) -> None:
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
        return assistant(parts)

    def __del__(self) -> None:
        # Dropped half-way. The thread that drops it may be in the middle of anything, so another one works.
        if self._open:
            self._open = False
            said = self._said()
            work = functools.partial(self._memory.after, self._endpoint, self._values, lambda: said)
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=work, name="simonides-remember").start()


class Stream(_Passing):
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


class AsyncStream(_Passing):
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
            await (getattr(self._inner, "close", None) or self._inner.aclose)()
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


class Manager:
    """What ``stream`` gives: a context manager of a stream that keeps the answer so far itself."""

    def __init__(
        self,
        method: Callable[..., Any],
        endpoint: Endpoint,
        memory: Memory,
        args: tuple[Any, ...],
        values: dict[str, Any],
    ) -> None:
        self._begin: Callable[[dict[str, Any]], Any] = lambda sent: method(*args, **sent)
        self._endpoint, self._memory, self._values = endpoint, memory, values
        self._inner: Any = None
        self._stream: Any = None

    def __enter__(self) -> Any:
        self._inner = self._begin(self._memory.before(self._endpoint, self._values))
        self._stream = self._inner.__enter__()
        return self._stream

    def __exit__(self, *error: object) -> Any:
        try:
            return self._inner.__exit__(*error)
        finally:
            self._end()

    async def __aenter__(self) -> Any:
        self._inner = self._begin(await asyncio.to_thread(self._memory.before, self._endpoint, self._values))
        self._stream = await self._inner.__aenter__()
        return self._stream

    async def __aexit__(self, *error: object) -> Any:
        try:
            return await self._inner.__aexit__(*error)
        finally:
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._memory.after(self._endpoint, self._values, self._said)

    def _said(self) -> dict[str, Any]:
        # There is no answer before the first event.
        with contextlib.suppress(Exception):
            return self._endpoint.said(getattr(self._stream, self._endpoint.snapshot))
        return assistant(None)
