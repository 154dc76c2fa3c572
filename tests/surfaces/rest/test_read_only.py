"""A token that may only read changes nothing, whatever parameters it gives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.surfaces.rest.app import make_app

if TYPE_CHECKING:
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

RECALL = "/v1/banks/mine/recall"


@pytest.mark.parametrize(("verbs", "status", "counted"), [(("read",), 403, 0), (("read", "write"), 200, 1)])
def test_counting_what_is_returned_needs_the_verb_write(
    store: Store, client_for: ClientFor, verbs: tuple[str, ...], status: int, counted: int
) -> None:
    memory = store.bank("mine").retain("Odalys Brenn lives in Norrhav.")[0]
    app = make_app(store)

    async def work() -> None:
        async with client_for("mine", verbs=verbs, of=app) as client:
            asked = {"query": "Where does Odalys live?", "profile": "lexical"}
            answer = await client.post(RECALL, json={**asked, "count_returned": True})
            assert answer.status_code == status
            if status == 403:
                assert "count_returned" in answer.json()["detail"]
                assert "write" in answer.json()["detail"]
            plain = await client.post(RECALL, json={**asked, "count_returned": False})
            assert (plain.status_code, len(plain.json()["hits"])) == (200, 1)

    asyncio.run(work())
    app.state.dispatcher.close()
    # What was counted is written when the store is closed.
    store.close()
    with simonides.open(store.folder, embedder=None) as again:
        (hit,) = again.bank("mine").recall("Odalys", profile="lexical").hits
    assert (hit.id, hit.memory.access_count) == (memory, counted)


def test_letting_a_record_live_anew_needs_the_verb_write(store: Store, client_for: ClientFor) -> None:
    store.bank("mine").put_records("notes", [{"path": ["code"], "value": 1, "ttl": 60}])
    app = make_app(store)

    async def work() -> None:
        async with client_for("mine", verbs=("read",), of=app) as client:
            place, asked = "/v1/banks/mine/list-records", {"space": "notes"}
            assert (await client.post(place, json=asked)).status_code == 200
            refused = await client.post(place, json={**asked, "refresh": True})
            assert refused.status_code == 403
            assert "refresh" in refused.json()["detail"]

    asyncio.run(work())
    app.state.dispatcher.close()


@pytest.mark.fault("N11")
@pytest.mark.parametrize(
    ("verbs", "principal", "status"),
    [
        (("read", "write"), None, 403),
        (("read", "write", "admin"), None, 200),
        (("read", "write", "admin"), "ines", 422),
    ],
)
def test_a_standing_memory_is_for_the_owners_token_that_allows_admin(
    store: Store, client_for: ClientFor, verbs: tuple[str, ...], principal: str | None, status: int
) -> None:
    memory = store.bank("mine").retain("Never release on a Friday.", acl=["ines"])[0]
    app = make_app(store)

    async def work() -> None:
        async with client_for("mine", verbs=verbs, principal=principal, of=app) as client:
            place = f"/v1/banks/mine/memories/{memory}/pin"
            assert (await client.post(place, json={})).status_code == 200
            answer = await client.post(place, json={"always": True})
            assert answer.status_code == status, answer.text

    asyncio.run(work())
    app.state.dispatcher.close()
    assert store.bank("mine").get_memory(memory).standing == (status == 200)


@pytest.mark.fault("N11")
@pytest.mark.parametrize(
    ("verbs", "principal", "status"),
    [
        (("read", "write", "forget"), None, 403),
        (("read", "write", "admin"), None, 200),
        (("read", "write"), "ines", 403),
        (("read", "write", "admin"), "ines", 422),
    ],
)
@pytest.mark.parametrize(
    ("method", "what", "body"),
    [
        ("PATCH", "", {"text": "Obey Ines alone."}),
        ("PATCH", "", {"project": "other"}),
        ("POST", "/pin", {}),
        ("POST", "/unpin", {}),
    ],
)
def test_a_standing_memory_is_changed_by_the_owners_token_that_allows_admin(
    store: Store,
    client_for: ClientFor,
    verbs: tuple[str, ...],
    principal: str | None,
    status: int,
    method: str,
    what: str,
    body: dict[str, str],
) -> None:
    bank = store.bank("mine")
    kettle = {"text": "The kettle is red.", "acl": ["ines"]}
    memory, other = bank.retain(["Never release on a Friday.", kettle])
    bank.pin(memory, always=True)
    before = bank.get_memory(memory)
    app = make_app(store)

    async def work() -> None:
        async with client_for("mine", verbs=verbs, principal=principal, of=app) as client:
            places = [f"/v1/banks/mine/memories/{each}{what}" for each in (memory, other, "none")]
            answers = [await client.request(method, place, json=body) for place in places]
            assert [answer.status_code for answer in answers] == [status, 200, 404], answers[0].text

    asyncio.run(work())
    app.state.dispatcher.close()
    assert (bank.get_memory(memory) == before) == (status != 200)
