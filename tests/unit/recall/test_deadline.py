from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.profiles.loader import load_profile
from simonides.protocols import Refined
from simonides.recall.limits import Deadline
from simonides.recall.pipeline import run
from simonides.recall.plan import Plan, Step
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.recall import Recall


class Timer:
    """Shows seconds; stages below move it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Slow:
    """A channel and a refiner that take so long; the refiner notes that it ran."""

    timer: Timer
    milliseconds: float
    ran: list[str]
    name: str

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        self._work()
        return Ranking(np.array([0], np.int64), np.array([1.0]))

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        self._work()
        return Refined(pool)

    def _work(self) -> None:
        self.timer.now += self.milliseconds / 1000
        self.ran.append(self.name)


def plan(timer: Timer, ran: list[str], takes: dict[str, float], optional: tuple[str, ...]) -> Plan:
    """Channels c1 and c2 and refiners r1 to r3, each expected to take 10 ms; *takes* says what they do take."""

    def step(name: str) -> Step[Any]:
        return Step(name, name, Slow(timer, takes.get(name, 10.0), ran, name))

    default = load_profile("default")
    return replace(
        default,
        understanders=(),
        channels=(step("c1"), step("c2")),
        refiners=(step("r1"), step("r2"), step("r3")),
        optional=optional,
        expected_ms=dict.fromkeys(("c1", "c2", "r1", "r2", "r3"), 10.0),
    )


def ask(
    deadline_ms: float | None, optional: tuple[str, ...] = ("r2", "r1", "c2"), **takes: float
) -> tuple[list[str], dict[str, str], Recall]:
    timer, ran = Timer(), list[str]()
    recall = run(
        plan(timer, ran, takes, optional),
        FakeView.of([fake_memory("a")]),
        fake_query("q", deadline_ms=deadline_ms),
        fake_tools(),
        known_at=0,
        timer=timer,
    )
    return ran, {line.name: line.reason for line in recall.trace.stages if line.reason}, recall


@pytest.mark.spec("DF-03")
def test_with_time_enough_every_stage_runs() -> None:
    for deadline in (None, 51.0, 10_000.0):
        assert ask(deadline)[:2] == (["c1", "c2", "r1", "r2", "r3"], {})


@pytest.mark.spec("DF-03")
@pytest.mark.parametrize(
    ("deadline", "ran", "left_out"),
    [
        (49.0, ["c1", "c2", "r1", "r3"], ["r2"]),
        (41.0, ["c1", "c2", "r1", "r3"], ["r2"]),
        (39.0, ["c1", "c2", "r3"], ["r1", "r2"]),
        (29.0, ["c1", "r3"], ["c2", "r1", "r2"]),
        (0.0, ["c1", "r3"], ["c2", "r1", "r2"]),
    ],
)
def test_what_would_overrun_goes_in_the_declared_order(
    deadline: float, ran: list[str], left_out: list[str]
) -> None:
    really, reasons, recall = ask(deadline)
    assert really == ran
    assert reasons == dict.fromkeys(left_out, f"skipped: the deadline of {deadline:g} ms")
    assert [line.name for line in recall.trace.stages if line.name in left_out] == sorted(left_out)
    assert [hit.text for hit in recall] == ["a"]


@pytest.mark.spec("DF-03")
def test_a_stage_that_takes_longer_than_expected_costs_those_after_it() -> None:
    # 60 ms for all, 50 expected: c1 takes 35, so 25 are left for 40.
    assert ask(60.0, c1=35.0)[0] == ["c1", "c2", "r3"]


@pytest.mark.spec("DF-03")
def test_a_stage_that_ran_already_cannot_be_left_out() -> None:
    ran, reasons, _ = ask(50.0, optional=("c1", "r3"), r1=500.0)
    assert ran == ["c1", "c2", "r1", "r2"]
    assert list(reasons) == ["r3"]


@pytest.mark.spec("DF-03")
def test_without_optional_stages_the_recall_is_late_and_whole() -> None:
    assert ask(1.0, optional=())[:2] == (["c1", "c2", "r1", "r2", "r3"], {})


def test_channels_side_by_side_are_expected_to_take_as_long_as_the_slowest() -> None:
    timer = Timer()
    made = plan(timer, [], {}, ("r2",))
    # One after the other 50 ms, side by side 40.
    alone = Deadline(made, 45.0, timer, timer.now, side_by_side=False)
    together = Deadline(made, 45.0, timer, timer.now, side_by_side=True)
    for deadline, left_out in ((alone, {"r2"}), (together, set())):
        assert deadline.leaves_out("c1", "c2") == frozenset()
        assert deadline.leaves_out(made.fuser.name) == frozenset()
        assert deadline.leaves_out("r1") == frozenset()
        assert deadline.leaves_out("r2") == left_out


def test_without_a_deadline_the_timer_is_not_read() -> None:
    def never() -> float:
        raise AssertionError

    deadline = Deadline(plan(Timer(), [], {}, ("r2",)), None, never, 0.0, side_by_side=False)
    assert deadline.leaves_out("c1", "c2") == frozenset()
