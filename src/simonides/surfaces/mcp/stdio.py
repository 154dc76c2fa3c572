"""MCP over standard input and output, for clients that start the server themselves."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from simonides.errors import InputError
from simonides.surfaces.mcp.server import make_server
from simonides.surfaces.serving.json_reader import parse_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    import anyio

    from simonides.surfaces.mcp.server import Settings
    from simonides.surfaces.serving.dispatching import Dispatcher
    from simonides.surfaces.serving.grants import Grant


async def serve_stdio(dispatcher: Dispatcher, grant: Grant, settings: Settings) -> None:
    """Serve until the client closes standard input."""
    server = make_server(dispatcher, lambda _: grant, settings)
    lines = _Lines()
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write):
        lines.send = write.send
        await server.run(read, write, server.create_initialization_options())


class _Lines:
    """The lines of standard input; one that the JSON reader refuses is answered here and passed on as empty.

    Nothing else reads standard input meanwhile: its place is taken by the null device. A thread reads that no
    end of the process waits for: a read that has begun ends with the client's next line, or never.
    """

    def __init__(self) -> None:
        self.send: Callable[[SessionMessage], Awaitable[None]] | None = None
        self._private = os.dup(sys.stdin.fileno())
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, sys.stdin.fileno())
        os.close(null)

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._read():
            try:
                parse_json(line.encode("utf-8", "surrogatepass"))
            except InputError as error:
                if self.send:
                    refusal = types.ErrorData(code=types.INVALID_REQUEST, message=str(error))
                    answer = types.JSONRPCError(jsonrpc="2.0", id=_id_of(line), error=refusal)
                    await self.send(SessionMessage(answer))
                # The library drops it.
                yield ""
            else:
                yield line

    async def _read(self) -> AsyncIterator[str]:
        parts: asyncio.Queue[bytes] = asyncio.Queue(_PARTS_AHEAD)
        loop = asyncio.get_running_loop()

        def feed() -> None:
            part = b"?"
            # What comes after the last answer is for nobody.
            with suppress(RuntimeError, CancelledError):
                while part:
                    # Not the buffered file: a thread that holds its lock as the interpreter ends is fatal.
                    part = os.read(self._private, _PART)
                    asyncio.run_coroutine_threadsafe(parts.put(part), loop).result()

        threading.Thread(target=feed, name="simonides-stdin", daemon=True).start()
        begun: list[bytes] = []
        while part := await parts.get():
            *ended, rest = part.split(b"\n")
            for line in ended:
                yield b"".join([*begun, line, b"\n"]).decode("utf-8", "replace")
                begun = []
            begun.append(rest)
        if last := b"".join(begun):
            yield last.decode("utf-8", "replace")


def _id_of(line: str) -> Any:
    """The id of a request that is refused, as far as it can be read; a client waits for it."""
    try:
        message = json.loads(line) if len(line) < _SHORT else {}
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


_PART, _PARTS_AHEAD = 64 * 1024, 4
_SHORT = 64 * 1024
"""Characters of a line that is read once more for its id."""
