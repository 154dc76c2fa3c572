"""Servers: who may ask, from where, and that work never keeps a health check waiting."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest

import simonides
from simonides.errors import InputError
from simonides.surfaces.cli.serve import serve
from simonides.surfaces.operations.table import Verb
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.settings import LOOPBACK, Settings
from simonides.surfaces.serving.busy import BusyError
from simonides.surfaces.serving.grants import Grant
from simonides.surfaces.serving.limits import Limits
from simonides.surfaces.serving.tokens import TokenStore
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from fastapi import FastAPI
    from numpy.typing import NDArray

    from simonides.store import Store

RECALL = "/v1/banks/mine/recall"
BURN_SECONDS = 0.4
REQUESTS = 8


class BurningEmbedder(StubEmbedder):
    """Computes in Python for a while before it answers a query, and so holds the interpreter."""

    seconds = BURN_SECONDS

    def encode_query(self, text: str) -> NDArray[np.float32]:
        end = time.thread_time() + self.seconds
        while time.thread_time() < end:
            sum(range(100))
        return super().encode_query(text)


def client(app: FastAPI, store: Store, *banks: str, token: bool = True) -> httpx.AsyncClient:
    headers = {}
    if token:
        with TokenStore(store.folder) as tokens:
            headers["Authorization"] = f"Bearer {tokens.create(banks=list(banks), now=0)}"
    transport = httpx.ASGITransport(app=app)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", headers=headers)


# -- O1


@pytest.mark.fault("O1")
def test_a_server_at_work_is_not_taken_for_dead(tmp_path: Path) -> None:
    waits = _health_while_embedding(tmp_path)
    # On any machine: the check does not stand in line behind the work.
    assert max(waits) < REQUESTS * BURN_SECONDS
    assert sorted(waits)[len(waits) // 2] < BURN_SECONDS


@pytest.mark.soak
@pytest.mark.fault("O1")
def test_99_of_100_health_checks_are_answered_in_a_tenth_of_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a machine that does nothing else."""
    monkeypatch.setattr(BurningEmbedder, "seconds", 2.0)
    waits = sorted(_health_while_embedding(tmp_path))
    assert waits[len(waits) * 99 // 100] < 0.1


def _health_while_embedding(place: Path) -> list[float]:
    waits: list[float] = []
    embedder = BurningEmbedder(dimension=8)
    with simonides.open(place / "store", embedder=embedder, environ={}) as store:
        store.bank("mine").retain("Odalys grows figs.")
        app = make_app(store, Settings(limits=Limits(workers=4, queue=REQUESTS)))

        async def work() -> None:
            async with client(app, store, "mine") as asking, client(app, store, token=False) as looking:
                asked = [
                    asyncio.ensure_future(asking.post(RECALL, json={"query": f"figs {n}"}, timeout=120))
                    for n in range(REQUESTS)
                ]
                while not all(one.done() for one in asked):
                    begun = time.perf_counter()
                    assert (await looking.get("/health/live")).status_code == 200
                    waits.append(time.perf_counter() - begun)
                    await asyncio.sleep(0.01)
                assert {one.result().status_code for one in asked} == {200}

        asyncio.run(work())
        app.state.dispatcher.close()
    return waits


@pytest.mark.fault("O1")
def test_who_leaves_takes_queued_work_along_and_the_queue_has_an_end(tmp_path: Path) -> None:
    go, begun, done = threading.Event(), threading.Event(), list[int]()

    def hold() -> None:
        begun.set()
        go.wait()

    with simonides.open(tmp_path / "store", embedder=None, environ={}) as store:
        app = make_app(store, Settings(limits=Limits(workers=1, queue=2)))
        busy = app.state.dispatcher
        grant = Grant("one", None, ("*",), frozenset(Verb))

        async def work() -> None:
            held = asyncio.ensure_future(busy.work(grant, hold))
            await asyncio.to_thread(begun.wait)
            queued = [asyncio.ensure_future(busy.work(grant, lambda n=n: done.append(n))) for n in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(BusyError) as refused:
                await busy.work(grant, lambda: None)
            assert refused.value.retry_after > 0
            queued[0].cancel()
            await asyncio.gather(queued[0], return_exceptions=True)
            go.set()
            await asyncio.gather(held, queued[1])

        asyncio.run(work())
        busy.close()
    assert done == [1]


# -- X1


@pytest.mark.fault("X1")
def test_the_default_address_is_loopback_and_another_one_needs_a_name() -> None:
    assert inspect.signature(serve).parameters["host"].default in LOOPBACK
    assert set(Settings().hosts) == set(LOOPBACK)
    for host in ("0.0.0.0", "::", "192.0.2.7"):
        with pytest.raises(InputError, match="--allow-host"):
            serve(host=host)


@pytest.mark.fault("X1")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/docs"),
        ("GET", "/redoc"),
        ("GET", "/openapi.json"),
        ("GET", "/metrics"),
        ("GET", "/version"),
        ("GET", "/health/ready"),
        ("GET", "/v1/banks"),
        ("POST", RECALL),
        ("POST", "/mcp"),
        ("GET", "/mcp"),
    ],
)
def test_every_route_needs_a_token(store: Store, method: str, path: str) -> None:
    app = make_app(store)

    async def work() -> None:
        async with client(app, store, token=False) as stranger:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic d3Jvbmc="}):
                assert (await stranger.request(method, path, headers=headers)).status_code == 401

    asyncio.run(work())
    app.state.dispatcher.close()


@pytest.mark.fault("X1")
@pytest.mark.parametrize("field", ["bank", "bank_id", "tenant", "tenant_id", "principal", "user_id"])
def test_no_id_in_a_body_chooses_whose_bank_it_is(store: Store, field: str) -> None:
    store.bank("mine").stats()
    store.bank("theirs").retain("Odalys keeps the canarywort in the cellar.")
    app = make_app(store)

    async def work() -> list[httpx.Response]:
        async with client(app, store, "mine") as mine:
            return [
                await mine.post(RECALL.replace("mine", "theirs"), json={"query": "canarywort"}),
                await mine.post(RECALL, json={"query": "canarywort", field: "theirs"}),
                await mine.post(RECALL, json={"query": "canarywort"}, params={field: "theirs"}),
                await mine.post(RECALL, json={"query": "canarywort"}, headers={f"X-{field}": "theirs"}),
            ]

    answers = asyncio.run(work())
    app.state.dispatcher.close()
    assert answers[0].status_code == 403
    assert {answer.status_code for answer in answers[1:3]} <= {400, 422}
    assert (answers[3].status_code, answers[3].json()["hits"]) == (200, [])
    assert not any("cellar" in answer.text for answer in answers)


# -- X2


@pytest.mark.fault("X2")
@pytest.mark.parametrize("path", ["/version", "/v1/banks", "/mcp", "/health/live"])
@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"Host": "evil.test"}, {421, 403}),
        ({"Host": "127.0.0.1.evil.test"}, {421, 403}),
        ({"Origin": "http://evil.test"}, {403}),
        ({"Origin": "http://127.0.0.1.evil.test"}, {403}),
    ],
)
def test_a_page_elsewhere_gets_nothing(
    store: Store, path: str, headers: dict[str, str], wanted: set[int]
) -> None:
    app = make_app(store)

    async def work() -> list[httpx.Response]:
        async with client(app, store, "mine") as mine:
            return [
                await mine.request(method, path, headers=headers) for method in ("GET", "POST", "OPTIONS")
            ]

    answers = asyncio.run(work())
    app.state.dispatcher.close()
    assert {answer.status_code for answer in answers} <= wanted
    assert not any("access-control-allow-origin" in answer.headers for answer in answers)


@pytest.mark.fault("X2")
def test_a_program_without_an_origin_gets_its_answer(store: Store) -> None:
    store.bank("mine").retain("Odalys grows figs.")
    app = make_app(store)

    async def work() -> httpx.Response:
        async with client(app, store, "mine") as mine:
            return await mine.post(RECALL, json={"query": "figs", "profile": "lexical"})

    answer = asyncio.run(work())
    app.state.dispatcher.close()
    assert answer.status_code == 200
    assert [hit["memory"]["text"] if "memory" in hit else hit["text"] for hit in answer.json()["hits"]] == [
        "Odalys grows figs."
    ]
    assert answer.headers.get("access-control-allow-origin") != "*"
