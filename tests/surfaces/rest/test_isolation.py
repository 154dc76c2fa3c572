"""No operation of the table gives a token what another bank or another principal holds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from simonides.surfaces.operations.table import OPERATIONS, Scope
from simonides.surfaces.rest.paths import place_of

if TYPE_CHECKING:
    import httpx
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.bank import Bank
    from simonides.store import Store

CANARY = "Zephyrine Quillmoor keeps the canary in Tarn Hollow"
_VALUES: dict[str, Any] = {
    "items": ["Figs need water."],
    "text": "Figs need water.",
    "document_id": "d",
    "turns": [{"text": "Figs need water."}],
    "session": "s",
    "query": "Where does Zephyrine Quillmoor keep the canary?",
    "earlier": "2020",
    "entity": 1,
    "into": 2,
    "merge": 1,
    "name": "Zephyrine",
    "alias": "Zephyrine",
    "confirm": "Zephyrine",
    "tags": ["t"],
    "task": "Where does Zephyrine Quillmoor keep the canary?",
    "number": 1,
    "space": "notes",
    "records": [{"path": ["figs"], "value": "Figs need water."}],
    "path": ["figs"],
    "to": ["plants"],
    "ttl": "1h",
}


def _values(name: str, memory: str, job: str) -> dict[str, Any]:
    """A value for each parameter that must be given."""
    values = {**_VALUES, "memory": memory, "ids": [memory], "job": job}
    wanted = [each.name for each in OPERATIONS[name].parameters if each.required]
    return {each: values[each] for each in [*wanted, *(["tags"] if name == "update_memory" else [])]}


async def _ask(
    client: httpx.AsyncClient, name: str, bank: str, memory: str, job: str = "abc"
) -> httpx.Response:
    place, values = place_of(name), _values(name, memory, job)
    path = place.path.format(bank=bank, memory=memory, name=bank, job=job)
    for each in ("memory", "name", "job"):
        if f"{{{each}}}" in place.path:
            values.pop(each)
    if place.method == "GET":
        return await client.get(path, params=values)
    if name == "import":
        headers = {"Content-Type": "application/x-ndjson"}
        return await client.post(path, content=b"{}", headers=headers)
    return await client.request(place.method, path, json=values)


def _made(bank: Bank) -> str:
    """A job whose answer holds the canary."""
    job = bank.recall(_VALUES["query"], profile="lexical", tier="async").job
    done = bank.get_job(job, wait_seconds=30)
    assert done.recall
    assert CANARY in done.recall.context
    return job


@pytest.mark.fault("F1")
@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("name", OPERATIONS)
def test_another_banks_token_gets_nothing(name: str, store: Store, client_for: ClientFor) -> None:
    memory = store.bank("theirs").retain(CANARY)[0]
    job = _made(store.bank("theirs"))

    async def work() -> list[httpx.Response]:
        async with client_for("mine") as client:
            # Inside its own bank with the other's ids, and in the other bank itself.
            return [await _ask(client, name, bank, memory, job) for bank in ("mine", "theirs")]

    answers = asyncio.run(work())
    for answer in answers:
        assert answer.status_code < 500
        assert "canary in" not in answer.text
        assert "Tarn Hollow" not in answer.text
        assert "theirs" not in answer.text
    if OPERATIONS[name].scope is Scope.BANK:
        assert answers[1].status_code == 403
    assert store.bank("theirs").get_memory(memory).text == CANARY
    assert store.bank("theirs").get_memory(memory).version == 1
    assert store.bank("theirs").stats()["memories"] == 1


@pytest.mark.fault("F1")
@pytest.mark.parametrize("name", OPERATIONS)
def test_another_principals_token_gets_nothing(name: str, store: Store, client_for: ClientFor) -> None:
    memory = store.bank("mine").retain(CANARY, acl=["odalys"])[0]
    before = store.bank("mine").get_memory(memory)
    job = _made(store.bank("mine"))

    async def work() -> httpx.Response:
        async with client_for("mine", principal="ivo") as client:
            return await _ask(client, name, "mine", memory, job)

    answer = asyncio.run(work())
    assert answer.status_code < 500
    assert "canary in" not in answer.text
    assert "Tarn Hollow" not in answer.text
    assert store.bank("mine").get_memory(memory) == before


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_verb_that_is_not_granted_is_refused(name: str, client_for: ClientFor) -> None:
    operation = OPERATIONS[name]
    others = tuple(verb for verb in ("read", "write", "forget", "admin") if verb != operation.verb)

    async def work() -> httpx.Response:
        async with client_for("mine", verbs=others) as client:
            return await _ask(client, name, "mine", "abc")

    answer = asyncio.run(work())
    assert answer.status_code == 403
    assert operation.verb in answer.json()["detail"]


@pytest.mark.fault("F1")
def test_a_bank_that_is_there_and_one_that_is_not_are_refused_alike(client_for: ClientFor) -> None:
    async def work() -> list[str]:
        async with client_for("mine") as client:
            return [
                (await client.post(f"/v1/banks/{bank}/recall", json={"query": "x"})).text
                for bank in ("theirs", "nobodys")
            ]

    there, absent = asyncio.run(work())
    assert there == absent
