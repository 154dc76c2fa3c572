"""A FastAPI app of one's own that holds the memory's HTTP door beside its own routes.

    uvicorn --app-dir examples --factory fastapi_app:make      # then: POST /chat, and the door below /memory
    python examples/fastapi_app.py                             # asks it once, in this process

The door keeps its tokens, limits and checks; the app's own routes use the bank directly and are the app's to
protect.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import httpx
from fastapi import FastAPI

import simonides
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simonides.store import Store

HOST = "app.example"


def build(store: Store) -> FastAPI:
    """The app over an open store."""
    door = make_app(store, Settings(hosts=(HOST,)))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # A mounted app is not started by itself.
        async with door.router.lifespan_context(door):
            yield

    app = FastAPI(lifespan=lifespan)
    app.mount("/memory", door)

    @app.post("/chat")
    def chat(message: str) -> dict[str, object]:
        # A plain function: FastAPI runs it in a thread, so recall does not hold up the event loop.
        recalled = store.bank("chat").recall(message, limit=1)
        return {"known": "" if recalled.no_match else recalled.context}

    return app


def make() -> FastAPI:
    """For ``uvicorn --factory``."""
    return build(simonides.open("memories"))


async def ask(app: FastAPI, token: str) -> None:
    """Store over the door, then ask the app's own route."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{HOST}") as client,
    ):
        body = {"items": ["Tove waters the figs."]}
        path = "/memory/v1/banks/chat/memories"
        print("without a token:", (await client.post(path, json=body)).status_code)
        client.headers["Authorization"] = f"Bearer {token}"
        print("with a token:", (await client.post(path, json=body)).status_code)
        print("chat:", (await client.post("/chat", params={"message": "Who waters the figs?"})).json())


def main() -> None:
    """Make a store, a token and the app, and ask it."""
    with TemporaryDirectory() as folder, simonides.open(folder, embedder=None) as store:
        store.bank("chat").stats()
        with TokenStore(store.folder) as tokens:
            token = tokens.create(banks=["chat"], verbs=["read", "write"], now=0)
        asyncio.run(ask(build(store), token))


if __name__ == "__main__":
    main()
