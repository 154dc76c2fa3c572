"""Names of banks that a path can lead to, and bodies that are read as they are sent."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError

if TYPE_CHECKING:
    import httpx
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store


@pytest.mark.fault("N74")
@pytest.mark.fault("N95")
@pytest.mark.parametrize("name", ["n/m", "/", ".", ".."])
def test_a_bank_that_no_path_leads_to_is_not_made_over_http(
    store: Store, client_for: ClientFor, name: str
) -> None:
    async def work() -> httpx.Response:
        async with client_for("*") as client:
            return await client.post("/v1/banks", json={"name": name})

    answer = asyncio.run(work())
    assert (answer.status_code, answer.json()["field"]) == (422, "name")
    assert "create-bank" in answer.json()["detail"]
    assert store.list_banks() == ["mine", "theirs"]


@pytest.mark.fault("N74")
@pytest.mark.parametrize("name", ["...", "a.b", "n" * 200, "Ü", "a b", "100%"])
def test_every_other_name_is_made_and_reached(store: Store, client_for: ClientFor, name: str) -> None:
    async def work() -> list[int]:
        async with client_for("*") as client:
            made = await client.post("/v1/banks", json={"name": name})
            path = f"/v1/banks/{name.replace('%', '%25')}"
            kept = await client.post(f"{path}/memories", json={"items": ["Figs need water."]})
            return [made.status_code, kept.status_code]

    assert asyncio.run(work()) == [200, 200]
    assert store.bank(name).stats()["memories"] == 1


@pytest.mark.fault("N74")
def test_a_name_is_too_long_over_http_where_it_is_in_python(store: Store, client_for: ClientFor) -> None:
    async def work() -> httpx.Response:
        async with client_for("*") as client:
            return await client.post("/v1/banks", json={"name": "n" * 201})

    with pytest.raises(InputError):
        store.bank("n" * 201)
    assert asyncio.run(work()).status_code == 400


@pytest.mark.fault("N74")
def test_a_body_that_is_not_plain_is_refused_in_its_own_words(client_for: ClientFor) -> None:
    body, path = b'{"query": "figs"}', "/v1/banks/mine/recall"
    as_json = {"Content-Type": "application/json"}

    async def work() -> list[httpx.Response]:
        async with client_for("mine") as client:
            return [
                await client.post(
                    path, content=gzip.compress(body), headers={**as_json, "Content-Encoding": "gzip"}
                ),
                await client.post(
                    "/v1/banks/mine/import",
                    content=gzip.compress(body),
                    headers={"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"},
                ),
                await client.post(path, content=body.decode().encode("utf-16"), headers=as_json),
                await client.post(path, content=body, headers={**as_json, "Content-Encoding": "identity"}),
            ]

    answers = asyncio.run(work())
    assert [answer.status_code for answer in answers] == [415, 415, 400, 200]
    for answer in answers[:2]:
        assert "sent as gzip" in answer.json()["detail"]
