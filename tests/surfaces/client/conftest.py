"""A bank of this process and the same bank behind a running server: what is tested of one is tested of both."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

import simonides
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.serving.listening import listen
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.store import Store
    from simonides.surfaces.client.remote import RemoteStore


class _Server(uvicorn.Server):
    """In a thread, where no signals are to be handled; it ends as soon as it is told to."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not self.should_exit:  # noqa: ASYNC110 the flag is uvicorn's
            await asyncio.sleep(0.005)


@pytest.fixture
def remote_store(store: Store, plain_http: None) -> Iterator[RemoteStore]:
    """The store behind a server of this process."""
    with TokenStore(store.folder) as tokens:
        token = tokens.create(banks=["*"], now=0)
    with listen("127.0.0.1", 0, backlog=64) as listening:
        # Its WebSocket support imports a package that warns of itself.
        config = uvicorn.Config(make_app(store), log_level="warning", ws="none")
        server = _Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            with simonides.connect(f"http://127.0.0.1:{listening.getsockname()[1]}", token=token) as remote:
                yield remote
        finally:
            server.should_exit = True
            thread.join(30)


@pytest.fixture(params=["local", "remote"])
def either(request: pytest.FixtureRequest, store: Store) -> Any:
    """A bank, of this process or of a server."""
    store.bank("diary").stats()
    if request.param == "local":
        return store.bank("diary")
    return request.getfixturevalue("remote_store").bank("diary")
