"""What a token allows: the table of the guide, operation by operation, and nothing beside it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.surfaces.rest.test_isolation import CANARY, _ask

from simonides.backends.embedded import recall_jobs
from simonides.errors import InputError
from simonides.surfaces.operations.table import OPERATIONS, Verb

if TYPE_CHECKING:
    import httpx
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

pytestmark = pytest.mark.fault("N92")

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "server.md"
VERBS = tuple(verb.value for verb in Verb)


def told() -> dict[str, tuple[tuple[str, ...], bool]]:
    """By operation: the verbs that the guide names, and whether it is for the owner alone."""
    table = GUIDE.read_text("utf-8").split("<!-- rights -->")[1].split("| verb, beside those |")[0]
    found = {}
    for line in table.splitlines()[3:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        for name in re.findall("`([a-z_]+)`", cells[-1]):
            found[name] = (tuple(cells[0].split(", ")), cells[1] == "the owner")
    return found


def test_the_guide_tells_of_every_operation() -> None:
    assert set(told()) == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_needs_what_the_guide_says_and_no_more(
    name: str, one_store: Store, client_for_one: ClientFor
) -> None:
    verbs, owners = told()[name]
    beside = ("forget",) if name == "put_records" else ()
    memory = one_store.bank("mine").retain("Figs need water.", acl=["ivo"])[0]

    async def work() -> tuple[list[int], list[int]]:
        refused, taken = [], []
        for missing in verbs:
            async with client_for_one("mine", verbs=tuple(set(VERBS) - {missing})) as client:
                refused.append((await _ask(client, name, "mine", memory)).status_code)
        async with client_for_one("mine", verbs=(*verbs, *beside), principal="ivo") as client:
            taken.append((await _ask(client, name, "mine", memory)).status_code)
        async with client_for_one("*", verbs=(*verbs, *beside)) as client:
            taken.append((await _ask(client, name, "mine", memory)).status_code)
        return refused, taken

    refused, (principals, owner) = asyncio.run(work())
    assert refused == [403] * len(verbs)
    assert owner < 500
    assert owner not in {401, 403}
    # A store's other banks are none of a token's that is for one.
    assert (principals == 403) == (owners or name == "create_bank")


@pytest.mark.parametrize("name", OPERATIONS)
def test_without_read_nothing_that_is_stored_is_shown(
    name: str, one_store: Store, client_for_one: ClientFor
) -> None:
    bank = one_store.bank("mine")
    memory = bank.retain(CANARY)[0]
    bank.put_records("notes", [{"path": ["figs"], "value": CANARY}])

    async def work() -> list[httpx.Response]:
        answers = []
        for verbs in (("write",), ("write", "forget")):
            async with client_for_one("mine", verbs=verbs) as client:
                answers.append(await _ask(client, name, "mine", memory))
        return answers

    for answer in asyncio.run(work()):
        assert "Tarn Hollow" not in answer.text


def test_a_principal_pins_nothing_into_the_brief_of_others(store: Store, client_for: ClientFor) -> None:
    owner, ivo = store.bank("mine"), store.bank("mine", principal="ivo")
    (shared,) = owner.retain("Everybody reads of the kettle.")
    (two,) = owner.retain("Ivo and Eva read of the stove.", acl=["eva", "ivo"])
    (own,) = ivo.retain("Ivo alone reads of the lamp.", acl=["ivo"])
    for memory in (shared, two):
        with pytest.raises(InputError, match="only the owner may pin"):
            ivo.pin(memory)
        owner.pin(memory)
        with pytest.raises(InputError, match="only the owner may pin or unpin"):
            ivo.pin(memory, pinned=False)
    ivo.pin(own)
    assert store.bank("mine", principal="eva").brief("the lamp").text.count("lamp") == 0
    assert ivo.get_memory(own).pinned

    async def work() -> list[int]:
        async with client_for("mine", principal="ivo") as client:
            path = "/v1/banks/mine/memories"
            return [
                (await client.post(f"{path}/{memory}/{verb}", json={})).status_code
                for memory in (shared, own)
                for verb in ("pin", "unpin")
            ]

    assert asyncio.run(work()) == [422, 422, 200, 200]
    assert owner.get_memory(shared).pinned


def test_the_jobs_of_one_principal_push_out_none_of_anothers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_jobs, "MOST_JOBS", 3)
    owner, ivo = store.bank("mine"), store.bank("mine", principal="ivo")
    owner.retain("Figs need water.")
    kept = [owner.recall("figs", profile="lexical", tier="async").job]
    theirs = [ivo.recall(f"figs {number}", profile="lexical", tier="async").job for number in range(5)]
    kept += [owner.recall(f"water {number}", profile="lexical", tier="async").job for number in range(2)]
    for job in kept:
        assert owner.get_job(job, wait_seconds=30).recall
    for job in theirs[2:]:
        assert ivo.get_job(job, wait_seconds=30).recall
    for job in theirs[:2]:
        with pytest.raises(KeyError):
            ivo.get_job(job)


def test_the_metrics_are_for_who_may_see_everybodys_counts(client_for: ClientFor) -> None:
    async def status(*banks: str, principal: str | None = None, verbs: tuple[str, ...] = ()) -> int:
        async with client_for(*banks, principal=principal, verbs=verbs) as client:
            answer = await client.get("/metrics")
            assert ("simonides_requests" in answer.text) == (answer.status_code == 200)
            return answer.status_code

    async def work() -> list[int]:
        return [
            await status("*", verbs=("read",)),
            await status("mine", verbs=("admin",)),
            await status("mine", verbs=("read", "write", "forget")),
            await status("*", principal="ivo"),
        ]

    assert asyncio.run(work()) == [200, 200, 403, 403]
