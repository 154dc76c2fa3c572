"""Connections of a server: how many there are, how long one may stay silent, and how fast it must read.

uvicorn closes a connection that is idle after an answer and nothing else. Here one also has a time for the
head of its request, and for reading what is sent to it; what is too slow is dropped, with whatever waits in
it. There are only so many: another one takes the place of the one that was idle for longest, and is refused
where all are at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from simonides.surfaces.serving.limits import Limits
from simonides.surfaces.serving.listening import most_connections

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class Connection(H11Protocol):
    """One connection; ``server_of`` makes a class of its own for each server.

    Attributes:
        most: connections of the server at once.
        open: those of the server; the idle ones in the order in which they became so.
    """

    limits: ClassVar[Limits] = Limits()
    most: ClassVar[int] = limits.connections
    open: ClassVar[dict[Connection, None]] = {}

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep it, or drop the longest idle one, or this one."""
        super().connection_made(transport)
        self.open[self] = None
        if len(self.open) > self.most:
            next(each for each in self.open if each.idle).drop()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.open.pop(self, None)
        self._stop("head")
        self._stop("reading")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass it on; a head, and a body that nobody reads, must end in time whatever comes meanwhile."""
        super().data_received(data)
        if not self.idle:
            self._stop("head")
        elif "head" not in self._timers:
            self._expect_head()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the end of a body that nobody reads."""
        super().on_response_complete()
        if self in self.open:
            del self.open[self]
            self.open[self] = None
        if self.idle and self.conn.their_state is h11.SEND_BODY:
            self._expect_head()

    def pause_writing(self) -> None:
        """The caller does not read as fast as it is sent to; drop it unless it goes on in time."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """It went on."""
        super().resume_writing()
        self._stop("reading")

    def timeout_keep_alive_handler(self) -> None:
        """Close what was idle; where the end of an answer is still unread, a close would wait for it."""
        if self.transport.get_write_buffer_size():
            self._expect_reading()
        else:
            super().timeout_keep_alive_handler()

    @property
    def idle(self) -> bool:
        """Whether no request of it is at work."""
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)

    def drop(self) -> None:
        """Close it now, with whatever waits in it."""
        self.open.pop(self, None)
        self.transport.abort()

    def _expect_head(self) -> None:
        self._start("head", self.limits.head_seconds, self._late)

    def _late(self) -> None:
        if self.idle:
            self.drop()

    def _expect_reading(self) -> None:
        self._start("reading", self.limits.write_seconds, self.drop)

    def _start(self, name: str, seconds: float, then: Callable[[], None]) -> None:
        self._stop(name)
        self._timers[name] = self.loop.call_later(seconds, then)

    def _stop(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()


def server_of(app: Any, limits: Limits) -> uvicorn.Server:
    """Uvicorn for *app*, with the limits above; to be run with a socket of ``listening.listen``."""
    most = most_connections(limits)
    own = {"limits": limits, "most": most, "open": {}}
    config = uvicorn.Config(
        app,
        http=type("Connection", (Connection,), own),
        loop="asyncio",
        ws="none",
        # Accepted in one turn of the loop. It takes three turns until a request is read, and no connection
        # should be displaced before.
        backlog=max(1, most // 4),
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=30,
    )
    return uvicorn.Server(config)
