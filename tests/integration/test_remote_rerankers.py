"""Rerankers on servers of this machine behind whole recalls: whatever one does wrong, the fused order stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.models.remote_reranker import RemoteReranker
from simonides.testing.chat_server import ChatServer, Reply
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]

TEXTS = [
    "the boat rows home",
    "ada rows the boat",
    "home is the harbour",
    "ada is home",
    "rows of boats",
    "ada painted the boat",
]
QUERY = "ada rows home"
PROFILES = ("engram", "memoria", "jeffs_brain", "hindsight", "helix_reranked")
# HX-15: helix itself never reranks; who wants it writes a profile of their own.
HELIX_RERANKED = """
name = "helix_reranked"
extends = "helix"
order = ["terms", "embedding", "dense", "lexical", "reciprocal_rank", "cross_encoder", "outside_in"]

[stages.cross_encoder]
depth = 30
"""


def answered(score: Callable[[int, str], Any], *, index: Callable[[int], Any] = int) -> Callable[..., Reply]:
    """An answer in the TEI form with a score and an index for each text."""

    def reply(body: dict[str, Any]) -> Reply:
        texts = body["texts"]
        return Reply(
            json.dumps([{"index": index(n), "score": score(n, t)} for n, t in enumerate(texts)]).encode()
        )

    return reply


def cut(body: dict[str, Any]) -> Reply:
    return Reply(json.dumps([{"index": n, "score": 0.5} for n in range(len(body["texts"]) - 1)]).encode())


def padded(body: dict[str, Any]) -> Reply:
    return Reply(json.dumps([{"index": n, "score": 0.5} for n in range(len(body["texts"]) + 1)]).encode())


WRONG: dict[str, tuple[Reply | Callable[..., Reply], str]] = {
    "slow": (Reply(stalls=True), "within 0.3 s"),
    "slow within": (Reply(b"[" + b" " * 99, stalls_within=True), "within 0.3 s"),
    "too few": (cut, "not each once"),
    "too many": (padded, "not each once"),
    "one index for all": (answered(lambda n, _: n, index=lambda _: 0), "not each once"),
    "indices from 1": (answered(lambda n, _: n, index=lambda n: n + 1), "not each once"),
    "negative indices": (answered(lambda n, _: n, index=lambda n: -n), "not each once"),
    "indices in words": (answered(lambda n, _: n, index=str), "not in the form of tei"),
    "NaN": (answered(lambda *_: float("nan")), "gave no number for any of"),
    "infinite": (answered(lambda *_: float("inf")), "gave no number for any of"),
    "scores in words": (answered(lambda *_: "high"), "gave no number for any of"),
    "nulls": (answered(lambda *_: None), "gave no number for any of"),
    "a flood": (Reply(b" " * (5 * 1024 * 1024)), "sent more than 4,194,304 bytes"),
    "prose": (Reply(b"<html>busy</html>"), "not in the form of tei"),
    "broken off": (Reply(b'[{"index": 0, "score": 1}]', missing_bytes=4), "not in the form of tei"),
    "500": (Reply(b"", 500), "(500)"),
    "429": (Reply(b"", 429), "(429)"),
    "401": (Reply(b"", 401), "(401)"),
    "a redirect": (Reply(b"", 307, {"Location": "http://127.0.0.1:9/"}), "(307)"),
}


class Contrary(StubEmbedder):
    """Takes every question for another one, so that words and meaning never agree (JB-08)."""

    def encode_query(self, text: str) -> NDArray[np.float32]:
        return super().encode_query("painted harbours")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bank")
    with simonides.open(folder / "store", embedder=Contrary(dimension=16)) as store:
        store.bank().retain([{"text": text, "path": text, "event_time": "2026-03-01"} for text in TEXTS])
    (folder / "helix_reranked.toml").write_text(HELIX_RERANKED)
    return folder


def ask(folder: Path, profile: str, reranker: RemoteReranker | None) -> simonides.Recall:
    path = folder / f"{profile}.toml"
    with simonides.open(folder / "store", embedder=Contrary(dimension=16), reranker=reranker) as store:
        return store.bank().recall(
            QUERY,
            profile=path if path.exists() else profile,
            mode="hybrid-rerank",
            as_of="2027-01-01",
            seed=3,
        )


@pytest.fixture(scope="module", autouse=True)
def _http_is_loaded() -> None:
    """The HTTP client is loaded before anyone is impatient."""
    import httpx  # noqa: PLC0415

    httpx.Client().close()


def client(server: ChatServer, wrong: str = "") -> RemoteReranker:
    # Only who waits for a slow server is impatient.
    seconds = 0.3 if wrong.startswith("slow") else 5.0
    return RemoteReranker("tei", server.url.removesuffix("/v1"), timeout_seconds=seconds)


def told(found: simonides.Recall) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in found]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("wrong", WRONG)
def test_the_fused_order_stands_and_the_trace_says_why(folder: Path, profile: str, wrong: str) -> None:
    reply, reason = WRONG[wrong]
    usual = ask(folder, profile, None)
    assert len(usual) > 2
    with ChatServer(reply) as server:
        found = ask(folder, profile, client(server, wrong))
        assert len(server.requests) == 1
    assert told(found) == told(usual)
    assert found.context == usual.context
    said = " ".join(found.trace.degraded)
    assert reason in said
    assert "the fused order stands" in said


@pytest.mark.parametrize("profile", PROFILES)
def test_one_that_is_down_costs_one_try(folder: Path, profile: str) -> None:
    with ChatServer(Reply()) as server:
        gone = client(server)
    first, second = ask(folder, profile, gone), ask(folder, profile, gone)
    assert told(first) == told(second) == told(ask(folder, profile, None))
    assert "could not be reached" in " ".join(first.trace.degraded)
    assert "failed a moment ago" in " ".join(second.trace.degraded)


@pytest.mark.spec("EN-07", "ME-06")
@pytest.mark.parametrize("profile", PROFILES)
def test_one_bad_score_counts_as_0_and_costs_no_other(folder: Path, profile: str) -> None:
    best, lost = "ada painted the boat", "ada is home"

    def score(_: int, text: str) -> float | None:
        return None if text == lost else 0.99 if text == best else 0.5

    with ChatServer(answered(score)) as server:
        found = ask(folder, profile, client(server))
    signals = {hit.text: hit.signals["cross_encoder"] for hit in found}
    assert signals[best] == 0.99
    # A profile with a floor (EN-09) may drop what counts as 0.
    assert signals.get(lost, 0.0) == 0.0
    assert found[0].text == best
    assert "gave no number for 1 of" in " ".join(found.trace.degraded)
