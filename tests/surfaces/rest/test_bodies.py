"""Bodies that are slow, many or large: all of them are in the limits, at every door."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from simonides.surfaces.operations.table import Verb
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.bodies import Bodies
from simonides.surfaces.serving.busy import BusyError
from simonides.surfaces.serving.grants import Grant
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import httpx
    from fastapi import FastAPI
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
RECALL, IMPORT = "/v1/banks/mine/recall", "/v1/banks/mine/import"
IVO, EVA = (Grant(name, None, ("*",), frozenset(Verb)) for name in ("ivo", "eva"))


def _app(store: Store, **limits: Any) -> FastAPI:
    store.bank("mine").stats()
    return make_app(store, Settings(limits=Limits(**limits)))


async def _drip(parts: int = 40, seconds: float = 0.05) -> AsyncIterator[bytes]:
    for _ in range(parts):
        yield b" "
        await asyncio.sleep(seconds)


async def _held(body: bytes, go: asyncio.Event) -> AsyncIterator[bytes]:
    """A body whose end waits."""
    yield body
    await go.wait()
    yield b'{"query": "figs"}'


async def _until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 the server tells nobody
        await asyncio.sleep(0.01)


@pytest.mark.fault("O1")
@pytest.mark.parametrize(("path", "headers"), [(RECALL, JSON), (IMPORT, LINES), ("/mcp", JSON)])
def test_a_body_that_drips_is_ended_after_the_seconds_for_all_of_it(
    store: Store, client_for: ClientFor, path: str, headers: dict[str, str]
) -> None:
    app = _app(store, seconds=0.4, import_bytes_per_second=1_000)

    async def work() -> None:
        async with client_for("mine", of=app) as client:
            answer = await client.post(path, content=_drip(), headers=headers)
            assert answer.status_code == 408
            assert "bytes of the body came within" in answer.json()["detail"]

    asyncio.run(work())
    assert app.state.dispatcher.bodies.held == 0


def test_an_import_may_take_longer_the_more_has_come(store: Store, client_for: ClientFor) -> None:
    app = _app(store, seconds=0.3, import_bytes_per_second=20)

    async def work() -> httpx.Response:
        async with client_for("mine", of=app) as client:
            return await client.post(IMPORT, content=_drip(parts=30, seconds=0.02), headers=LINES)

    # It was read whole, and is no export.
    assert asyncio.run(work()).status_code == 422


@pytest.mark.fault("O1")
@pytest.mark.parametrize(("path", "headers"), [(RECALL, JSON), (IMPORT, LINES), ("/mcp", JSON)])
def test_bodies_that_never_end_count_for_their_token_from_the_start(
    store: Store, client_for: ClientFor, path: str, headers: dict[str, str]
) -> None:
    app = _app(store, per_token=3)

    async def work() -> None:
        go = asyncio.Event()
        async with client_for("mine", of=app) as one, client_for("mine", of=app) as two:
            sent = [
                asyncio.ensure_future(one.post(path, content=_held(b" ", go), headers=headers))
                for _ in range(3)
            ]
            await _until(lambda: app.state.dispatcher.bodies.count == 3)
            more = await asyncio.wait_for(one.post(RECALL, json={"query": "figs"}), 5)
            assert (more.status_code, more.headers["retry-after"]) == (429, "1")
            assert (await two.post(RECALL, json={"query": "figs"})).status_code == 200
            for each in sent:
                each.cancel()
            await asyncio.gather(*sent, return_exceptions=True)

    asyncio.run(asyncio.wait_for(work(), 20))
    assert app.state.dispatcher.bodies.count == 0


@pytest.mark.fault("O1")
def test_bytes_in_memory_are_bounded_and_one_token_has_half(store: Store, client_for: ClientFor) -> None:
    app = _app(store, body_bytes=1_000, held_bytes=4_000)

    async def work() -> None:
        go = asyncio.Event()
        held = app.state.dispatcher.bodies
        async with client_for("mine", of=app) as one, client_for("mine", of=app) as two:

            def send(client: httpx.AsyncClient) -> asyncio.Task[httpx.Response]:
                return asyncio.ensure_future(client.post(RECALL, content=_held(b" " * 850, go), headers=JSON))

            sent = [send(one), send(one), send(two)]
            await _until(lambda: held.held == 2_550)
            assert (await send(one)).status_code == 429
            sent.append(send(two))
            await _until(lambda: held.held == 3_400)
            async with client_for("mine", of=app) as three:
                full = await send(three)
                assert (full.status_code, full.headers["retry-after"]) == (503, "1")
            go.set()
            assert [each.status_code for each in await asyncio.gather(*sent)] == [200] * 4
            assert held.held == 0

    asyncio.run(asyncio.wait_for(work(), 20))


def test_one_body_of_the_longest_kind_always_may_be() -> None:
    bodies = Bodies(Limits(body_bytes=1_000, held_bytes=10))
    with bodies.opened(IVO) as body:
        body.hold(1_000)
        with pytest.raises(BusyError, match="of this token") as raised:
            body.hold(1)
        assert raised.value.yours
        with bodies.opened(EVA) as other, pytest.raises(BusyError) as full:
            other.hold(1)
        assert not full.value.yours
    assert (bodies.held, bodies.count) == (0, 0)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_only_post_is_understood_at_mcp_so_no_stream_stays_open(
    app: FastAPI, client_for: ClientFor, method: str
) -> None:
    async def work() -> None:
        async with app.router.lifespan_context(app), client_for("mine", verbs=("read",)) as client:
            asked = client.request(method, "/mcp", headers={"Accept": "text/event-stream"})
            answer = await asyncio.wait_for(asked, 5)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")

    asyncio.run(work())
