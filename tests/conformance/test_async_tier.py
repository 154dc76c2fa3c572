"""Recall of the async tier: a plain answer and a job at once, a better answer later (HX-17)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.backends.embedded.recall_jobs import FILE
from simonides.errors import InputError, NotFoundError, UnknownNameError
from simonides.models.llm import LanguageModel
from simonides.options import HELPER_NAMES
from simonides.testing.chat_server import ChatServer, failed, spoken
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

FACTS = ["Odalys Brenn lives in Norrhav.", "Ivo Skarn keeps bees behind the mill.", "Figs need water."]
QUERY = "Who looks after the insects?"


class Says:
    """A model that says what it is told to, and keeps what it was asked."""

    model = "says"

    def __init__(self, *said: str | Exception) -> None:
        self.asked: list[str] = []
        self._said = list(said)
        self.may = threading.Event()
        self.may.set()

    def stream(self, messages: Sequence[Any], max_output_tokens: int) -> Iterator[str]:
        self.may.wait(30)
        self.asked.append("\n".join(message["content"] for message in messages))
        said = self._said[min(len(self.asked), len(self._said)) - 1]
        if isinstance(said, Exception):
            raise said
        yield from (said[:5], said[5:])


class Likes:
    """A reranker that likes texts that hold a word."""

    name, gives = "likes", "probabilities"

    def __init__(self, word: str) -> None:
        self.read: list[int] = []
        self._word = word

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.read.append(len(texts))
        return [0.9 if self._word in text else 0.1 for text in texts]


@pytest.fixture
def opened(tmp_path: Path, clock: Any) -> Iterator[Callable[..., Bank]]:
    """Opens the bank `diary` with these models, again and again, over the same files."""
    stores: list[Store] = []

    def opens(**models: Any) -> Bank:
        store = simonides.open(
            tmp_path / "store", clock=clock, environ={}, **{"embedder": StubEmbedder(dimension=32), **models}
        )
        stores.append(store)
        return store.bank("diary")

    yield opens
    for store in stores:
        store.close()


@pytest.mark.spec("HX-17")
def test_a_job_at_once_and_the_better_answer_later(opened: Callable[..., Bank]) -> None:
    model = Says("Ivo Skarn keeps bees.")
    bank = opened(answerer=model)
    bank.retain(FACTS)
    model.may.clear()

    plain = bank.recall(QUERY, profile="lexical", tier="async", helpers=["query2doc"], precision="wide")
    assert plain.hits == bank.recall(QUERY, profile="lexical", precision="wide").hits == ()
    assert len(plain.job) == 32
    assert bank.get_job(plain.job).to_dict() == {
        "id": plain.job, "status": "pending", "helpers": {}, "max_tokens": None, "recall": None,
    }  # fmt: skip
    model.may.set()

    job = bank.get_job(plain.job, wait_seconds=30)
    assert job.done
    assert job.recall is not None
    assert [hit.text for hit in job.recall] == [FACTS[1]]
    assert job.helpers == {"query2doc": ("Ivo Skarn keeps bees.",)}
    assert job.recall.job == plain.job
    assert bank.used([job.recall[0].id]) == 1
    # Asked once, however often it is looked at.
    assert bank.get_job(plain.job).to_dict() == job.to_dict()
    assert len(model.asked) == 1
    assert FACTS[1] not in model.asked[0]


@pytest.mark.spec("HX-17")
@pytest.mark.parametrize(
    "profile", ["default", "helix", "hindsight", "engram", "memoria", "jeffs_brain", "lexical"]
)
def test_the_default_path_asks_nobody(opened: Callable[..., Bank], profile: str) -> None:
    model, reranker = Says("x"), Likes("bees")
    bank = opened(answerer=model, heavy_reranker=reranker)
    bank.retain(FACTS)
    assert bank.recall(QUERY, profile=profile, precision="wide").job == ""
    assert (model.asked, reranker.read) == ([], [])
    with pytest.raises(InputError, match=r'helpers: ask a language model.*tier="async"'):
        bank.recall(QUERY, helpers="hyde", precision="wide")


@pytest.mark.spec("HX-17")
@pytest.mark.parametrize(
    "profile", ["default", "helix", "hindsight", "engram", "memoria", "jeffs_brain", "lexical"]
)
def test_every_profile_can_be_helped(opened: Callable[..., Bank], profile: str) -> None:
    model = Says(
        "Ivo Skarn keeps bees.", "Bees are kept by Ivo Skarn.", "1. Who keeps bees?\n- Where are the hives?"
    )
    bank = opened(answerer=model)
    bank.retain(FACTS)
    plain = bank.recall(QUERY, profile=profile, tier="async", helpers=HELPER_NAMES, precision="wide")
    job = bank.get_job(plain.job, wait_seconds=30)
    assert job.recall is not None
    assert job.recall[0].text == FACTS[1]
    assert job.helpers["multi_query"] == ("Who keeps bees?", "Where are the hives?")
    assert job.recall.trace.profile == profile
    assert [stage.name for stage in job.recall.trace.stages if stage.name == "helpers"] == ["helpers"]


@pytest.mark.spec("HX-17")
@pytest.mark.spec("HX-15")
def test_a_heavy_reranker_reads_later_and_more_than_the_guard_rail_allows(
    opened: Callable[..., Bank],
) -> None:
    reranker = Likes("number 37")
    bank = opened(heavy_reranker=reranker)
    bank.retain([f"Bees of hive number {number}." for number in range(60)], deduplicate=False)
    plain = bank.recall("Which bees?", profile="default", tier="async", precision="wide")
    job = bank.get_job(plain.job, wait_seconds=30)
    assert job.recall is not None
    assert job.recall[0].text == "Bees of hive number 37."
    assert job.recall[0].scored_by == "cross_encoder"
    assert reranker.read[0] > 30


@pytest.mark.spec("HX-17")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (OSError("gone"), "hyde: OSError: gone"),
        ("  \n ", "hyde: the model said nothing of use"),
        ("<think>hm", "hyde: the model said nothing of use"),
    ],
)
def test_a_fault_leaves_the_plain_recall_and_says_so(
    opened: Callable[..., Bank], said: str | Exception, told: str
) -> None:
    bank = opened(answerer=Says(said))
    bank.retain(FACTS)
    plain = bank.recall("Where does Odalys live?", tier="async", helpers=["hyde"], precision="wide")
    job = bank.get_job(plain.job, wait_seconds=30)
    assert job.recall is not None
    assert [(hit.id, hit.score) for hit in job.recall] == [(hit.id, hit.score) for hit in plain]
    assert job.recall.context == plain.context
    assert any(told in each for each in job.recall.trace.degraded), job.recall.trace.degraded


@pytest.mark.spec("HX-17")
def test_without_a_model_and_without_a_wish_the_answer_is_plain(opened: Callable[..., Bank]) -> None:
    bank = opened()
    bank.retain(FACTS)
    for helpers, told in (
        (["multi_query"], "no language model is set up"),
        (None, "no helper was asked for"),
    ):
        job = bank.get_job(
            bank.recall("Figs?", tier="async", helpers=helpers, precision="wide").job, wait_seconds=30
        )
        assert job.recall is not None
        assert job.recall[0].text == FACTS[2]
        assert any(told in each for each in job.recall.trace.degraded)


@pytest.mark.spec("HX-17")
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_any_server_of_the_protocol_may_help(opened: Callable[..., Bank], plain_http: None) -> None:
    with ChatServer(spoken("Ivo Skarn ", "keeps bees."), failed(500)) as server:
        bank = opened(answerer=LanguageModel("a-model", server.url, max_retries=0))
        bank.retain(FACTS)
        for helper in ("query2doc", "hyde"):
            plain = bank.recall(QUERY, profile="lexical", tier="async", helpers=helper, precision="wide")
            job = bank.get_job(plain.job, wait_seconds=30)
            assert job.recall is not None
            assert len(job.recall) == (helper == "query2doc")
            degraded = job.recall.trace.degraded
            degraded = job.recall.trace.degraded
    assert "Query: Who looks after the insects?" in server.requests[0].body["messages"][1]["content"]
    assert any("hyde: ModelUnavailableError" in each for each in degraded)


@pytest.mark.spec("HX-17")
def test_the_answer_is_of_the_time_of_the_question(opened: Callable[..., Bank], clock: Any) -> None:
    model = Says("Ivo Skarn keeps bees.")
    bank = opened(answerer=model)
    bank.retain(FACTS)
    model.may.clear()
    plain = bank.recall(QUERY, profile="lexical", tier="async", helpers="query2doc", precision="wide")
    clock.advance(days=1)
    bank.retain("Bees bees bees, Ivo Skarn keeps bees.", deduplicate=False)
    model.may.set()
    job = bank.get_job(plain.job, wait_seconds=30)
    assert job.recall is not None
    assert [hit.text for hit in job.recall] == [FACTS[1]]


@pytest.mark.spec("HX-17")
def test_a_job_outlives_its_process_and_is_asked_for_once(opened: Callable[..., Bank]) -> None:
    model = Says("Ivo Skarn keeps bees.")
    bank = opened(answerer=model)
    bank.retain(FACTS)
    plain = bank.recall(QUERY, profile="lexical", tier="async", helpers="query2doc", precision="wide")
    first = bank.get_job(plain.job, wait_seconds=30)
    again = opened(answerer=None).get_job(plain.job, wait_seconds=30)
    assert again.recall is not None
    assert again.to_dict(trace=False) == first.to_dict(trace=False)


@pytest.mark.spec("HX-17")
def test_what_is_forgotten_vanishes_from_an_answer_that_was_made(opened: Callable[..., Bank]) -> None:
    bank = opened(answerer=Says("Ivo Skarn keeps bees."))
    ids = bank.retain(FACTS)
    plain = bank.recall(QUERY, profile="lexical", tier="async", helpers="query2doc", precision="wide")
    assert bank.get_job(plain.job, wait_seconds=30).recall
    other = opened()
    other.forget(ids[1])
    later = bank.get_job(plain.job, wait_seconds=30)
    assert later.recall is not None
    assert later.recall.hits == ()
    assert (other._rows.folder / FILE).is_file()
    assert FACTS[1].encode() not in (other._rows.folder / FILE).read_bytes()
    bank.purge()
    assert QUERY.encode() not in (other._rows.folder / FILE).read_bytes()
    with pytest.raises(NotFoundError):
        bank.get_job(plain.job)


@pytest.mark.fault("F1")
def test_a_job_is_its_principals_own(opened: Callable[..., Bank], tmp_path: Path) -> None:
    bank = opened()
    bank.retain(FACTS)
    with simonides.open(tmp_path / "store", embedder=None, environ={}) as store:
        job = store.bank("diary", principal="ivo").recall("Figs?", tier="async", precision="wide").job
        assert store.bank("diary", principal="ivo").get_job(job, wait_seconds=30).done
        for other in (None, "odalys"):
            with pytest.raises(NotFoundError, match="no job"):
                store.bank("diary", principal=other).get_job(job)


def test_what_cannot_be_kept_leaves_the_plain_answer(
    opened: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = opened()
    bank.retain(FACTS)
    (bank._rows.folder / FILE).mkdir()
    plain = bank.recall("Figs?", tier="async", precision="wide")
    assert plain[0].text == FACTS[2]
    assert plain.job == ""
    assert any(each.startswith("async: ") for each in plain.trace.degraded)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"tier": "cloud"}, UnknownNameError, "tier"),
        (
            {"tier": "async", "helpers": ["hide"]},
            UnknownNameError,
            r"helpers\[0\]: 'hide'.*did you mean 'hyde'",
        ),
        (
            {"tier": "async", "helpers": 3},
            InputError,
            "helpers: expected one of hyde, .* or a list of them, got 3",
        ),
    ],
)
def test_what_does_not_exist_is_named(
    opened: Callable[..., Bank], arguments: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        opened().recall("Figs?", **arguments, precision="wide")


def test_only_a_recall_is_answered_later(opened: Callable[..., Bank]) -> None:
    bank = opened()
    [memory] = bank.retain("Figs need water.")
    with pytest.raises(InputError, match="tier: 'async' is for recall alone"):
        bank.reflect("Figs?", tier="async")
    with pytest.raises(InputError, match="tier: 'async' is for recall alone"):
        bank.why_not(memory, "Figs?", tier="async")
    with pytest.raises(InputError, match="wait_seconds"):
        bank.get_job("abc", wait_seconds=-1)
