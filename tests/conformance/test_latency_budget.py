"""HX-01: what a recall may cost, and what it may never do; how long it takes is measured by the benches."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from tests.conformance.test_helix import recalled

import simonides
from simonides.profiles import list_profiles
from simonides.profiles.loader import load_profile
from simonides.testing.embedder import StubTokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.recall.plan import Plan
    from simonides.testing.clock import FrozenClock

HELIX = load_profile("helix")
SEED = {
    "embedding": 8,
    "router": 3,
    "dense": 25,
    "lexical": 15,
    "reciprocal_rank": 2,
    "graph_expansion": 30,
    "blend": 8,
    "outside_in": 6,
}
"""Milliseconds of the seed by stage; its 10 ms for variety are two stages here."""
WHOLE_MS = 150


def names(plan: Plan) -> list[str]:
    steps: tuple[Any, ...] = (*plan.understanders, *plan.channels, plan.fuser, *plan.refiners, plan.packer)
    return [step.name for step in steps]


@pytest.mark.spec("HX-01")
def test_the_stages_have_the_budgets_of_the_seed() -> None:
    expected = HELIX.expected_ms
    assert {name: expected[name] for name in SEED} == SEED
    assert expected["near_duplicates"] + expected["marginal_relevance"] == 10
    assert expected.keys() == set(names(HELIX)) - {"terms"}  # which counts words and costs nothing


@pytest.mark.spec("HX-01")
def test_the_budgets_together_leave_room() -> None:
    channels = [step.name for step in HELIX.channels]
    others = sum(ms for name, ms in HELIX.expected_ms.items() if name not in channels)
    side_by_side = others + max(HELIX.expected_ms[name] for name in channels)
    one_after_the_other = others + sum(HELIX.expected_ms[name] for name in channels)
    assert side_by_side == 92
    assert one_after_the_other < WHOLE_MS


class NotToBeAsked:
    """A model on the query path."""

    name = "not to be asked"

    def judge(self, query: str, texts: Sequence[str]) -> NoReturn:
        raise AssertionError(f"a language model was asked about {query!r} and {len(texts)} texts")

    def stream(self, *_: object, **__: object) -> NoReturn:
        raise AssertionError("a language model was asked")


@pytest.fixture
def bank(tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    never: Any = NotToBeAsked()
    embedder = StubTokenEmbedder(dimension=32)
    with simonides.open(
        tmp_path, clock=clock, embedder=embedder, judge=never, answerer=never, environ={}
    ) as store:
        bank = store.bank()
        bank.retain(
            [f"On day {n} Odalys moved crate {n * 7} from the harbour to the mill." for n in range(60)],
            deduplicate=False,
        )
        yield bank


@pytest.mark.spec("HX-01")
@pytest.mark.parametrize("profile", list_profiles())
def test_no_recall_asks_a_language_model_or_the_network(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a recall opened a socket")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    found = bank.recall("What did Odalys move on day 7?", profile=profile, tier="default")
    assert found.hits
    assert not any("language model was asked" in why for why in found.trace.degraded)
    with pytest.raises(AssertionError, match="socket"):
        socket.create_connection(("127.0.0.1", 9))


@pytest.mark.spec("HX-01")
@pytest.mark.parametrize("profile", list_profiles())
def test_no_built_in_profile_has_a_place_for_a_language_model(profile: str) -> None:
    plan = load_profile(profile)
    assert not [step.technique for step in plan.refiners if step.technique.startswith("llm")]


class SlowClock:
    """A timer on which every look costs so many milliseconds."""

    def __init__(self, step_ms: float) -> None:
        self.now = 0.0
        self._step = step_ms / 1000

    def __call__(self) -> float:
        self.now += self._step
        return self.now


@pytest.mark.spec("HX-01")
@pytest.mark.parametrize(("step_ms", "late"), [(0.1, False), (1.0, False), (4.0, False), (9.0, True)])
def test_the_whole_budget_is_kept_on_a_slow_clock(bank: Bank, step_ms: float, *, late: bool) -> None:
    """Stages go, from the least needed on, until the rest fits; words and vectors are always looked up."""
    kept = recalled(bank, "crate harbour", timer=SlowClock(step_ms), deadline_ms=float(WHOLE_MS))
    left_out = {line.name for line in kept.trace.stages if line.reason.startswith("skipped")}
    assert bool(left_out) == late
    assert left_out <= set(HELIX.optional)
    if not late:
        assert kept.trace.milliseconds <= WHOLE_MS
    ran = {line.name for line in kept.trace.stages} - left_out
    assert {"embedding", "dense", "lexical", "reciprocal_rank", "blend", "outside_in"} <= ran
    assert kept.hits
