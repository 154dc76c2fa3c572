from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError
from simonides.models.llm_judge import LlmJudge as ServerJudge
from simonides.recall.refining.pool import UNRERANKED
from simonides.recall.refining.rerankers import LlmJudge
from simonides.records.candidate import Candidate
from simonides.testing.chat_server import ChatServer, failed
from simonides.testing.conformance import check_refiner
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from simonides.protocols import Refined

TEXTS = ("short", "middle one", "long text here", "rest")
POOL = tuple(Candidate(n, 1.0 - n / 10, "reciprocal_rank") for n in range(4))


@dataclass
class StubJudge:
    """Answers as told; remembers what it was asked."""

    answer: Callable[[Sequence[str]], Any] = lambda texts: [len(text) / 100 for text in texts]
    name: str = "stub"
    asked: list[list[str]] = field(default_factory=list)

    def judge(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append(list(texts))
        return self.answer(texts)  # type: ignore[no-any-return]


def refine(judge: StubJudge | None, pool: tuple[Candidate, ...] = POOL, **changes: Any) -> Refined:
    visible = changes.pop("visible", None)
    view = FakeView.of([fake_memory(text) for text in TEXTS], visible=visible)
    tools = replace(fake_tools(), judge=judge)
    return LlmJudge(depth=3).refine(view, fake_query("q", **changes), pool, tools)


def test_the_head_is_in_the_judge_s_order_and_the_tail_follows() -> None:
    judge = StubJudge()
    refined = refine(judge)
    assert judge.asked == [["short", "middle one", "long text here"]]
    assert [candidate.ordinal for candidate in refined.pool] == [2, 1, 0, 3]
    assert [candidate.score for candidate in refined.pool] == [0.14, 0.1, 0.05, POOL[3].score]
    assert refined.pool[0].signals["llm_judge"] == 0.14
    assert refined.pool[3].signals[UNRERANKED] == 1.0
    assert refined.reason == ""


def test_equal_numbers_are_in_the_total_order() -> None:
    refined = refine(StubJudge(lambda texts: [0.5] * len(texts)))
    assert [candidate.ordinal for candidate in refined.pool] == [2, 1, 0, 3]  # by id, which is the text


def late(texts: Sequence[str]) -> Any:
    raise TimeoutError("no answer")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (late, "the judge failed: TimeoutError: no answer"),
        (lambda texts: [0.5] * (len(texts) - 1), "shape (2,) for 3 texts"),
        (lambda texts: [[0.5]] * len(texts), "shape (3, 1) for 3 texts"),
        (lambda texts: ["high"] * len(texts), "the judge failed: ValueError"),
        (lambda texts: None, "shape () for 3 texts"),
        (lambda texts: [float("nan"), 0.5, 0.9], "no number from 0 to 1 for 1 of 3"),
        (lambda texts: [float("inf"), -0.5, 0.9], "no number from 0 to 1 for 2 of 3"),
    ],
)
def test_a_faulty_judge_leaves_the_fused_order(answer: Callable[[Sequence[str]], Any], reason: str) -> None:
    refined = refine(StubJudge(answer))
    assert refined.pool == POOL
    assert reason in refined.reason
    assert refined.reason.endswith("the fused order stands")


def test_without_a_judge_or_where_no_reranker_is_wanted_nothing_changes() -> None:
    assert refine(None).pool == POOL
    assert refine(None).reason == "no judge; the fused order stands"
    judge = StubJudge()
    assert refine(judge, skip_rerank="mode_off").pool == POOL
    assert refine(judge, ()).pool == ()
    assert judge.asked == []


def test_a_hidden_row_is_never_sent() -> None:
    judge = StubJudge()
    refined = refine(judge, visible=[True, False, True, True])
    assert judge.asked == []
    assert refined.pool == POOL
    assert "not all candidates may be sent" in refined.reason


def test_it_is_a_refiner() -> None:
    check_refiner(LlmJudge(depth=3))
    with pytest.raises(InputError, match="depth"):
        LlmJudge(depth=0)


PROFILE = """
name = "judged"
extends = "memoria"
order = ["terms", "embedding", "entities", "dense", "lexical", "pagerank", "reciprocal_rank", "llm_judge", "cited_context"]

[stages.llm_judge]
depth = 3
"""


def ask(folder: Path, judge: object, profile: object) -> simonides.Recall:
    with simonides.open(folder, embedder=StubEmbedder(dimension=16), judge=judge) as store:  # type: ignore[arg-type]
        bank = store.bank()
        if not bank.stats()["current"]:
            bank.retain([{"text": f"ada rows the boat {'home ' * n}", "path": str(n)} for n in range(4)])
            bank.retain("ada rows in secret", acl=["ilse"])
        return store.bank(principal="maren").recall("ada rows", profile=profile, seed=1)  # type: ignore[arg-type]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "judged.toml"
    path.write_text(PROFILE)
    return path


def test_a_store_hands_its_judge_to_profiles_with_a_place_for_it(tmp_path: Path, profile: Path) -> None:
    judge = StubJudge()
    found = ask(tmp_path / "store", judge, profile)
    assert found.trace.counters["judge"] == 1
    assert [len(asked) for asked in judge.asked] == [3]
    assert not any("secret" in text for text in judge.asked[0])
    assert [hit.score for hit in found][:3] == sorted((len(t) / 100 for t in judge.asked[0]), reverse=True)
    for name in ("memoria", "default", "helix"):
        ask(tmp_path / "store", judge, name)
    assert len(judge.asked) == 1


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.usefixtures("plain_http")
def test_a_server_that_fails_leaves_the_order_and_the_trace_says_why(tmp_path: Path, profile: Path) -> None:
    usual = ask(tmp_path / "store", None, profile)
    assert any("no judge" in line for line in usual.trace.degraded)
    with ChatServer(failed(500)) as server:
        found = ask(tmp_path / "store", ServerJudge("a-model", server.url), profile)
    assert [hit.id for hit in found] == [hit.id for hit in usual]
    assert any("is not able to answer now (500)" in line for line in found.trace.degraded)


def test_what_is_no_judge_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no method judge"):
        simonides.open(tmp_path / "store", judge=object())  # type: ignore[arg-type]
    assert not (tmp_path / "store").exists()
