"""A server whose store redacts: no request makes it store a token, and no problem repeats one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.faults.test_secrets import Tokens, leaks

import simonides
from simonides.surfaces.operations.table import OPERATIONS, Stream
from simonides.surfaces.rest.paths import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

pytestmark = pytest.mark.fault("X6")


@pytest.fixture(params=["mask", "refuse"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder
) -> Iterator[Store]:
    """In place of the one without a policy."""
    with simonides.open(
        tmp_path / "store", clock=clock, embedder=stub_embedder, environ={}, redact=request.param
    ) as opened:
        yield opened


def bodies(name: str, tokens: Tokens, memory: str) -> Iterator[dict[str, Any]]:
    """Parameters of an operation, with a token in one of them each time, as text and in lists and objects."""
    questions = {key: {"query": "What leaks?"} for key in ("reflect", "explain")}
    given: dict[str, dict[str, Any]] = {
        "retain": {"items": ["The kettle leaks."]},
        "retain_document": {"text": "The ferry is late.", "document_id": "boats"},
        "retain_conversation": {"turns": [{"text": "The kettle leaks."}], "session": "kitchen"},
        "recall": {"query": "What leaks?", "tier": "async"},
        "get_entity": {"entity": 1},
        "add_alias": {"entity": 1, "name": "The kettle"},
        "remove_alias": {"entity": 1, "alias": "The kettle"},
        "put_records": {"space": "kitchen", "records": [{"path": ["kettle"], "value": "It leaks."}]},
        "move_records": {"space": "kitchen", "path": ["kettle"], "to": ["pot"]},
        **{key: {"space": "kitchen"} for key in ("list_records", "pop_record", "forget_records")},
        **questions,
    }
    base = given.get(name, {})
    for each in OPERATIONS[name].parameters:
        token = tokens.new(f"{name}({each.name})")
        long = f"what Tove wrote down last week was {token} for Ravi"
        for value in (token, long, [long], [{"text": "words", "context": long, token: 1}], {"note": [token]}):
            yield {**base, "memory": memory, each.name: value}
    yield {**base, tokens.new(f"{name}(unknown)"): 1}
    if name == "put_records":
        token = tokens.new(f"{name}(a record)")
        long = f"what Tove wrote down last week was {token} for Ravi"
        for kept in (long, {"note": [long], token: 1}, [long] * 1_000):
            yield {**base, "records": [{"path": ["shelf", token], "value": kept, "text": long}]}


def test_no_request_stores_a_token_and_no_problem_repeats_one(  # noqa: C901 see below
    store: Store, client_for: ClientFor, tmp_path: Path
) -> None:
    tokens, echoes, refused = Tokens(), set(), 0
    [memory] = store.bank("mine").retain("Odalys Fennimark leads the harbour office.")

    async def ask() -> int:  # noqa: C901 every operation, parameter and shape of value in turn
        nonlocal refused
        tried = 0
        async with client_for("*") as client:
            for name, operation in OPERATIONS.items():
                if operation.stream is not Stream.NONE or name == "forget":
                    continue
                place = place_of(name)
                for body in bodies(name, tokens, memory):
                    path = place.path.replace("{bank}", "mine")
                    for part in ("memory", "job", "name"):
                        if f"{{{part}}}" in path:
                            path = path.replace(f"{{{part}}}", str(body.pop(part, "none")))
                    if "memory" not in {each.name for each in operation.parameters}:
                        body.pop("memory", None)
                    given = {"params": body} if place.method == "GET" else {"json": body}
                    answer = await client.request(place.method, path, **given)  # type: ignore[arg-type]
                    tried += 1
                    assert answer.status_code != 500, answer.text
                    if answer.status_code >= 400:
                        refused += 1
                        if tokens.told_in(answer.text):
                            echoes.add(answer.text)
            token = tokens.new("path")
            for path in (f"/v1/{token}", f"/v1/banks/{token}/stats", f"/v1/banks/mine/memories/{token}"):
                answer = await client.get(path)
                assert answer.status_code == 404
                if tokens.told_in(answer.text):
                    echoes.add(answer.text)
            headers = {"Idempotency-Key": tokens.new("header")}
            for items in (["The fog lifts."], ["The fog stays."]):
                answer = await client.post("/v1/banks/mine/memories", headers=headers, json={"items": items})
                if tokens.told_in(answer.text):
                    echoes.add(answer.text)
        return tried

    assert asyncio.run(ask()) > 300
    assert refused > 100
    assert echoes == set()
    store.close()
    assert leaks(tmp_path / "store", tokens) == {}
