"""MCP over streamable HTTP, mounted in the HTTP app behind its guard: the same tokens, hosts and origins.

Each request stands alone and is done under its own token's grant; there is no session to be taken over, and
no stream beside the requests. Their bodies are in the same limits as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

from simonides.errors import SimonidesError
from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.rest.guard import GRANT, UNTIL_SENT
from simonides.surfaces.rest.problems import RefusedError, problem_of
from simonides.surfaces.rest.reading import read_body, read_json
from simonides.surfaces.serving.grants import ForbiddenError, Grant

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.types import Message, Receive, Scope, Send

    from simonides.surfaces.serving.bodies import Body
    from simonides.surfaces.serving.dispatching import Dispatcher

HELD = "simonides.held"
"""Key of the request's place in the limits in the ASGI scope's state."""


class McpApp:
    """ASGI app of the MCP interface; works while ``running`` is entered."""

    def __init__(self, dispatcher: Dispatcher, settings: Settings | None = None) -> None:
        self._dispatcher = dispatcher
        server = make_server(dispatcher, _grant, settings, _held)
        self._manager = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=dispatcher.limits.body_bytes
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Open for requests meanwhile; once."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        try:
            await self._answer(scope, receive, send)
        except SimonidesError as error:
            await problem_of(error)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            # No request hears of another one, so a stream beside them would stay empty, and open.
            raise RefusedError(
                405, f"{scope['method']} /mcp: only POST is understood here", {"Allow": "POST"}
            )
        state = scope["state"]
        held = state[UNTIL_SENT].enter_context(self._dispatcher.bodies.opened(state[GRANT]))
        body = await read_body(Request(scope, receive), self._dispatcher.limits, held)
        # By the one reader of all interfaces: what it refuses, the library behind would take.
        await read_json(body, held)
        state[HELD] = held
        await self._manager.handle_request(scope, _again(body, receive), send)


def _again(body: bytearray, receive: Receive) -> Receive:
    """Gives a body that was read already, and then what *receive* gives."""
    messages: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def given() -> Message:
        return messages.pop() if messages else await receive()

    return given


def _held(context: Any) -> Body | None:
    held: Body | None = context.request.scope["state"].get(HELD) if context.request is not None else None
    return held


def _grant(context: Any) -> Grant:
    grant = context.request.scope["state"].get(GRANT) if context.request is not None else None
    if not isinstance(grant, Grant):
        raise ForbiddenError("this request has no token")
    return grant
