"""Hindsight (HI): its profile over a real bank, with the numbers of the requirements."""

from __future__ import annotations

import math
import random
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from simonides.options import RECALL, check
from simonides.profiles.environment import environment_overrides, overridden
from simonides.profiles.loader import load_profile
from simonides.protocols import Tools
from simonides.recall.arguments import read_recall_arguments
from simonides.recall.pipeline import run
from simonides.recall.refining.pool import UNRERANKED
from simonides.records.candidate import Candidate, Ranking
from simonides.records.interval import Interval
from simonides.records.kind import Kind
from simonides.records.query import Filters, Query
from simonides.services.viewing import Viewing
from simonides.testing.fakes import FakeView, WordCounter, fake_memory, fake_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.bank import Bank
    from simonides.protocols import Reranker
    from simonides.recall.plan import Plan, Step
    from simonides.records.recall import Hit, Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

HINDSIGHT = load_profile("hindsight")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class LengthReranker:
    """Prefers short texts; logits. Notes how many pairs it read."""

    name: str = "ms-marco-MiniLM-L-6-v2"
    gives: Literal["logits", "probabilities", "unknown"] = "logits"
    read: list[int] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.read.append(len(texts))
        return [5.0 - len(text) / 10 for text in texts]


def ask(
    bank: Bank,
    text: str,
    *,
    plan: Plan = HINDSIGHT,
    reranker: Reranker | None = None,
    filters: Filters | None = None,
    executor: ThreadPoolExecutor | None = None,
    **query: Any,
) -> Recall:
    """A recall with any field of the query set; tokens are words."""
    with bank._rows.reading() as reading:
        view = Viewing(bank._context).view(reading, filters)
        parts = bank._context.parts
        embedder, _ = parts.embedder()
        tools = Tools(parts.analyser, embedder, WordCounter(), random.Random(0), reranker)
        options = {"limit": None, "max_tokens": None, **query}
        asked = Query(text, view.as_of, seed=0, **options)
        return run(
            plan, view, asked, tools, known_at=view.known_at, timer=time.perf_counter, executor=executor
        )


def stage(plan: Plan, name: str) -> Any:
    steps: tuple[Step[Any], ...] = (
        *plan.understanders,
        *plan.channels,
        *plan.refiners,
        plan.fuser,
        plan.packer,
    )
    return next(step.stage for step in steps if step.name == name)


def line(recall: Recall, name: str) -> Any:
    return next(each for each in recall.trace.stages if each.name == name)


def by_text(recall: Recall) -> dict[str, Hit]:
    return {hit.text: hit for hit in recall}


CHAIN = (
    "Odalys Brandt reports to Tove Lindqvist.",
    "Tove Lindqvist leads Team Heron.",
    "Team Heron builds Project Saltmarsh.",
)


@pytest.mark.spec("HI-01")
def test_four_channels_of_equal_weight_are_fused_by_rank() -> None:
    assert [step.name for step in HINDSIGHT.channels] == ["semantic", "keyword", "graph", "temporal"]
    fuser = stage(HINDSIGHT, "reciprocal_rank")
    assert (fuser.k, fuser.weights) == (60.0, {})
    view = FakeView.of([fake_memory(f"m{n}") for n in range(6)])

    def ranking(*ordinals: int) -> Ranking:
        return Ranking(np.array(ordinals, np.int64), np.linspace(1.0, 0.5, len(ordinals)))

    rankings = {"semantic": ranking(0, 1), "keyword": ranking(2, 3, 4, 5, 0)}
    pool = fuser.fuse(view, fake_query("q"), rankings)
    assert pool[0].ordinal == 0
    assert pool[0].score == pytest.approx(1 / 61 + 1 / 65, abs=1e-9)
    assert pool[0].score == pytest.approx(0.031778, abs=5e-7)
    assert pool[0].ranks == {"semantic": 1, "keyword": 5}


@pytest.mark.spec("HI-01")
def test_each_channel_finds_its_own_and_all_may_run_side_by_side(bank: Bank) -> None:
    bank.retain([*CHAIN, "The ferry was late.", "Eel soup."], deduplicate=False)
    bank.retain("The regatta took place.", event_time="2023-06-10")
    question = "What did Odalys Brandt do in 2023?"
    with ThreadPoolExecutor(4) as executor:
        answers = [ask(bank, question), ask(bank, question, executor=executor)]
    for answer in answers:
        counts = {name: line(answer, name).count for name in ("semantic", "keyword", "graph", "temporal")}
        assert counts["semantic"] == 6
        assert counts["keyword"] >= 1
        assert counts["graph"] >= 1
        assert counts["temporal"] == 1
    assert [h.to_dict() for h in answers[0]] == [h.to_dict() for h in answers[1]]


@pytest.mark.spec("HI-02")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was planted in 2023?", "Ines planted tulips."),
        ("What was planted last spring?", "Ines planted beans."),
        ("What was planted between June 2024 and August 2024?", "Ines planted kale."),
        ("What was planted on 2025-10-02?", "Ines planted garlic."),
        ("What was planted after the great hail?", "Ines planted garlic."),
    ],
)
def test_a_time_in_the_words_finds_what_happened_then(bank: Bank, question: str, expected: str) -> None:
    for text, when in (
        ("Ines planted tulips.", "2023-04"),
        ("Ines planted kale.", "2024-07-01"),
        ("Ines planted beans.", "2025-05-03"),
        ("The great hail broke the glasshouse.", "2025-08-20"),
        ("Ines planted garlic.", "2025-10-02"),
    ):
        bank.retain(text, event_time=when)
    bank.retain("Ines plants something each year.")
    answer = ask(bank, question)
    found = [hit for hit in answer if "temporal" in hit.ranks]
    assert expected in [hit.text for hit in found]
    assert "Ines plants something each year." not in [hit.text for hit in found]
    # It raises and never excludes.
    assert len(answer) == 6


@pytest.mark.spec("HI-02")
def test_links_lead_from_the_time_to_what_belongs_to_it(bank: Bank) -> None:
    bank.retain("The mill closed.", event_time="2024-02-01", session="s")
    bank.retain("Wages were owed.", session="s")
    bank.retain("Nobody was told.")
    # Without a vector the channel scores by nearness: 14 days from a centre that is 14.5 days from its edges.
    no_vector = tuple(step for step in HINDSIGHT.understanders if step.name != "embedding")
    question = "What happened in February 2024? Who was told of wages and the mill?"
    answer = by_text(ask(bank, question, plan=replace(HINDSIGHT, understanders=no_vector)))
    closed, owed = answer["The mill closed."], answer["Wages were owed."]
    assert closed.channel_scores["temporal"] == pytest.approx(1 - 14 / 14.5, abs=1e-9)
    assert owed.channel_scores["temporal"] == pytest.approx((1 - 14 / 14.5) * 0.5, abs=1e-9)
    assert "temporal" not in answer["Nobody was told."].ranks


@pytest.mark.spec("HI-03")
def test_shared_entities_score_by_their_number(bank: Bank) -> None:
    bank.retain(CHAIN[0])
    bank.retain("Odalys Brandt met Team Heron.")
    graph = replace(stage(HINDSIGHT, "graph"), seeds=0)
    plan = replace(
        HINDSIGHT,
        channels=tuple(replace(s, stage=graph) if s.name == "graph" else s for s in HINDSIGHT.channels),
    )
    answer = by_text(ask(bank, "Odalys Brandt, Tove Lindqvist", plan=plan))
    assert answer[CHAIN[0]].channel_scores["graph"] == pytest.approx(math.tanh(1.0), abs=1e-9)
    second = answer["Odalys Brandt met Team Heron."].channel_scores["graph"]
    assert second == pytest.approx(math.tanh(0.5), abs=1e-9)
    assert [round(math.tanh(0.5 * n), 4) for n in (1, 2, 3)] == [0.4621, 0.7616, 0.9051]


@pytest.mark.spec("HI-03")
@pytest.mark.spec("HI-12")
def test_a_chain_is_found_under_a_high_budget_and_not_under_a_low_one(bank: Bank) -> None:
    bank.retain(CHAIN, deduplicate=False)
    bank.retain([f"Odalys Brandt signed form {n}." for n in range(150)], deduplicate=False)
    question = "What is built by the team of the manager of Odalys Brandt?"
    low, high = (ask(bank, question, budget=budget) for budget in ("low", "high"))
    assert line(low, "graph").count <= 100
    end = by_text(low).get(CHAIN[2])
    assert end is None or "graph" not in end.ranks
    assert "graph" in by_text(high)[CHAIN[2]].ranks


@pytest.mark.spec("HI-04")
@pytest.mark.spec("HI-05")
def test_the_first_300_are_reranked_whatever_the_budget(bank: Bank) -> None:
    bank.retain([f"note {n} about sealing wax" for n in range(330)], deduplicate=False)
    reranker = LengthReranker()
    for budget in ("mid", "high"):
        ask(bank, "sealing wax", budget=budget, reranker=reranker)
    assert reranker.read == [300, 300]
    plan, used = overridden(HINDSIGHT, environment_overrides({"SIMONIDES_RERANKER_MAX_CANDIDATES": "25"}))
    ask(bank, "sealing wax", plan=plan, reranker=reranker)
    assert reranker.read[-1] == 25
    assert used == ("SIMONIDES_RERANKER_MAX_CANDIDATES=25",)


@pytest.mark.spec("HI-05")
def test_logits_become_probabilities_and_lead(bank: Bank) -> None:
    bank.retain(["wax", "sealing wax of the second quality"], deduplicate=False)
    answer = ask(bank, "sealing wax of the second quality", reranker=LengthReranker())
    assert answer[0].text == "wax"
    assert answer[0].signals["cross_encoder"] == pytest.approx(1 / (1 + math.exp(-4.7)), abs=1e-9)
    assert answer[0].scored_by == "combined_score"
    assert not any("cross_encoder" in reason for reason in answer.trace.degraded)


@pytest.mark.spec("HI-06")
def test_without_a_reranker_scores_fall_evenly_by_fused_rank(bank: Bank) -> None:
    bank.retain([f"sealing wax {'very ' * n}red" for n in range(4)], deduplicate=False)
    answer = ask(bank, "sealing wax")
    # Undated, no time asked, no observations: every boost is neutral.
    assert [hit.score for hit in answer] == [1.0, 0.7, 0.4, 0.1]
    fused = [hit.signals["fused"] for hit in answer]
    assert fused == sorted(fused, reverse=True)
    assert "cross_encoder: no reranker; the fused order stands" in answer.trace.degraded


@pytest.mark.spec("HI-07")
@pytest.mark.spec("HI-08")
@pytest.mark.spec("HI-09")
def test_boosts_of_age_and_asked_time(bank: Bank, clock: FrozenClock) -> None:
    days = {"today": 0.0, "half a year": 182.5, "over a year": 400.0}
    for name, ago in days.items():
        bank.retain(f"sealing wax {name}", event_time=clock() - timedelta(days=ago))
    bank.retain("sealing wax undated")
    answer = by_text(ask(bank, "sealing wax"))
    boosts = {text.removeprefix("sealing wax "): hit.signals["recency_boost"] for text, hit in answer.items()}
    assert boosts == pytest.approx({"today": 1.10, "half a year": 1.00, "over a year": 0.92, "undated": 1.00})
    assert {hit.signals["temporal_boost"] for hit in answer.values()} == {1.0}
    names = ("recency_boost", "temporal_boost", "proof_boost")
    bare = [hit.score / math.prod(hit.signals[name] for name in names) for hit in answer.values()]
    assert sorted(bare) == pytest.approx([0.1, 0.4, 0.7, 1.0], abs=1e-6)
    asked = by_text(ask(bank, "sealing wax in 2026"))
    assert asked["sealing wax over a year"].signals["temporal_boost"] == pytest.approx(0.9)
    assert asked["sealing wax undated"].signals["temporal_boost"] == 1.0


@pytest.mark.spec("HI-09")
def test_the_centre_of_the_asked_time_and_its_edges(bank: Bank) -> None:
    bank.retain("wax at the centre", event_time="2024-05-16T12:00Z")
    bank.retain("wax at the edge", event_time="2024-05-01T00:00Z")
    bank.retain("wax all month", event_time="2024-05")
    boosts = {
        text: hit.signals["temporal_boost"] for text, hit in by_text(ask(bank, "wax in May 2024")).items()
    }
    assert boosts == pytest.approx({"wax at the centre": 1.1, "wax at the edge": 0.9, "wax all month": 1.1})


@pytest.mark.spec("HI-10")
def test_an_observation_is_raised_by_its_proofs(bank: Bank) -> None:
    told = "Ines prefers sealing wax over glue for every letter that she writes"
    for ending in (".", "!", "..."):
        bank.retain(f"{told}{ending}", kind="observation")
    bank.retain("Ines buys sealing wax.", kind="episodic")
    observed, bought = sorted(ask(bank, "sealing wax"), key=lambda hit: hit.kind, reverse=True)
    assert (observed.memory.proof_count, bought.memory.proof_count) == (3, 1)
    assert observed.signals["proof_boost"] == pytest.approx(1.010986, abs=5e-7)
    assert bought.signals["proof_boost"] == 1.0


@pytest.mark.spec("HI-07")
@pytest.mark.spec("HI-10")
def test_how_far_all_boosts_together_reach() -> None:
    kind, day = Kind.OBSERVATION, 86_400_000_000
    memories = [fake_memory(f"m{n}", kind=kind, proof_count=n) for n in (1, 3, 10, 150)]
    best = fake_memory("best", kind=kind, proof_count=150, occurred=Interval(0, 0))
    worst = fake_memory("worst", occurred=Interval(-400 * day, -400 * day))
    view = FakeView.of([*memories, best, worst])
    pool = tuple(Candidate(n, 1.0, "cross_encoder") for n in range(6))
    query = Query("q", 0, None, None, 0, time=Interval(-day, day))
    tools = Tools(None, None, WordCounter(), random.Random(0))  # type: ignore[arg-type]
    found = stage(HINDSIGHT, "combined_score").refine(view, query, pool, tools).pool
    scores = {candidate.ordinal: candidate.score for candidate in found}
    proofs = {each.ordinal: each.signals["proof_boost"] for each in found}
    assert [proofs[n] for n in range(4)] == pytest.approx([1.0, 1.010986, 1.023026, 1.05], abs=5e-7)
    assert (scores[4], scores[5]) == (pytest.approx(1.2705, abs=1e-9), pytest.approx(0.828, abs=1e-9))


@pytest.mark.spec("HI-11")
def test_the_token_budget_counts_the_memories_text_alone_and_there_is_no_other_limit(bank: Bank) -> None:
    bank.retain([f"sealing wax {n:02}" for n in range(40)], deduplicate=False)
    assert HINDSIGHT.limit is None
    assert len(ask(bank, "sealing wax")) == 40
    answer = ask(bank, "sealing wax", max_tokens=30)
    assert [hit.tokens for hit in answer] == [3] * 10
    assert len(answer.omitted) == 30
    assert len(answer.context.split()) > 30


@pytest.mark.spec("HI-12")
def test_a_level_bounds_every_channel_and_what_is_considered(bank: Bank) -> None:
    bank.retain([f"note {n} about sealing wax" for n in range(320)], deduplicate=False)
    for budget, depth in (("low", 100), ("mid", 300), ("high", 1000), ("", 300)):
        answer = ask(bank, "sealing wax", budget=budget)
        found = min(depth, 320)
        assert line(answer, "semantic").count == line(answer, "keyword").count == found
        assert line(answer, "graph").count <= found
        assert line(answer, "considered").count == min(2 * depth, line(answer, "combined_score").count)
    semantic = stage(HINDSIGHT, "semantic")
    assert (semantic.overfetch, semantic.least_fetched) == (5, 100)


@pytest.mark.spec("HI-12")
@pytest.mark.spec("HI-13")
def test_the_environment_wins_over_the_profile_and_the_call_over_both(bank: Bank) -> None:
    bank.retain([f"note {n} about sealing wax" for n in range(120)], deduplicate=False)
    environ = {"SIMONIDES_RECALL_BUDGET_FIXED_LOW": "12", "SIMONIDES_RECALL_BUDGET_FUNCTION": "adaptive"}
    plan, _ = overridden(HINDSIGHT, environment_overrides(environ))
    assert line(ask(bank, "wax", plan=plan, budget="low", max_tokens=4000), "keyword").count == 100
    fixed = ask(bank, "wax", plan=plan, budget="low", max_tokens=4000, budget_function="fixed")
    assert line(fixed, "keyword").count == 12


@pytest.mark.spec("HI-13")
@pytest.mark.parametrize(
    ("max_tokens", "budget", "depth"), [(4096, "mid", 307), (512, "low", 20), (8192, "high", 2000)]
)
def test_an_adaptive_budget(max_tokens: int, budget: str, depth: int) -> None:
    view, tools = FakeView.of([]), Tools(None, None, WordCounter(), random.Random(0))  # type: ignore[arg-type]
    query = Query("q", 0, None, max_tokens, 0, budget=budget, budget_function="adaptive")
    assert stage(HINDSIGHT, "budget").understand(view, query, tools).depth == depth


@pytest.mark.spec("HI-14")
def test_types_are_kinds(bank: Bank) -> None:
    kinds = {"world": "semantic", "experience": "episodic", "observation": "observation"}
    for kind in kinds.values():
        bank.retain(f"sealing wax is {kind}", kind=kind)
    for name, kind in kinds.items():
        values = check(RECALL, {"query": "wax", "types": name})
        request = read_recall_arguments(values, principal=None, zone=UTC)
        assert [hit.kind for hit in ask(bank, "wax", filters=request.filters)] == [kind]
    assert len(ask(bank, "wax")) == 3


@pytest.mark.spec("HI-15")
def test_the_raw_sources_come_within_their_own_budget(bank: Bank) -> None:
    bank.retain("Alma prefers rye over wheat.", document_id="talk", session="s", speaker="Alma")
    bank.retain("Rye keeps longer.", session="s")
    answer = ask(bank, "rye", include_chunks=True, max_chunk_tokens=5)
    (chunk,) = answer.chunks
    assert chunk.memories == (answer[0].id,)
    assert chunk.text == answer[0].text
    assert [(o.id, o.reason) for o in answer.omitted] == [(answer[1].id, "source over chunk budget")]
    assert len(ask(bank, "rye", include_chunks=True, max_chunk_tokens=99).chunks) == 2
    assert ask(bank, "rye", max_chunk_tokens=99).chunks == ()
    assert "chunks" in ask(bank, "rye", include_chunks=True, max_chunk_tokens=99).to_dict()


@pytest.mark.spec("HI-16")
def test_the_recommended_configurations_are_profiles_that_load(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "profiles" / "hindsight.md").read_text("utf-8")
    snippets = [part.split("```")[0] for part in page.split("```toml\n")[1:]]
    presets = {tomllib.loads(text)["name"]: text for text in snippets if "name" in text}
    assert sorted(presets) == ["chat", "document_qa", "real_time", "research"]
    depths = {}
    for name, text in presets.items():
        file = tmp_path / f"{name}.toml"
        file.write_text(text, encoding="utf-8")
        plan = load_profile(file)
        budget = stage(plan, "budget")
        depths[name] = budget.fixed[budget.level]
    assert depths == {"chat": 100, "document_qa": 300, "research": 1000, "real_time": 100}
    for row in (
        "| Chat | `chat` | low | 2048 |",
        "| Document Q&A | `document_qa` | mid | 4096 |",
        "| Research | `research` | high | 8192 |",
        "| Real-time | `real_time` | low | 2048 |",
    ):
        assert row in page


def test_a_limit_beyond_the_rerank_depth_is_filled_with_the_fused_tail(bank: Bank) -> None:
    bank.retain([f"note {n} about sealing wax" for n in range(330)], deduplicate=False)
    answer = ask(bank, "sealing wax", budget="high", limit=320, reranker=LengthReranker())
    assert len(answer) == 320
    assert [UNRERANKED in hit.signals for hit in answer] == [False] * 300 + [True] * 20


def test_another_principal_s_rows_change_nothing(store: Store) -> None:
    owner, tove = store.bank("shared"), store.bank("shared", principal="tove")
    texts = [*CHAIN, "The ferry was late in 2023.", "Odalys Brandt paid for sealing wax."]
    owner.retain(texts)
    question = "What did Odalys Brandt do after the ferry was late in 2023?"
    before = [hit.to_dict() for hit in ask(tove, question)]
    for text in texts:
        owner.retain(f"Secretly, {text}", acl=["vesna"], event_time="2023-03-01", session="s")
    owner.retain("Odalys Brandt and Vesna Holt sold Project Saltmarsh in 2023.", acl=["vesna"])
    assert [hit.to_dict() for hit in ask(tove, question)] == before
    assert len(ask(owner, question)) > len(before)


def test_the_viewpoint_is_now_for_recency(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("sealing wax", event_time=datetime(2025, 3, 1, tzinfo=UTC))
    as_of = int(datetime(2025, 3, 2, tzinfo=UTC).timestamp() * 1e6)
    (then,) = ask(bank, "sealing wax", filters=Filters(as_of=as_of, known_at=as_of + 10**15))
    (now,) = ask(bank, "sealing wax")
    assert then.signals["recency"] > 0.99 > now.signals["recency"]
