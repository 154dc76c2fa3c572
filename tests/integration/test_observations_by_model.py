"""Observations written by a language model behind its protocol, by the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.models.llm import LanguageModel
from simonides.testing.chat_server import ChatServer, Reply, failed, said

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]

TOLD = "The kettle stands on the old stove."
SENTENCE = "An old stove is where the kettle stands."


def honest(request: dict[str, Any]) -> Reply:
    notes = json.loads(request["messages"][1]["content"])
    assert [note["text"] for note in notes] == [TOLD, TOLD]
    return said({"text": SENTENCE, "sources": [note["number"] for note in notes]})


@pytest.mark.parametrize(
    ("reply", "text"),
    [(honest, SENTENCE), (said({"text": SENTENCE, "sources": []}), TOLD), (failed(401), TOLD)],
)
def test_what_the_server_says_is_checked(tmp_path: Path, reply: Any, text: str) -> None:
    with ChatServer(reply) as server, simonides.open(tmp_path, embedder=None) as store:
        bank = store.bank()
        for place in ("note", "call"):
            bank.retain(TOLD, source=place, kind="semantic")
        model = LanguageModel("any", server.url, max_retries=0)

        assert len(bank.maintain(model=model).steps) == 1

        (hit,) = bank.recall("kettle", profile="lexical", kinds=["observation"]).hits
        assert hit.text == text
        assert bank.verify().ok
