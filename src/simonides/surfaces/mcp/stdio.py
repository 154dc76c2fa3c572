"""MCP over standard input and output, for clients that start the server themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.stdio import stdio_server

from simonides.surfaces.mcp.server import make_server

if TYPE_CHECKING:
    from simonides.surfaces.mcp.server import Settings
    from simonides.surfaces.serving.dispatching import Dispatcher
    from simonides.surfaces.serving.grants import Grant


async def serve_stdio(dispatcher: Dispatcher, grant: Grant, settings: Settings) -> None:
    """Serve until the client closes standard input.

    Args:
        dispatcher: does the operations.
        grant: of the client.
        settings: of the door.
    """
    server = make_server(dispatcher, lambda _: grant, settings)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
