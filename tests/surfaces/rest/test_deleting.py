"""A bank is deleted over HTTP by an owner who says its name twice; a server notices when others delete one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import simonides

if TYPE_CHECKING:
    import httpx
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store


@pytest.mark.fault("O3")
def test_a_bank_is_deleted_and_made_anew(store: Store, client_for: ClientFor) -> None:
    store.bank("mine").retain("Figs need water.")

    async def work() -> list[httpx.Response]:
        async with client_for("mine") as client, client_for("mine", principal="ivo") as guest:
            path = "/v1/banks/mine"
            return [
                await client.post(f"{path}/recall", json={"query": "figs"}),
                await guest.post(f"{path}/delete", json={"confirm": "mine"}),
                await client.post(f"{path}/delete", json={"confirm": "nime"}),
                await client.post(f"{path}/delete", json={}),
                await client.post(f"{path}/delete", json={"confirm": "mine"}),
                await client.post(f"{path}/recall", json={"query": "figs"}),
                await client.post(f"{path}/delete", json={"confirm": "mine"}),
                await client.post("/v1/banks", json={"name": "mine"}),
                await client.post(f"{path}/recall", json={"query": "figs"}),
            ]

    answers = asyncio.run(work())
    assert [answer.status_code for answer in answers] == [200, 403, 422, 400, 200, 404, 404, 200, 200]
    assert answers[4].json() == {"deleted": "mine"}
    assert answers[-1].json()["hits"] == []


@pytest.mark.parametrize("anew", [False, True])
def test_a_server_notices_what_another_process_deleted(
    store: Store, client_for: ClientFor, *, anew: bool
) -> None:
    store.bank("mine").retain("Figs need water.")

    async def work() -> list[int]:
        async with client_for("mine") as client:
            statuses = []
            for turn in range(3):
                if turn == 1:
                    with simonides.open(store.folder, embedder=None) as other:
                        other.delete_bank("mine")
                        if anew:
                            other.bank("mine").stats()
                answer = await client.post("/v1/banks/mine/recall", json={"query": "figs"})
                statuses.append(answer.status_code)
                assert answer.status_code != 200 or bool(answer.json()["hits"]) == (turn == 0)
            return statuses

    assert asyncio.run(work()) == ([200, 200, 200] if anew else [200, 404, 404])
