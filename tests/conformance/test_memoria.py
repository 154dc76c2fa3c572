"""SPEC ME: the memoria profile, on a bank and on views made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import pytest

from simonides.profiles.loader import load_profile
from simonides.recall.pipeline import run
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.testing.clock import FrozenClock

MEMORIA = load_profile("memoria")
MICROSECOND = timedelta(microseconds=1)
QUESTION = "What does Kestrel depend on?"

CHANNELS = {
    "dense": "",
    "lexical": "",
    "pagerank": "",
    "entity_hop": "depth = 100\nnamed = 1.0\nhop = 0.5\nhub_cap = 1000",
    "hopfield": "depth = 100\nrescore = 8192\nsteps = 1\nbeta = 8.0\nneighbours = 32",
}


@dataclass
class Judge:
    """A reranker that gives the logits it is told, by text, and keeps what it was asked."""

    likes: str = ""
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    name: str = "judge"
    gives: Literal["logits", "probabilities", "unknown"] = "logits"

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((query, tuple(texts)))
        return [3.0 if text == self.likes else -1.0 for text in texts]


def alone(folder: Path, channel: str) -> Path:
    """A profile of one channel."""
    file = folder / f"{channel}.toml"
    table = f"[stages.{channel}]\n{CHANNELS[channel]}\n" if CHANNELS[channel] else ""
    order = ["terms", "embedding", "entities", channel, "reciprocal_rank", "cited_context"]
    file.write_text(f'extends = "memoria"\norder = {order}\n{table}', encoding="utf-8")
    return file


def ask(view: FakeView, text: str, judge: Judge | None = None, **changes: Any) -> Recall:
    tools = replace(fake_tools(embedder=StubEmbedder(16)), reranker=judge)
    query = fake_query(text, **changes)
    return run(MEMORIA, view, query, tools, known_at=0, timer=count().__next__)


def bank_of(texts: Sequence[str], entities: Sequence[set[str]] = ()) -> FakeView:
    return FakeView.of(
        [fake_memory(text) for text in texts],
        vectors=StubEmbedder(16).encode(texts).tolist(),
        entities=entities,
    )


@pytest.mark.spec("ME-01")
def test_three_signals_find_what_each_finds(bank: Bank) -> None:
    bank.retain(["Kestrel depends on Osprey", "Osprey is paid from the Borealis money", "Tea is at four"])
    recall = bank.recall(QUESTION, profile="memoria")
    assert [step.name for step in MEMORIA.channels] == ["dense", "lexical", "pagerank"]
    assert set(recall[0].ranks) == {"dense", "lexical", "pagerank"}
    assert recall[0].text == "Kestrel depends on Osprey"


@pytest.mark.spec("ME-03")
def test_words_are_sought_in_the_text_and_the_relation_only(bank: Bank) -> None:
    bank.retain(
        [
            {"text": "Kestrel, Osprey", "relation": "depends on"},
            {"text": "Osprey needs a hangar", "context": "depends"},
            {"text": "It depends"},
        ]
    )
    recall = bank.recall("depends", profile="memoria")
    assert {hit.text for hit in recall if "lexical" in hit.ranks} == {"Kestrel, Osprey", "It depends"}


@pytest.mark.spec("ME-04")
def test_the_graph_finds_two_hops_away_what_words_do_not(bank: Bank) -> None:
    bank.retain(
        [
            "Kestrel depends on Osprey",
            "Osprey is paid by Borealis",
            *(f"The weather on day {n} is fair" for n in range(30)),
        ]
    )
    recall = bank.recall("Kestrel", profile="memoria")
    ranks = {hit.text: hit.ranks.get("pagerank") for hit in recall}
    assert ranks["Kestrel depends on Osprey"] == 1
    assert ranks["Osprey is paid by Borealis"] == 2
    assert [line.count for line in recall.trace.stages if line.name == "pagerank"] == [2]


@pytest.mark.spec("ME-04")
def test_without_an_entity_the_graph_is_skipped_and_the_trace_says_so(bank: Bank) -> None:
    bank.retain(["Kestrel depends on Osprey", "tea is at four"])
    recall = bank.recall("when is tea", profile="memoria")
    assert [line.reason for line in recall.trace.stages if line.name == "pagerank"] == ["no entity"]
    assert "pagerank: no entity" in recall.trace.degraded
    assert recall[0].text == "tea is at four"


@pytest.mark.spec("ME-04")
def test_hints_are_seeds_whatever_the_words_say() -> None:
    view = bank_of(["Kestrel flies", "Osprey dives", "tea"], [{"kestrel"}, {"osprey"}, set()])
    recall = ask(view, "which of them", hints=("Osprey",))
    assert [hit.text for hit in recall if "pagerank" in hit.ranks] == ["Osprey dives"]
    both = ask(view, "what does Kestrel do", hints=("Osprey",))
    assert {hit.text for hit in both if "pagerank" in hit.ranks} == {"Kestrel flies", "Osprey dives"}


@pytest.mark.spec("ME-05")
def test_fusion_is_unweighted_with_sixty_and_ranks_from_one(bank: Bank) -> None:
    bank.retain(["Kestrel depends on Osprey", "Osprey is paid by Borealis", "Kestrel is grey"])
    for hit in bank.recall(QUESTION, profile="memoria"):
        assert hit.score == round(sum(1 / (60 + rank) for rank in hit.ranks.values()), 9)
        assert hit.scored_by == "reciprocal_rank"


@pytest.mark.spec("ME-06")
def test_the_thirty_best_are_reranked_and_ten_are_returned() -> None:
    view = bank_of([f"kestrel note {n:02}" for n in range(50)])
    fused = [hit.text for hit in ask(view, "kestrel note 07", limit=50)]
    assert len(fused) == 50
    judge = Judge(likes=fused[29])
    recall = ask(view, "kestrel note 07", judge)
    assert [len(texts) for _, texts in judge.asked] == [30]
    assert set(judge.asked[0][1]) == set(fused[:30])
    assert len(recall) == 10
    assert (recall[0].text, recall[0].scored_by) == (fused[29], "cross_encoder")

    whole = ask(view, "kestrel note 07", Judge(likes=fused[40]), limit=50)
    assert [hit.text for hit in whole][30:] == fused[30:]


@pytest.mark.spec("ME-06")
def test_without_a_reranker_the_fused_order_stands_and_the_trace_says_so(bank: Bank) -> None:
    bank.retain([f"Kestrel note {n}" for n in range(15)])
    recall = bank.recall("Kestrel", profile="memoria")
    assert len(recall) == 10
    scores = [hit.score for hit in recall]
    assert scores == sorted(scores, reverse=True)
    assert any("no reranker" in reason for reason in recall.trace.degraded)


@pytest.mark.spec("ME-07")
def test_the_context_tells_relation_validity_and_source_and_stays_in_the_budget(bank: Bank) -> None:
    bank.retain(
        [
            {
                "text": "Kestrel depends on Osprey",
                "relation": "depends on",
                "valid_from": "2026-01-01",
                "valid_to": "2026-09-01",
                "document_id": "plan.md",
                "speaker": "Ines",
            },
            {"text": "Osprey is paid by Borealis", "valid_from": "2026-02-01"},
        ]
    )
    recall = bank.recall(QUESTION, profile="memoria")
    assert recall.context == (
        "[1] Kestrel depends on Osprey (depends on; 2026-01-01 → 2026-09-01) [S1]\n"
        "[2] Osprey is paid by Borealis (2026-02-01 → open) [S2]\n"
        "Sources\n"
        "[S1] 2026-03-01, plan.md, Ines\n"
        "[S2] 2026-03-01"
    )
    small = bank.recall(QUESTION, profile="memoria", max_tokens=60)
    assert [hit.text for hit in small] == ["Kestrel depends on Osprey"]
    assert small.context.endswith("[S1] 2026-03-01, plan.md, Ines")


@pytest.mark.spec("ME-08")
@pytest.mark.fault("B1")
@pytest.mark.parametrize("channel", [*CHANNELS, "memoria"])
def test_a_fact_is_seen_from_when_it_was_learned_until_it_ends(
    bank: Bank, clock: FrozenClock, tmp_path: Path, channel: str
) -> None:
    profile: Any = channel if channel == "memoria" else alone(tmp_path, channel)
    learned, ends = datetime(2026, 6, 10, 8, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
    clock.now = datetime(2026, 12, 1, tzinfo=UTC)
    bank.retain("Kestrel depends on Osprey", valid_from="2026-06-01", valid_to=ends, recorded_at=learned)
    for as_of, there in (
        (learned, True),
        (learned - MICROSECOND, False),
        (ends - MICROSECOND, True),
        (ends, False),
    ):
        recall = bank.recall(QUESTION, profile=profile, as_of=as_of)
        assert len(recall) == there, as_of
    # As of a day before it was learned, with what is known now.
    assert len(bank.recall(QUESTION, profile=profile, as_of="2026-06-02", known_at=clock.now)) == 1
    assert len(bank.recall(QUESTION, profile=profile)) == 0


@pytest.mark.spec("ME-08")
@pytest.mark.fault("B2")
@pytest.mark.parametrize("channel", [*CHANNELS, "memoria"])
def test_learned_in_march_that_a_fact_ended_in_january(
    bank: Bank, clock: FrozenClock, tmp_path: Path, channel: str
) -> None:
    profile: Any = channel if channel == "memoria" else alone(tmp_path, channel)
    clock.now = datetime(2025, 5, 1, tzinfo=UTC)
    (memory,) = bank.retain("Kestrel depends on Osprey")
    clock.now = datetime(2026, 3, 10, tzinfo=UTC)
    bank.invalidate(memory, at="2026-01-15")
    clock.now = datetime(2026, 4, 1, tzinfo=UTC)
    for as_of, known_at, there in (
        ("2026-02-01", "2026-02-01", True),
        ("2026-02-01", clock.now, False),
        ("2026-01-01", clock.now, True),
    ):
        recall = bank.recall(QUESTION, profile=profile, as_of=as_of, known_at=known_at)
        assert len(recall) == there, (as_of, known_at)


@pytest.mark.spec("ME-08")
@pytest.mark.parametrize("channel", ["pagerank", "entity_hop"])
def test_the_graph_of_a_day_has_the_ways_of_that_day(
    bank: Bank, clock: FrozenClock, tmp_path: Path, channel: str
) -> None:
    clock.now = datetime(2026, 1, 1, tzinfo=UTC)
    (bridge,) = bank.retain("Kestrel depends on Osprey")
    bank.retain("Osprey is paid by Borealis")
    clock.now = datetime(2026, 2, 1, tzinfo=UTC)
    bank.invalidate(bridge)
    clock.now = datetime(2026, 3, 1, tzinfo=UTC)
    bank.retain("Kestrel is grey")
    texts = [
        {hit.text for hit in bank.recall("Kestrel", profile=alone(tmp_path, channel), as_of=day)}
        for day in ("2026-01-15", "2026-02-15", "2026-03-15")
    ]
    assert texts == [
        {"Kestrel depends on Osprey", "Osprey is paid by Borealis"},
        set(),
        {"Kestrel is grey"},
    ]


@pytest.mark.spec("ME-09")
def test_a_recall_costs_one_call_of_each_kind() -> None:
    texts = [f"Kestrel note {n}" for n in range(40)]
    judge = Judge()
    recall = ask(bank_of(texts, [{"kestrel"}] * 40), "what of Kestrel", judge)
    assert recall.trace.counters == {
        "query_embedding": 1,
        "dense": 1,
        "lexical": 1,
        "pagerank": 1,
        "rerank": 1,
    }
    assert len(judge.asked) == 1
    assert recall.trace.to_dict()["counters"] == dict(recall.trace.counters)


@pytest.mark.spec("ME-09")
def test_a_signal_that_is_skipped_costs_nothing(bank: Bank) -> None:
    bank.retain("tea is at four")
    assert bank.recall("when is tea", profile="memoria").trace.counters == {
        "query_embedding": 1,
        "dense": 1,
        "lexical": 1,
    }
