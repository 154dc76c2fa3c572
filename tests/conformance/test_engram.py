"""engram (EN): its profile, with the numbers of the requirements. EN-10 to EN-12 are in the channels' tests."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from simonides.evaluation.feedback import train_mlp
from simonides.profiles.loader import load_profile
from simonides.protocols import Tools
from simonides.recall.pipeline import run
from simonides.recall.refining.mlp import features_of
from simonides.recall.refining.pool import UNRERANKED
from simonides.records.interval import Interval, Precision
from simonides.records.kind import Layer
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, WordCounter, fake_memory, fake_query
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.bank import Bank
    from simonides.protocols import Learned, Reranker
    from simonides.recall.plan import Plan
    from simonides.records.memory import Memory
    from simonides.records.recall import Hit, Recall
    from simonides.testing.clock import FrozenClock

ENGRAM = load_profile("engram")
EMBEDDER = StubEmbedder(dimension=32)
DAY = 86_400_000_000
NOW = 20_000 * DAY  # a day of October 2024
BOOSTS = ("date_match", "retention", "access_frequency")
WEIGHTS = {
    "why": {"dense": 1.0, "lexical": 0.8, "graph": 1.5, "hopfield": 0.6},
    "when": {"dense": 0.8, "lexical": 1.2, "graph": 0.8, "hopfield": 0.6},
    "who": {"dense": 0.8, "lexical": 0.8, "graph": 1.8, "hopfield": 0.6},
    "how": {"dense": 1.2, "lexical": 1.0, "graph": 0.8, "hopfield": 0.6},
    "what": {"dense": 1.0, "lexical": 1.0, "graph": 1.0, "hopfield": 0.6},
}
TEXTS = [
    "Odalys built the pump for Norrhav",
    "the pump stopped because the fuse was blown",
    "Norrhav pays for the fuse",
    "the lamp is lit",
]
ENTITIES = [{"Odalys", "Norrhav"}, set(), {"Norrhav"}, set()]


@dataclass(frozen=True, slots=True)
class Scores:
    """A reranker that looks logits up by text, and notes what it read."""

    table: Mapping[str, float]
    name: str = "ms-marco-MiniLM-L-6-v2"
    gives: Literal["logits", "probabilities", "unknown"] = "logits"
    read: list[str] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.read.extend(texts)
        return [self.table.get(text, 0.0) for text in texts]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def ask(
    text: str,
    memories: Sequence[Memory],
    *,
    plan: Plan = ENGRAM,
    reranker: Reranker | None = None,
    learned: Learned | None = None,
    seed: int = 0,
    **query: Any,
) -> Recall:
    view = FakeView.of(
        memories,
        vectors=EMBEDDER.encode([memory.text for memory in memories]).tolist(),
        analyser=TextAnalyser(),
        as_of=NOW,
        entities=ENTITIES if len(memories) == len(ENTITIES) else (),
    )
    tools = Tools(
        TextAnalyser(), EMBEDDER, WordCounter(), random.Random(seed), reranker=reranker, learned=learned
    )
    asked = fake_query(text, as_of=NOW, seed=seed, **query)
    return run(plan, view, asked, tools, known_at=NOW, timer=itertools.count().__next__)


def memories_of(texts: Sequence[str] = TEXTS, **changes: Any) -> list[Memory]:
    return [fake_memory(text, ingested_at_micros=NOW, layer=Layer.SEMANTIC, **changes) for text in texts]


def without_noise(least: float = 0.0) -> Plan:
    refiners = tuple(
        replace(step, stage=replace(step.stage, sigma=0.0, least=least))  # type: ignore[type-var]
        if step.name == "noise_threshold"
        else step
        for step in ENGRAM.refiners
    )
    return replace(ENGRAM, refiners=refiners)


def boost(hit: Hit) -> float:
    return math.prod(hit.signals.get(name, 1.0) for name in BOOSTS)


@pytest.mark.spec("EN-01")
@pytest.mark.spec("EN-02")
@pytest.mark.spec("EN-03")
@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("why did the pump of Norrhav stop", "why"),
        ("when did the pump of Norrhav stop", "when"),
        ("who built the pump of Norrhav", "who"),
        ("how to fix the pump of Norrhav", "how"),
        ("the pump of Norrhav", "what"),
    ],
)
def test_every_score_is_the_weighted_sum_of_its_ranks(question: str, intent: str) -> None:
    recall = ask(question, memories_of())
    assert {channel for hit in recall for channel in hit.ranks} == {"dense", "lexical", "graph", "hopfield"}
    for hit in recall:
        fused = math.fsum(WEIGHTS[intent][channel] / (60 + rank) for channel, rank in hit.ranks.items())
        assert hit.score == pytest.approx(fused * boost(hit), abs=2e-9)
        assert hit.scored_by == "reciprocal_rank"


@pytest.mark.spec("EN-03")
def test_the_published_numbers() -> None:
    assert round(1 / 61, 6) == 0.016393
    assert round(1.0 / 61 + 0.8 / 65 + 1.5 / 62, 6) == 0.052895
    assert round(1 / 61 + 1 / 65, 6) == 0.031778
    assert round(2 / 62, 6) == 0.032258


@pytest.mark.spec("EN-04")
def test_a_date_in_the_question_doubles_what_happened_then() -> None:
    day = Interval(19_900 * DAY, 19_901 * DAY, Precision.DAY)  # 26 June 2024
    memories = memories_of(["the pump stopped", "the pump was mended"])
    memories[1] = replace(memories[1], occurred=day)
    recall = ask("the pump on 26 June 2024", memories)
    factors = {hit.text: hit.signals["date_match"] for hit in recall}
    assert factors == {"the pump was mended": 2.0, "the pump stopped": 1.0}
    assert recall[0].text == "the pump was mended"
    assert "date_match" not in ask("the pump", memories)[0].signals


@pytest.mark.spec("EN-05")
def test_episodes_fade_to_half_and_no_further() -> None:
    ages = {"fresh pump": 0, "monthly pump": 30, "old pump": 90, "ancient pump": 9_000}
    memories = [
        fake_memory(text, layer=Layer.EPISODIC, ingested_at_micros=NOW - days * DAY)
        for text, days in ages.items()
    ]
    factors = {hit.text: round(hit.signals["retention"], 4) for hit in ask("pump", memories)}
    assert factors == {"fresh pump": 1.0, "monthly pump": 0.5001, "old pump": 0.5, "ancient pump": 0.5}
    lasting = [replace(memory, layer=Layer.SEMANTIC) for memory in memories]
    assert {hit.signals["retention"] for hit in ask("pump", lasting)} == {1.0}


@pytest.mark.spec("EN-05")
def test_age_counts_from_the_retain(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("the pump stopped", kind="episodic")
    clock.advance(days=30)
    (hit,) = bank.recall("pump", profile="engram")
    assert round(hit.signals["retention"], 4) == 0.5001


@pytest.mark.spec("EN-06")
def test_what_was_used_often_rises() -> None:
    memories = [fake_memory(f"pump {count}", access_count=count, ingested_at_micros=NOW) for count in (0, 9)]
    factors = {hit.text: round(hit.signals["access_frequency"], 4) for hit in ask("pump", memories)}
    assert factors == {"pump 0": 1.0, "pump 9": 1.2303}


@pytest.mark.spec("EN-07")
def test_the_cross_encoder_reads_the_first_twenty_and_its_scores_get_the_same_boosts() -> None:
    memories = [
        fake_memory(f"pump {n:02}", access_count=9 * (n % 2), ingested_at_micros=NOW) for n in range(40)
    ]
    logits = {memory.text: 3.0 - n / 10 for n, memory in enumerate(memories)}
    reranker = Scores(logits)
    recall = ask("pump", memories, plan=without_noise(), reranker=reranker, limit=15)
    assert len(reranker.read) == 20
    assert len(recall) == 15
    for hit in recall:
        assert hit.signals["cross_encoder"] == pytest.approx(sigmoid(logits[hit.text]), abs=1e-9)
        assert hit.score == pytest.approx(sigmoid(logits[hit.text]) * boost(hit), abs=2e-9)
        assert hit.scored_by == "cross_encoder"
    assert [hit.score for hit in recall] == sorted((hit.score for hit in recall), reverse=True)


@pytest.mark.spec("EN-07")
def test_more_hits_than_are_reranked_follow_unchanged_and_marked() -> None:
    memories = memories_of([f"pump {n:02}" for n in range(40)])
    recall = ask("pump", memories, reranker=Scores({}), plan=without_noise(), limit=30)
    assert len(recall) == 30
    assert [UNRERANKED in hit.signals for hit in recall] == [False] * 20 + [True] * 10


@pytest.mark.spec("EN-07")
def test_without_reranker_weights_the_fused_order_stands() -> None:
    recall = ask("pump", memories_of())
    assert any("cross_encoder: no reranker" in line for line in recall.trace.degraded)
    assert [hit.score for hit in recall] == sorted((hit.score for hit in recall), reverse=True)


def trained() -> Learned:
    """Long unused memories are not used, often used ones are: learned from 40 impressions."""
    memories = [fake_memory(f"m{n}", access_count=n % 2 * 50, ingested_at_micros=NOW) for n in range(40)]
    view = FakeView.of(memories, as_of=NOW)
    features = features_of(view, fake_query("?", as_of=NOW), np.arange(40))
    return train_mlp(features, np.array([n % 2 for n in range(40)], np.float64), seed=0)


@pytest.mark.spec("EN-08")
def test_a_trained_network_has_the_last_word_and_an_untrained_one_none() -> None:
    memories = [
        fake_memory("pump a", ingested_at_micros=NOW),
        fake_memory("pump b", access_count=50, ingested_at_micros=NOW),
    ]
    reranker = Scores({"pump a": 5.0, "pump b": 0.6})
    plan = without_noise(0.6)
    before = ask("pump", memories, plan=plan, reranker=reranker)
    assert [hit.text for hit in before] == ["pump a", "pump b"]
    assert any("learned_mlp: not trained" in line for line in before.trace.degraded)
    after = ask("pump", memories, plan=plan, reranker=reranker, learned=trained())
    assert [hit.text for hit in after] == ["pump b", "pump a"]
    assert {hit.scored_by for hit in after} == {"learned_mlp"}
    assert after[0].score > 0.5 > after[1].score


@pytest.mark.spec("EN-09")
def test_below_six_tenths_of_a_cross_encoder_a_memory_leaves_and_is_counted() -> None:
    logits = dict(zip(TEXTS, (2.0, 1.0, -1.0, -3.0), strict=True))
    recall = ask("pump of Norrhav", memories_of(), plan=without_noise(0.6), reranker=Scores(logits))
    assert [hit.text for hit in recall] == TEXTS[:2]
    stage = next(stage for stage in recall.trace.stages if stage.name == "noise_threshold")
    assert stage.reason == "2 of 4 scored below 0.6 and were left out"
    assert len(ask("pump of Norrhav", memories_of())) == 4  # no cross-encoder, no floor


@pytest.mark.spec("EN-09")
def test_noise_of_two_hundredths_comes_from_the_seed_and_never_touches_ranks() -> None:
    logits = dict.fromkeys(TEXTS, 2.0)
    noisy = [ask("pump of Norrhav", memories_of(), reranker=Scores(logits), seed=seed) for seed in (1, 1, 2)]
    scores = [[hit.score for hit in recall] for recall in noisy]
    assert scores[0] == scores[1] != scores[2]
    for hit in noisy[0]:
        assert hit.score == pytest.approx(sigmoid(2.0) * boost(hit) + hit.signals["noise"], abs=2e-9)
        assert abs(hit.signals["noise"]) < 5 * 0.02
    assert not any("noise" in hit.signals for hit in ask("pump of Norrhav", memories_of(), seed=1))
