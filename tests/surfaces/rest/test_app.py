"""The real app through an ASGI transport: every answer is what a client would get."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.surfaces.operations.table import OPERATIONS, Verb
from simonides.surfaces.rest import reading
from simonides.surfaces.rest.app import make_app, openapi_document
from simonides.surfaces.rest.paths import place_of
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.grants import Grant
from simonides.surfaces.serving.json_reader import parse_json
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    from fastapi import FastAPI
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

MEMORIES = "/v1/banks/mine/memories"
RECALL = "/v1/banks/mine/recall"


def test_retain_and_recall(client_for: ClientFor) -> None:
    async def work() -> None:
        async with client_for("mine") as client:
            stored = await client.post(MEMORIES, json={"items": ["Odalys Brenn lives in Norrhav."]})
            assert stored.status_code == 200
            found = await client.post(RECALL, json={"query": "Where does Odalys live?"})
            assert [hit["id"] for hit in found.json()["hits"]] == stored.json()["ids"]
            assert "trace" not in found.json()

    asyncio.run(work())


@pytest.mark.fault("N50")
def test_messages_are_retained_and_what_is_left_out_is_counted(client_for: ClientFor) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    chat = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Is this a fig?"}, picture]},
    ]

    async def work() -> None:
        async with client_for("mine") as client:
            stored = await client.post(MEMORIES, json={"items": chat})
            assert stored.status_code == 200
            assert stored.json()["left_out"] == {"image": 1, "system message": 1}
            [memory] = stored.json()["ids"]
            found = await client.get(f"{MEMORIES}/{memory}")
            assert found.json()["memory"]["text"] == "Is this a fig?"
            wrong = await client.post(MEMORIES, json={"items": [*chat, {"role": "user", "content": ""}]})
            assert (wrong.status_code, wrong.json()["field"]) == (422, "messages[2].content")
            turns = {"turns": chat, "session": "s"}
            told = await client.post("/v1/banks/mine/conversations", json=turns)
            assert told.json()["left_out"] == {"image": 1, "system message": 1}

    asyncio.run(work())


def test_an_idempotency_key_counts_from_header_and_body(client_for: ClientFor) -> None:
    async def work() -> None:
        async with client_for("mine") as client:
            key = {"Idempotency-Key": "k1"}
            body = {"items": ["Figs need water."], "deduplicate": False}
            first = await client.post(MEMORIES, json=body, headers=key)
            again = await client.post(MEMORIES, json={**body, "idempotency_key": "k1"})
            assert first.json() == again.json()
            other = await client.post(MEMORIES, json={"items": ["Figs need sun."]}, headers=key)
            assert (other.status_code, other.headers["content-type"]) == (409, "application/problem+json")
            both = await client.post(MEMORIES, json={**body, "idempotency_key": "k2"}, headers=key)
            assert (both.status_code, both.json()["field"]) == (422, "idempotency_key")

    asyncio.run(work())


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"qery": "figs"}', 400, "qery"),
        (b'{"query": "figs", "limit": "3"}', 400, "limit"),
        (b'{"query": "figs", "query": "dates"}', 400, "body"),
        (b'{"query": "figs", "deadline_ms": NaN}', 400, "body"),
        (b"[1]", 400, "body"),
        (b"{", 400, "body"),
        (b"[" * 100_000, 400, "body"),
        (b'{"query": "figs", "limit": ' + b"9" * 5000 + b"}", 400, "body"),
        (b'{"query": "\\ud800"}', 422, "query"),
        (b'{"query": "figs", "window": ["2026-03", "2026-02"]}', 422, "window"),
        (b'{"query": "figs", "bank": "theirs"}', 400, "bank"),
        (b'{"query": "figs", "principal": "ivo"}', 400, "principal"),
    ],
)
def test_a_wrong_body_is_a_problem_that_names_the_field(
    client_for: ClientFor, body: bytes, status: int, field: str
) -> None:
    async def work() -> httpx.Response:
        async with client_for("mine") as client:
            return await client.post(RECALL, content=body, headers={"Content-Type": "application/json"})

    answer = asyncio.run(work())
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["status"], answer.json()["field"]) == (status, status, field)


def test_a_misspelt_parameter_is_told_the_nearest_in_body_and_query(client_for: ClientFor) -> None:
    async def work() -> None:
        async with client_for("mine") as client:
            body = await client.post(RECALL, json={"query": "figs", "max_token": 3})
            assert "did you mean 'max_tokens'" in body.json()["detail"]
            assert "max_tokens" in body.json()["valid"]
            query = await client.get(MEMORIES, params={"limt": 3})
            assert "did you mean 'limit'" in query.json()["detail"]
            wrong = await client.post(RECALL, params={"limit": 3}, json={"query": "figs"})
            assert (wrong.status_code, wrong.json()["field"]) == (400, "query")
            twice = await client.get(f"{MEMORIES}?limit=1&limit=2")
            assert (twice.status_code, twice.json()["field"]) == (400, "limit")
            path = await client.patch(f"{MEMORIES}/abc", json={"memory": "def"})
            assert (path.status_code, path.json()["field"]) == (400, "memory")

    asyncio.run(work())


@pytest.mark.parametrize("value", ["null", "true", '"3"', "[]", "{}", "", "NaN", "1e999"])
def test_a_query_says_numbers_as_numbers(client_for: ClientFor, value: str) -> None:
    async def work() -> httpx.Response:
        async with client_for("mine") as client:
            return await client.get(MEMORIES, params={"limit": value})

    answer = asyncio.run(work())
    assert (answer.status_code, answer.json()["field"]) == (400, "limit")


def test_pages_and_lines_list_the_same(client_for: ClientFor, store: Store) -> None:
    store.bank("mine").retain([f"Note {n}." for n in range(7)], tags=["a"], deduplicate=False)

    async def work() -> None:
        async with client_for("mine") as client:
            whole = await client.get(MEMORIES, params={"kinds": ["semantic", "episodic"], "tags": ["a"]})
            lines = await client.get(
                MEMORIES, params={"limit": 3}, headers={"Accept": "application/x-ndjson"}
            )
            assert lines.headers["content-type"] == "application/x-ndjson"
            assert [json.loads(line) for line in lines.text.splitlines()] == whole.json()["memories"]
            assert whole.json()["next"] is None

    asyncio.run(work())


def test_an_export_is_what_an_import_reads(client_for: ClientFor, store: Store) -> None:
    ids = store.bank("mine").retain(["Figs need water.", "Odalys Brenn feeds them."])

    async def work() -> None:
        async with client_for("mine", "copy") as client:
            exported = await client.get("/v1/banks/mine/export")
            assert int(exported.headers["content-length"]) == len(exported.content)
            assert (await client.post("/v1/banks", json={"name": "copy"})).json()["created"]
            lines = {"Content-Type": "application/x-ndjson"}
            done = await client.post("/v1/banks/copy/import", content=exported.content, headers=lines)
            assert done.json()["added"]["memories"] == 2
            wrong = await client.post("/v1/banks/copy/import", content=b"nothing", headers=lines)
            assert wrong.status_code == 422

    asyncio.run(work())
    assert [memory.id for memory in store.bank("copy").list_memories()] == sorted(ids)
    assert not [path for path in store.folder.iterdir() if path.name.startswith(".import")]


@pytest.mark.fault("X1")
def test_every_route_but_liveness_needs_a_token(app: FastAPI, client_for: ClientFor) -> None:
    document = openapi_document(app)

    async def work() -> None:
        async with client_for() as client:
            for path, methods in document["paths"].items():
                for method in methods:
                    where = path.format(bank="mine", memory="abc", name="mine", job="abc")
                    answer = await client.request(method.upper(), where)
                    wanted = 200 if path == "/health/live" else 401
                    assert answer.status_code == wanted, (method, path)
            for path in ("/", "/docs", "/openapi.json", "/nothing", "/health/live/"):
                assert (await client.get(path)).status_code == 401

    asyncio.run(work())


@pytest.mark.fault("X2")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.test"}, 421),
        ({"Host": "127.0.0.1.evil.test"}, 421),
        ({"Host": "evil.test@127.0.0.1"}, 421),
        ({"Host": "localhost:9"}, 200),
        ({"Host": "[::1]:8765"}, 200),
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:8765"}, 200),
        ({}, 200),
    ],
)
def test_host_and_origin_are_checked(client_for: ClientFor, headers: dict[str, str], status: int) -> None:
    async def work() -> httpx.Response:
        async with client_for("mine") as client:
            return await client.get("/version", headers=headers)

    answer = asyncio.run(work())
    assert answer.status_code == status
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_cors_only_for_the_origins_that_were_asked_for(store: Store, client_for: ClientFor) -> None:
    app = make_app(store, Settings(origins=("https://notes.example",)))

    async def work() -> None:
        async with client_for("mine", of=app) as client:
            asked = {"Origin": "https://notes.example", "Access-Control-Request-Method": "POST"}
            flight = await client.options(RECALL, headers=asked)
            assert flight.headers["access-control-allow-origin"] == "https://notes.example"
            other = await client.get("/version", headers={"Origin": "https://evil.test"})
            assert other.status_code == 403
            assert "access-control-allow-origin" not in other.headers

    asyncio.run(work())


def test_bodies_have_a_limit_and_a_media_type(store: Store, client_for: ClientFor) -> None:
    app = make_app(store, Settings(limits=Limits(body_bytes=100)))
    store.bank("mine").stats()

    async def work() -> None:
        async with client_for("mine", of=app) as client:
            long = await client.post(RECALL, json={"query": "x" * 200})
            assert (long.status_code, long.headers["content-type"]) == (413, "application/problem+json")

            async def parts() -> Any:
                for _ in range(50):
                    yield b"     "

            streamed = await client.post(
                RECALL, content=parts(), headers={"Content-Type": "application/json"}
            )
            assert streamed.status_code == 413
            plain = await client.post(RECALL, content=b"{}", headers={"Content-Type": "text/plain"})
            assert plain.status_code == 415

    asyncio.run(work())


@pytest.mark.fault("O1")
def test_a_full_queue_is_refused_while_liveness_answers(tmp_path: Path, client_for: ClientFor) -> None:
    go = threading.Event()
    limits = Limits(workers=1, queue=1, per_token=2)
    with simonides.open(tmp_path / "store", embedder=None) as store:
        store.bank("mine").stats()
        app = make_app(store, Settings(limits=limits))
        busy = app.state.dispatcher

        async def work() -> None:
            async with client_for("mine", of=app) as one, client_for("mine", of=app) as two:
                loop = asyncio.get_running_loop()
                grant = _grant("one")
                held = [asyncio.ensure_future(busy.work(grant, go.wait)) for _ in range(2)]
                await asyncio.sleep(0)
                assert busy.taken == 2
                full = await one.post(RECALL, json={"query": "figs"})
                assert (full.status_code, int(full.headers["retry-after"])) == (503, 1)
                begun = loop.time()
                assert (await two.get("/health/live")).status_code == 200
                assert loop.time() - begun < 5
                with pytest.raises(Exception, match="of this token"):
                    await busy.work(grant, lambda: None)
                go.set()
                await asyncio.gather(*held)
                assert (await one.post(RECALL, json={"query": "figs"})).status_code == 200
                assert busy.taken == 0

        asyncio.run(work())
        busy.close()


def _grant(name: str) -> Grant:
    return Grant(name, None, ("*",), frozenset(Verb))


def test_ready_says_what_is_degraded_and_when_it_stops(
    app: FastAPI, store: Store, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with client_for("mine") as client:
            well = await client.get("/health/ready")
            assert (well.status_code, well.json()) == (200, {"status": "ready", "degraded": []})
            monkeypatch.setattr(type(store), "embedder_problem", "it was not fetched")
            ill = await client.get("/health/ready")
            assert ill.json() == {"status": "degraded", "degraded": ["embedder: it was not fetched"]}
            app.state.dispatcher.close()
            assert (await client.get("/health/ready")).status_code == 503
            late = await client.post(RECALL, json={"query": "figs"})
            assert (late.status_code, late.headers["retry-after"]) == (503, "10")

    asyncio.run(work())


@pytest.mark.fault("O3")
def test_a_model_that_is_missing_leaves_recall_by_words(
    tmp_path: Path, client_for: ClientFor, store: Store
) -> None:
    with simonides.open(tmp_path / "store") as cold:
        cold.bank("mine").retain("Odalys Brenn lives in Norrhav.")
        app = make_app(cold)

        async def work() -> None:
            async with client_for("mine", of=app) as client:
                ready = await client.get("/health/ready")
                assert ready.json()["status"] == "degraded"
                assert ready.json()["degraded"][0].startswith("embedder: ")
                found = await client.post(RECALL, json={"query": "Odalys", "profile": "lexical"})
                assert len(found.json()["hits"]) == 1

        asyncio.run(work())


def test_metrics_count_requests_and_hold_no_name(client_for: ClientFor) -> None:
    async def work() -> str:
        async with client_for("mine") as client:
            await client.post(RECALL, json={"query": "figs and dates"})
            await client.post(RECALL, json={"qery": "figs"})
            return (await client.get("/metrics")).text

    page = asyncio.run(work())
    assert 'simonides_requests_total{operation="recall",status="200"} 1.0' in page
    assert 'simonides_requests_total{operation="recall",status="400"} 1.0' in page
    assert "mine" not in page
    assert "figs" not in page


def test_banks_beyond_the_limit_are_closed_and_opened_again(store: Store, client_for: ClientFor) -> None:
    names = [f"bank {number}" for number in range(6)]
    store.close_bank("mine")
    store.close_bank("theirs")
    for name in names:
        store.bank(name).retain(f"A note of {name}.")
        store.close_bank(name)
    app = make_app(store, Settings(limits=Limits(open_banks=2)))

    async def work() -> None:
        async with client_for("*", of=app) as client:
            for name in names * 2:
                answer = await client.get(f"/v1/banks/{name}/memories")
                assert answer.json()["memories"][0]["text"] == f"A note of {name}."
                assert len(app.state.dispatcher.banks) <= 2
                assert len(store._banks) <= 2

    asyncio.run(work())


def test_the_document_lists_every_operation_with_its_parameters(app: FastAPI) -> None:
    document = openapi_document(app)
    for name, operation in OPERATIONS.items():
        place = place_of(name)
        described = document["paths"][place.path][place.method.lower()]
        assert described["operationId"] == name
        listed = {each["name"] for each in described["parameters"]} - {"bank", "Idempotency-Key"}
        body = described.get("requestBody", {}).get("content", {}).get("application/json", {})
        listed |= set(body.get("schema", {}).get("properties", {}))
        assert listed == {each.name for each in operation.parameters}
    paths = {path for path in document["paths"] if path.startswith("/v1/")}
    assert paths == {place_of(name).path for name in OPERATIONS}


def test_what_is_not_there_is_a_problem(client_for: ClientFor) -> None:
    async def work() -> None:
        async with client_for("mine", "gone") as client:
            for method, path, status in (
                ("GET", "/nothing", 404),
                ("GET", f"{MEMORIES}/abc", 404),
                ("POST", "/v1/banks/gone/recall", 404),
                ("DELETE", MEMORIES, 405),
            ):
                body = {"query": "x"} if method == "POST" else None
                answer = await client.request(method, path, json=body)
                assert (answer.status_code, answer.headers["content-type"]) == (
                    status,
                    "application/problem+json",
                )
            assert (await client.delete(MEMORIES)).headers["allow"] == "GET, POST"

    asyncio.run(work())


@pytest.mark.fault("O1")
def test_a_large_body_is_read_beside_the_loop(client_for: ClientFor, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    read = parse_json

    def noted(body: bytes) -> Any:
        threads.append(threading.current_thread().name)
        return read(body)

    monkeypatch.setattr(reading, "parse_json", noted)

    async def work() -> list[int]:
        async with client_for("mine") as client:
            return [
                (await client.post("/v1/banks/mine/memories", json={"items": [text], extra: 1})).status_code
                for text, extra in (
                    ("Figs " * 20, "salience"),
                    ("Figs " * 20_000, "salience"),
                    ("Figs " * 20_000, "x"),
                )
            ]

    assert asyncio.run(work()) == [200, 200, 400]
    assert threads[0] == "MainThread"
    assert "MainThread" not in threads[1:]


def test_two_idempotency_keys_and_a_blank_body_are_refused(client_for: ClientFor) -> None:
    async def work() -> list[int]:
        async with client_for("mine") as client:
            body = {"items": ["Figs need water."], "idempotency_key": "a"}
            two = await client.post("/v1/banks/mine/memories", json=body, headers={"Idempotency-Key": "b"})
            sent = {"Content-Type": "application/json"}
            blank = await client.post("/v1/banks/mine/settle", content=b"\r", headers=sent)
            none = await client.post("/v1/banks/mine/settle", headers=sent)
            body = {"items": ["Figs need water."]}
            spaced = await client.post(
                "/v1/banks/mine/memories", json=body, headers={"Idempotency-Key": "a b"}
            )
            return [two.status_code, blank.status_code, none.status_code, spaced.status_code]

    assert asyncio.run(work()) == [422, 400, 200, 400]
