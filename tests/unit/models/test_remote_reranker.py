"""Remote rerankers against servers on this machine: good ones, and every sort of bad."""

from __future__ import annotations

import json
import math
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.reliability.interrupting import Interrupter

from simonides.errors import InputError, ModelRefusedError, ModelUnavailableError
from simonides.models.remote_reranker import BATCH, RemoteReranker
from simonides.models.server import Health
from simonides.recall.refining.rerankers import CrossEncoder
from simonides.records.candidate import Candidate
from simonides.testing.chat_server import ChatServer, Reply
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.models.remote_reranker import Dialect

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]

DIALECTS: tuple[Dialect, ...] = ("tei", "cohere", "jina", "voyage")
TEXTS = ["long text here", "short", "middle one"]


def scored(dialect: Dialect, pairs: list[tuple[int, Any]]) -> bytes:
    """An answer in the form of a dialect; pairs are of index and score."""
    if dialect == "tei":
        return json.dumps([{"index": index, "score": score} for index, score in pairs]).encode()
    entries = [{"index": index, "relevance_score": score} for index, score in pairs]
    return json.dumps({"data" if dialect == "voyage" else "results": entries, "model": "m"}).encode()


def by_length(dialect: Dialect) -> Callable[[dict[str, Any]], Reply]:
    """Scores each text by its length, best first, as real servers answer."""

    def reply(body: dict[str, Any]) -> Reply:
        texts = body["texts" if dialect == "tei" else "documents"]
        pairs = [(index, len(text) / 100) for index, text in enumerate(texts)]
        return Reply(scored(dialect, sorted(pairs, key=lambda pair: -pair[1])))

    return reply


def client(server: ChatServer, dialect: Dialect = "tei", **options: Any) -> RemoteReranker:
    return RemoteReranker(
        dialect,
        server.url.removesuffix("/v1"),
        model="" if dialect == "tei" else "m",
        **({"pause_seconds": 0.0, "timeout_seconds": 30.0} | options),
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_is_spoken(dialect: Dialect) -> None:
    with ChatServer(by_length(dialect)) as server:
        reranker = client(server, dialect, api_key="secret")
        assert reranker.score("q", TEXTS) == [0.14, 0.05, 0.1]
        assert "secret" not in repr(reranker)
    (request,) = server.requests
    assert request.path == {"tei": "/rerank", "cohere": "/v2/rerank"}.get(dialect, "/v1/rerank")
    assert request.headers["authorization"] == "Bearer secret"
    assert request.body["query"] == "q"
    assert request.body.get("model", "") == ("" if dialect == "tei" else "m")
    assert reranker.gives == ("probabilities" if dialect == "tei" else "unknown")


@pytest.mark.spec("HI-05")
def test_texts_go_in_batches_of_128() -> None:
    texts = ["x" * (n % 90) for n in range(300)]
    with ChatServer(by_length("tei")) as server:
        assert client(server).score("q", texts) == [(n % 90) / 100 for n in range(300)]
        sizes = sorted(len(request.body["texts"]) for request in server.requests)
    assert sizes == [44, BATCH, BATCH]


def test_no_more_requests_than_allowed_are_under_way() -> None:
    under_way, most, lock = [0], [0], threading.Lock()
    together = threading.Barrier(2)

    def reply(body: dict[str, Any]) -> Reply:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        together.wait(timeout=30)  # two at once are allowed, and are really there
        with lock:
            under_way[0] -= 1
        return by_length("tei")(body)

    with ChatServer(reply) as server:
        client(server, concurrency=2).score("q", ["x"] * (4 * BATCH))
    assert most == [2]


BAD: list[tuple[str, Reply, str]] = [
    ("an entry too few", Reply(scored("tei", [(0, 0.1), (1, 0.2)])), "scored 2 of 3 texts in 2 entries"),
    ("one too many", Reply(scored("tei", [(n, 0.1) for n in range(4)])), "scored 3 of 3 texts in 4 entries"),
    ("one twice", Reply(scored("tei", [(0, 0.1), (1, 0.2), (1, 0.3)])), "scored 2 of 3 texts in 3 entries"),
    ("a place that is none", Reply(scored("tei", [(0, 0.1), (1, 0.2), (-1, 0.3)])), "scored 2 of 3"),
    ("a place that is no number", Reply(b'[{"index": "0", "score": 1}]'), "not in the form of tei"),
    ("a place that is true", Reply(b'[{"index": true, "score": 1}]'), "not in the form of tei"),
    ("another form", Reply(b'{"results": []}'), "not in the form of tei"),
    ("no JSON", Reply(b"<html>busy</html>"), "not in the form of tei"),
    ("nothing", Reply(b""), "not in the form of tei"),
    ("deep nesting", Reply(b"[" * 100_000), "not in the form of tei"),
    ("a flood", Reply(b" " * (5 * 1024 * 1024)), "sent more than 4,194,304 bytes"),
    ("an overload", Reply(b"", 503), "is not able to answer now (503)"),
    ("too many requests", Reply(b"", 429), "is not able to answer now (429)"),
    ("a broken answer", Reply(scored("tei", [(0, 0.1)]), missing_bytes=5), "not in the form of tei"),
]


@pytest.mark.parametrize(("reply", "message"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_a_bad_answer_is_an_error_with_the_reason(reply: Reply, message: str) -> None:
    with ChatServer(reply) as server, pytest.raises(ModelUnavailableError) as caught:
        client(server).score("q", TEXTS)
    assert message in str(caught.value)
    assert "long text" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with (
        ChatServer(by_length("tei")) as elsewhere,
        ChatServer(Reply(b"", status, {"Location": elsewhere.url})) as server,
        pytest.raises(ModelRefusedError, match=str(status)),
    ):
        client(server, api_key="secret").score("q", TEXTS)
    assert elsewhere.requests == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_told_apart(status: int) -> None:
    with ChatServer(Reply(b"no", status)) as server, pytest.raises(ModelRefusedError, match=str(status)):
        client(server).score("q", TEXTS)


@pytest.mark.parametrize("reply", [Reply(stalls=True), Reply(scored("tei", [(0, 1)]), stalls_within=True)])
def test_a_slow_server_is_not_waited_for(reply: Reply) -> None:
    with ChatServer(reply) as server, pytest.raises(ModelUnavailableError, match=r"within 0\.05 s"):
        client(server, timeout_seconds=0.05).score("q", TEXTS)


def test_scores_that_are_no_numbers_become_nan_and_cost_no_other() -> None:
    answer = b'[{"index": 0, "score": NaN}, {"index": 1, "score": null}, {"index": 2, "score": 0.5}]'
    with ChatServer(Reply(answer)) as server:
        scores = client(server).score("q", TEXTS)
    assert [math.isnan(score) for score in scores] == [True, True, False]
    huge = b'[{"index": 0, "score": Infinity}, {"index": 1, "score": 1' + b"0" * 400 + b"}]"
    with ChatServer(Reply(huge)) as server:
        assert all(math.isnan(score) for score in client(server).score("q", TEXTS[:2]))


def test_a_server_that_failed_is_left_alone_for_a_while() -> None:
    now = [100.0]
    with ChatServer(Reply(b"", 500), by_length("tei")) as server:
        reranker = client(server, pause_seconds=30.0, timer=lambda: now[0])
        with pytest.raises(ModelUnavailableError, match="500"):
            reranker.score("q", TEXTS)
        now[0] += 29.0
        with pytest.raises(ModelUnavailableError, match=r"asked again in 1 s .*500"):
            reranker.score("q", TEXTS)
        assert len(server.requests) == 1
        now[0] += 2.0
        assert reranker.score("q", TEXTS) == [0.14, 0.05, 0.1]


def test_a_server_that_is_not_there_is_an_error() -> None:
    with ChatServer(Reply()) as server:
        pass
    with pytest.raises(ModelUnavailableError, match="could not be reached"):
        client(server).score("q", TEXTS)


def test_a_server_with_every_slot_taken_is_not_waited_for_beyond_the_timeout() -> None:
    with ChatServer(by_length("tei")) as server:
        reranker = client(server, concurrency=1, timeout_seconds=0.05)
        with (
            reranker._health.slot(float("inf")),
            pytest.raises(ModelUnavailableError, match="is busy: 1 requests are under way"),
        ):
            reranker.score("q", TEXTS)
        assert server.requests == []


@pytest.mark.fault("N82")
def test_an_interrupt_anywhere_leaves_no_slot_taken() -> None:
    health, interrupter, at = Health("http://127.0.0.1", 1, 0.0), Interrupter(), 1

    def take() -> None:
        with health.slot(float("inf")):
            pass

    while interrupter.run(take, KeyboardInterrupt, at) is not None:
        with health.slot(0.0):
            at += 1
    assert at > 5


def test_nothing_is_asked_about_no_texts() -> None:
    with ChatServer(Reply()) as server:
        assert client(server).score("q", []) == []
        with pytest.raises(InputError, match="texts: is one string"):
            client(server).score("q", "text")
    assert server.requests == []


@pytest.mark.parametrize("reply", [Reply(b"", 500), Reply(b"", 401), Reply(scored("tei", [(0, 1.0)]))])
def test_the_fused_order_is_kept_and_the_trace_says_why(reply: Reply) -> None:
    view = FakeView.of([fake_memory(text) for text in TEXTS])
    pool = tuple(Candidate(n, 1.0 - n / 10, "reciprocal_rank") for n in range(3))
    plain = fake_tools()
    with ChatServer(reply) as server:
        tools = type(plain)(plain.analyser, None, plain.tokens, plain.random, reranker=client(server))
        refined = CrossEncoder(depth=20).refine(view, fake_query("q"), pool, tools)
    assert refined.pool == pool
    assert "the fused order stands" in refined.reason


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"dialect": "smoke"}, "dialect"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "http://"}, "base_url"),
        ({"base_url": "http://x:0"}, "base_url"),
        ({"base_url": "http://["}, "base_url"),
        ({"dialect": "cohere"}, "model"),
        ({"timeout_seconds": 0.0}, "timeout_seconds"),
        ({"timeout_seconds": math.nan}, "timeout_seconds"),
        ({"concurrency": 0}, "concurrency"),
        ({"pause_seconds": -1.0}, "pause_seconds"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"{field}: "):
        RemoteReranker(**({"dialect": "tei", "base_url": "http://localhost:1"} | options))


def test_a_password_in_the_address_is_not_shown() -> None:
    assert RemoteReranker("tei", "http://me:secret@host:81/x").name == "tei at http://host:81"
