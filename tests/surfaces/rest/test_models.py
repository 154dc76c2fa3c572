"""What a caller hears of a model that fails: not where it is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from simonides.errors import ModelMissingError
from simonides.models.llm import LanguageModel
from simonides.testing.chat_server import ChatServer, failed

if TYPE_CHECKING:
    from fastapi import FastAPI
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
REFLECT = "/v1/banks/mine/reflect"


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [(500, "ModelUnavailableError", "try again later"), (401, "ModelRefusedError", "as it is set up")],
)
@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_model_that_fails_is_told_without_its_address(
    app: FastAPI,
    client_for: ClientFor,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    status: int,
    error: str,
    said: str,
    accept: str,
) -> None:
    bank = store.bank("mine")
    bank.retain("Odalys Brenn lives in Norrhav.")

    async def work(port: str) -> None:
        async with client_for("mine", verbs=("read",)) as client:
            asked = {"query": "Where does Odalys live?", "profile": "lexical"}
            answer = await client.post(REFLECT, json=asked, headers={"Accept": accept})
            assert (answer.status_code, answer.json()["error"]) == (503, error)
            assert said in answer.json()["detail"]
            assert port not in answer.text
            assert "127.0.0.1" not in answer.text

    with ChatServer(failed(status)) as server:
        port = server.url.split(":")[2].split("/")[0]
        model = LanguageModel("a-model", server.url, max_retries=0)
        monkeypatch.setattr(bank, "_context", bank._context.with_parts(answerer=model))
        asyncio.run(work(port))
    assert port in caplog.text


def test_readiness_says_why_to_who_may_administer(
    client_for: ClientFor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = str(ModelMissingError("model a is not in /srv/hidden-place"))
    monkeypatch.setattr(type(store), "embedder_problem", why)

    async def work(verb: str) -> str:
        async with client_for("mine", verbs=(verb,)) as client:
            answer = await client.get("/health/ready")
            assert answer.json()["status"] == "degraded"
            return answer.text

    assert "hidden-place" in asyncio.run(work("admin"))
    assert "hidden-place" not in asyncio.run(work("read"))
