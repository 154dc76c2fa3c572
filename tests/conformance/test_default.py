"""The default profile (DF-01, DF-05, HX-15): its channels, its guard rails, and that its priors stay bounded."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import ProfileError
from simonides.profiles import list_profiles
from simonides.profiles.loader import load_profile
from simonides.recall.refining.boosts import SIGNALS, BoundedPriors
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock

DEFAULT = load_profile("default")
QUESTION = "What did Odalys Brandt repair in May 2025?"
REPAIR = "Odalys Brandt repaired the greenhouse heater."
JOURNAL: list[dict[str, Any]] = [
    {"text": REPAIR, "event_time": "2025-05-12"},
    {"text": "Tove Lindqvist visited Odalys Brandt.", "event_time": "2025-05-20"},
    {"text": "Tove Lindqvist keeps bees near Norrhav.", "event_time": "2025-06-01"},
    {"text": "The early train was late again.", "event_time": "2025-06-02"},
]
CHANNELS = {"dense": "embedding", "lexical": "terms", "temporal": "time_window", "graph": "entities"}
_DAY = 86_400_000_000


def alone(folder: Path, channel: str, *refiners: str) -> Path:
    """A profile of one channel of the default, as it stands there."""
    file = folder / f"{channel}.toml"
    order = [*CHANNELS.values(), channel, "score_sum", *refiners, "token_budget"]
    file.write_text(f'extends = "default"\norder = {json.dumps(order)}\noptional = []\n', encoding="utf-8")
    return file


@pytest.mark.spec("DF-01")
def test_the_default_has_all_four_channels_and_pagerank() -> None:
    assert [step.name for step in DEFAULT.channels] == list(CHANNELS)
    assert "graph_rank" in [step.technique for step in DEFAULT.refiners]
    weights = DEFAULT.fuser.stage.weights  # type: ignore[attr-defined]
    assert set(weights) == set(CHANNELS)


@pytest.mark.spec("DF-01")
def test_each_channel_of_the_default_finds_and_the_graph_adds(bank: Bank) -> None:
    ids = bank.retain(JOURNAL)
    recall = bank.recall(QUESTION)
    repaired = next(hit for hit in recall if hit.id == ids[0])
    assert set(repaired.ranks) == set(CHANNELS)
    assert 0 < repaired.signals["graph_rank"] <= 1
    assert {line.name for line in recall.trace.stages if line.shape == "channel"} == set(CHANNELS)


@pytest.mark.spec("DF-01")
@pytest.mark.parametrize("channel", CHANNELS)
def test_both_times_hold_inside_each_channel(
    bank: Bank, clock: FrozenClock, tmp_path: Path, channel: str
) -> None:
    first = clock.now
    bank.retain(JOURNAL[1:])
    clock.advance(days=10)
    known = clock.now
    bank.retain(JOURNAL[0] | {"valid_from": "2026-02-01", "valid_to": "2026-06-01"})
    clock.advance(days=200)
    profile = alone(tmp_path, channel)

    def found(**times: object) -> bool:
        return REPAIR in [hit.text for hit in bank.recall(QUESTION, profile=profile, **times)]  # type: ignore[arg-type]

    assert found(as_of=known)
    assert found(as_of="2026-05-31", known_at=known)
    assert not found(as_of="2026-06-01", known_at=known)  # no longer valid
    assert not found(as_of="2026-01-31", known_at=known)  # not valid yet
    assert not found(as_of=known, known_at=first)  # not known yet
    assert not found()


@pytest.mark.spec("DF-01")
def test_both_times_hold_inside_the_walk(bank: Bank, clock: FrozenClock, tmp_path: Path) -> None:
    bank.retain(JOURNAL[0])
    bank.retain(JOURNAL[1] | {"valid_to": "2026-06-01"})
    bank.retain(JOURNAL[2])
    clock.advance(days=200)
    profile = alone(tmp_path, "lexical", "graph_rank")
    question = "Who repaired the greenhouse heater?"  # names nobody

    def found(as_of: str) -> list[str]:
        return [hit.text for hit in bank.recall(question, profile=profile, as_of=as_of)]

    # The bees share no word with the question; they are found over Tove's visit while it holds.
    assert found("2026-05-01") == [REPAIR, JOURNAL[1]["text"], JOURNAL[2]["text"]]
    assert found("2026-07-01") == [REPAIR]


@pytest.mark.spec("DF-01")
def test_one_store_serves_every_profile(bank: Bank) -> None:
    bank.retain(JOURNAL)
    before = dict(bank.stats())
    for name in list_profiles():
        recall = bank.recall(QUESTION, profile=name)
        assert REPAIR in [hit.text for hit in recall], name
        assert recall.trace.profile == name
    assert dict(bank.stats()) == before
    assert {"default", "engram", "memoria", "jeffs_brain", "hindsight", "helix"} <= set(list_profiles())


def priors() -> BoundedPriors:
    (stage,) = [step.stage for step in DEFAULT.refiners if step.technique == "bounded_priors"]
    assert isinstance(stage, BoundedPriors)
    return stage


@pytest.mark.spec("DF-05")
def test_no_prior_flips_a_gap_larger_than_the_declared_band() -> None:
    stage = priors()
    assert 1 < stage.band <= 1.6
    now = 10_000 * _DAY
    extremes = [
        fake_memory(
            " ".join([f"m{number}"] * (1000 if long else 1)) + ("" if states else "?"),
            ingested_at_micros=now if recent else 0,
            salience=float(salient),
            confidence=float(sure),
            access_count=10**9 if used else 0,
        )
        for number, (recent, salient, sure, used, states, long) in enumerate(
            itertools.product([0, 1], repeat=len(SIGNALS))
        )
    ]
    view = FakeView.of(extremes, as_of=now)
    factors = stage.priors(view, np.arange(len(extremes)))
    assert factors.max() / factors.min() <= stage.band + 1e-9
    assert factors.max() / factors.min() > 1.05  # the control: they do differ

    def first(better: float, one: int, other: int) -> int:
        pool = (Candidate(one, better, "score_sum"), Candidate(other, 1.0, "score_sum"))
        return stage.refine(view, fake_query("q"), pool, fake_tools()).pool[0].ordinal

    worst, best = int(factors.argmin()), int(factors.argmax())
    for one, other in itertools.permutations(range(len(extremes)), 2):
        assert first(stage.band + 1e-6, one, other) == one
    assert first(1.0001, worst, best) == best  # within the band they decide


@pytest.mark.spec("DF-05")
def test_in_a_recall_a_worthless_memory_that_answers_stays_before_a_treasured_one_that_does_not(
    bank: Bank,
) -> None:
    stage = priors()
    bank.retain("The greenhouse heater runs on oil.", salience=0.0, confidence=0.0)
    bank.retain("The greenhouse is green all over.", salience=1.0, confidence=1.0)
    recall = bank.recall("What does the greenhouse heater run on?", explain=True, precision="wide")
    relevance = [hit.score / hit.signals["prior"] for hit in recall]
    assert recall[0].text == "The greenhouse heater runs on oil."
    assert relevance[0] > stage.band * relevance[1]
    assert recall[0].signals["prior"] < recall[1].signals["prior"]


@pytest.mark.spec("HX-15")
def test_the_default_reranks_nothing_and_refuses_a_deep_cross_encoder(tmp_path: Path) -> None:
    techniques = {step.technique for step in DEFAULT.refiners}
    assert not techniques & {"cross_encoder", "head_rerank"}
    order = json.dumps([*CHANNELS.values(), "lexical", "score_sum", "cross_encoder", "token_budget"])
    file = tmp_path / "reranked.toml"

    def read(depth: int) -> None:
        table = f"[stages.cross_encoder]\ndepth = {depth}\n"
        file.write_text(f'extends = "default"\norder = {order}\noptional = []\n{table}', encoding="utf-8")
        load_profile(file)

    read(30)
    with pytest.raises(ProfileError, match="30"):
        read(31)


@pytest.mark.spec("DF-03")
@pytest.mark.parametrize("name", sorted(set(list_profiles()) - {"lexical"}))
def test_every_profile_that_has_something_to_leave_out_knows_what_it_takes(name: str) -> None:
    plan = load_profile(name)
    assert plan.optional
    for stage in plan.optional:
        free = {"router", "event_window"}  # cheap; they go last, and only when it is too late already
        assert plan.expected_ms.get(stage, 0) > 0 or stage in free


@pytest.mark.spec("DF-03")
@pytest.mark.parametrize("name", ["engram", "memoria", "jeffs_brain", "hindsight"])
def test_a_deadline_below_a_cross_encoder_leaves_it_out_beforehand(bank: Bank, name: str) -> None:
    bank.retain(JOURNAL)
    plan = load_profile(name)
    first = plan.optional[0]
    trace = bank.recall(QUESTION, profile=name, deadline_ms=plan.expected_ms[first]).trace
    assert any(line.startswith(f"{first}: skipped: the deadline") for line in trace.degraded)
    trace = bank.recall(QUESTION, profile=name, deadline_ms=600_000).trace
    assert not any("deadline" in line for line in trace.degraded)
