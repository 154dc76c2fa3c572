"""MCP over streamable HTTP, mounted in the HTTP app behind its guard: the same tokens, hosts and origins.

Each request stands alone and is done under its own token's grant; there is no session to be taken over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.rest.guard import GRANT
from simonides.surfaces.serving.grants import ForbiddenError, Grant

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.types import Receive, Scope, Send

    from simonides.surfaces.serving.dispatching import Dispatcher


class McpApp:
    """ASGI app of the MCP door; works while ``running`` is entered.

    Args:
        dispatcher: of the HTTP app.
        settings: of the door.
    """

    def __init__(self, dispatcher: Dispatcher, settings: Settings | None = None) -> None:
        server = make_server(dispatcher, _grant, settings)
        self._manager = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=dispatcher.limits.body_bytes
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Open for requests meanwhile; once."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._manager.handle_request(scope, receive, send)


def _grant(context: Any) -> Grant:
    grant = context.request.scope["state"].get(GRANT) if context.request is not None else None
    if not isinstance(grant, Grant):
        raise ForbiddenError("this request has no token")
    return grant
