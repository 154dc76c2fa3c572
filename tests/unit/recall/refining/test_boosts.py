"""The three boosts of engram, and what they have in common."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.refining.boosts import AccessFrequency, DateMatch, RepeatBoosts, Retention
from simonides.recall.refining.pool import UNRERANKED, age_days
from simonides.records.candidate import Candidate
from simonides.records.interval import Interval, Precision
from simonides.records.kind import Layer
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simonides.protocols import Refiner
    from simonides.records.memory import Memory

DAY = 86_400_000_000
NOW = 1_000 * DAY
RETENTION = Retention(rate=0.693, half_life_days=30.0, floor=0.5)


def pool_of(scores: list[float]) -> tuple[Candidate, ...]:
    return tuple(Candidate(n, score, "reciprocal_rank") for n, score in enumerate(scores))


def factors(stage: Refiner, memories: list[Memory], time: Interval | None = None) -> list[float]:
    """What each memory's score of 1 becomes, by ordinal."""
    view = FakeView.of(memories, as_of=NOW)
    refined = stage.refine(view, fake_query("?", time=time), pool_of([1.0] * len(memories)), fake_tools())
    assert not refined.reason
    return [each.score for each in sorted(refined.pool, key=lambda candidate: candidate.ordinal)]


def day(first: int, last: int | None = None) -> Interval:
    return Interval(first * DAY, (last or first + 1) * DAY, Precision.DAY)


@pytest.mark.spec("EN-04")
def test_a_memory_whose_time_overlaps_counts_twice() -> None:
    memories = [
        fake_memory("same day", occurred=day(10)),
        fake_memory("within", occurred=day(5, 30)),
        fake_memory("the day before", occurred=day(9)),
        fake_memory("the day after", occurred=day(11)),
        fake_memory("the first moment", occurred=Interval(10 * DAY, 10 * DAY)),
        fake_memory("the first moment after", occurred=Interval(11 * DAY, 11 * DAY)),
        fake_memory("undated"),
    ]
    assert factors(DateMatch(2.0), memories, day(10)) == [2.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0]


@pytest.mark.spec("EN-04")
def test_an_instant_asked_for_is_met_by_what_holds_it() -> None:
    asked = Interval(10 * DAY, 10 * DAY)
    memories = [
        fake_memory("a", occurred=day(10)),
        fake_memory("b", occurred=asked),
        fake_memory("c", occurred=day(9)),
    ]
    assert factors(DateMatch(2.0), memories, asked) == [2.0, 2.0, 1.0]


@pytest.mark.spec("EN-04")
def test_without_a_time_in_the_query_nothing_is_boosted() -> None:
    assert factors(DateMatch(2.0), [fake_memory("a", occurred=day(10))]) == [1.0]


def aged(days: float, layer: Layer = Layer.EPISODIC) -> Memory:
    return fake_memory(f"{days} {layer}", layer=layer, ingested_at_micros=int(NOW - days * DAY))


@pytest.mark.spec("EN-05")
def test_an_episode_decays_by_half_lives_down_to_half() -> None:
    found = factors(RETENTION, [aged(0), aged(15), aged(30), aged(90), aged(10_000)])
    assert found == [1.0, round(math.exp(-0.3465), 9), round(math.exp(-0.693), 9), 0.5, 0.5]
    assert round(found[2], 4) == 0.5001


@pytest.mark.spec("EN-05")
def test_other_layers_do_not_decay() -> None:
    layers = [layer for layer in Layer if layer is not Layer.EPISODIC]
    assert factors(RETENTION, [aged(90, layer) for layer in layers]) == [1.0] * len(layers)


@pytest.mark.spec("EN-05")
def test_what_lies_after_the_viewpoint_is_new() -> None:
    assert factors(RETENTION, [aged(-5)]) == [1.0]


@pytest.mark.spec("EN-06")
def test_accesses_count_by_their_logarithm() -> None:
    memories = [fake_memory(str(count), access_count=count) for count in (0, 1, 9)]
    found = factors(AccessFrequency(0.1), memories)
    assert found == [1.0, round(1 + 0.1 * math.log(2), 9), round(1 + 0.1 * math.log(10), 9)]
    assert round(found[2], 4) == 1.2303


def test_a_boost_reorders_and_leaves_its_factor() -> None:
    view = FakeView.of([fake_memory("a"), fake_memory("b", access_count=9)])
    pool = AccessFrequency(0.1).refine(view, fake_query("?"), pool_of([1.0, 0.9]), fake_tools()).pool
    assert [candidate.ordinal for candidate in pool] == [1, 0]
    assert [candidate.signals["access_frequency"] for candidate in pool] == [
        round(1 + 0.1 * math.log(10), 9),
        1.0,
    ]
    assert {candidate.scored_by for candidate in pool} == {"reciprocal_rank"}


def test_equal_scores_go_by_path_then_id() -> None:
    view = FakeView.of([fake_memory("a", path="z"), fake_memory("b", path="y")])
    pool = AccessFrequency(0.1).refine(view, fake_query("?"), pool_of([1.0, 1.0]), fake_tools()).pool
    assert [candidate.ordinal for candidate in pool] == [1, 0]


def test_what_no_reranker_has_read_stays_behind_with_its_score() -> None:
    head, tail = pool_of([0.1, 0.9])
    pool = (head, replace(tail, signals={UNRERANKED: 1.0}))
    view = FakeView.of([fake_memory("a"), fake_memory("b", access_count=9)])
    refined = AccessFrequency(0.1).refine(view, fake_query("?"), pool, fake_tools()).pool
    assert [(candidate.ordinal, candidate.score) for candidate in refined] == [(0, 0.1), (1, 0.9)]


@pytest.mark.parametrize(
    "stage", [DateMatch(2.0), RETENTION, AccessFrequency(0.1), RepeatBoosts(("date_match",))], ids=repr
)
def test_an_empty_pool_stays_empty(stage: Refiner) -> None:
    assert stage.refine(FakeView.of([]), fake_query("?", time=day(1)), (), fake_tools()).pool == ()


@pytest.mark.spec("EN-07")
def test_a_cross_encoders_scores_get_the_same_boosts() -> None:
    pool = (
        Candidate(0, 0.9, "cross_encoder", signals={"date_match": 1.0, "retention": 0.5}),
        Candidate(1, 0.4, "cross_encoder", signals={"date_match": 2.0, "access_frequency": 1.25}),
    )
    view = FakeView.of([fake_memory("a"), fake_memory("b")])
    repeat = RepeatBoosts(("date_match", "retention", "access_frequency"))
    refined = repeat.refine(view, fake_query("?"), pool, fake_tools()).pool
    assert [(candidate.ordinal, candidate.score) for candidate in refined] == [(1, 1.0), (0, 0.45)]
    assert [candidate.signals["boost"] for candidate in refined] == [2.5, 0.5]


@pytest.mark.spec("EN-07")
def test_fused_scores_are_not_boosted_twice() -> None:
    pool = (Candidate(0, 0.9, "reciprocal_rank", signals={"date_match": 2.0}),)
    view = FakeView.of([fake_memory("a")])
    assert RepeatBoosts(("date_match",)).refine(view, fake_query("?"), pool, fake_tools()).pool == pool


def test_age_counts_from_the_first_version() -> None:
    class Versions(FakeView):
        __slots__ = ()

        def column(self, name: str, ordinals: NDArray[np.int64]) -> NDArray[Any]:
            table: dict[str, NDArray[np.int64]] = {
                "root": np.array([0, 0, 2]),
                "ingested_at": np.array([NOW - 40 * DAY, NOW - 5 * DAY, -(2**63)]),
            }
            found: NDArray[np.int64] = table[name][ordinals]
            return found

    view = Versions.of([fake_memory("first"), fake_memory("second"), fake_memory("erased")], as_of=NOW)
    assert age_days(view, np.array([1], np.int64)).tolist() == [40.0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: DateMatch(0.0), "factor: 0.0"),
        (lambda: DateMatch(math.nan), "factor: nan"),
        (lambda: Retention(-1.0, 30.0, 0.5), "rate: -1.0"),
        (lambda: Retention(0.693, 0.0, 0.5), "half_life_days: 0.0"),
        (lambda: Retention(0.693, 30.0, 1.5), "floor: 1.5"),
        (lambda: AccessFrequency(-0.1), "weight: -0.1"),
        (lambda: RepeatBoosts(()), "signals: is empty"),
    ],
)
def test_options_out_of_range_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(says)
