"""An MCP server over a store, and the SDK's own client, in one process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest
from mcp import Client

from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.serving.dispatching import Dispatcher
from simonides.surfaces.serving.grants import LOCAL, Grant
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from simonides.store import Store

T = TypeVar("T")


class Session(Protocol):
    def __call__(
        self,
        talk: Callable[[Client], Awaitable[T]],
        *,
        grant: Grant = LOCAL,
        mode: str = "auto",
        **settings: Any,
    ) -> T: ...


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    """Runs a talk between a client and a server of the store, whose bank is `mine`, with all tools."""
    for name in ("mine", "theirs"):
        store.bank(name).stats()
    dispatcher = Dispatcher(store, Limits())

    def run(
        talk: Callable[[Client], Awaitable[T]],
        *,
        grant: Grant = LOCAL,
        mode: str = "auto",
        **settings: Any,
    ) -> T:
        async def work() -> T:
            chosen = {"bank": "mine", "tools": "all", **settings}
            server = make_server(dispatcher, lambda _: grant, Settings(**chosen))
            async with Client(server, mode=mode) as client:
                return await talk(client)

        return asyncio.run(work())

    yield run
    dispatcher.close()
