"""What maintenance must survive: circles, towers, a clock set back, a run left half done, sources all gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of

from simonides.lifecycle import grouping, maintaining
from simonides.lifecycle.grouping import same
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock


def told_twice(bank: Bank, *texts: str) -> list[str]:
    return [bank.retain(text, source=place)[0] for text in texts for place in ("note", "call")]


def observations(bank: Bank, **more: Any) -> list[str]:
    found = bank.recall("kettle stove", profile="lexical", kinds=["observation"], max_tokens=None, **more)
    return sorted(hit.text for hit in found)


def put_in_a_circle(bank: Bank) -> None:
    """Let two observations rest on one another, and on themselves."""
    with bank._rows.writing(bank._context.now()) as transaction:
        connection = connection_of(transaction)
        roots = [root for (root,) in connection.execute("SELECT root FROM memories WHERE state & 4")]
        for observation in roots:
            for source in roots:
                connection.execute(
                    "INSERT INTO evidence(observation, source, stance, known_from, known_to)"
                    " VALUES (?, ?, 'for', ?, ?)",
                    (observation, source, transaction.next_instant(), FOREVER),
                )


def test_a_circle_among_sources_is_found_walked_once_and_broken(bank: Bank) -> None:
    ids = told_twice(bank, "The kettle is red.", "The stove is cold.")
    bank.maintain()
    put_in_a_circle(bank)

    assert not bank.verify().ok
    assert observations(bank, prefer_observations=True, include_sources=True)
    bank.maintain()

    assert bank.verify().ok
    assert bank.maintain().steps == ()
    assert observations(bank) == ["The kettle is red.", "The stove is cold."]
    bank.forget(ids[0])
    assert observations(bank) == ["The stove is cold."]


def test_observations_of_observations_end_at_the_first_floor(bank: Bank) -> None:
    for _ in range(4):
        told_twice(bank, "The kettle is red.")
        bank.retain("The kettle is red.", kind="observation", source="somebody's summary")
        bank.maintain()
    for number in range(3):
        bank.retain("The kettle is red.", kind="observation", source=f"summary {number}")
        assert bank.maintain().steps == ()
    with bank._rows.reading() as reading:
        made = connection_of(reading).execute(
            "SELECT count(*) FROM memories WHERE state & 4 AND expired_at=?", (FOREVER,)
        )
        assert made.fetchall() == [(1,)]


def test_a_clock_set_back_between_runs_undoes_and_repeats_nothing(bank: Bank, clock: FrozenClock) -> None:
    told_twice(bank, "The kettle is red.")
    bank.retain("The kettle boiled on Monday.", kind="episodic", role="user")
    clock.advance(days=900)
    assert {step.action for step in bank.maintain().steps} == {"archive", "observe"}
    clock.advance(days=-2_000)

    assert bank.maintain().steps == ()

    bank.retain("The kettle is red.", source="letter")
    assert [step.action for step in bank.maintain().steps] == ["update"]
    assert bank.verify().ok


def test_a_run_that_broke_off_leaves_whole_batches_and_the_next_one_ends_it(
    bank: Bank, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.retain([f"Step {n} of the kettle." for n in range(8)], layer="working", kind="episodic")
    clock.advance(days=1)
    monkeypatch.setattr(maintaining, "AT_ONCE", 3)

    def breaks(_: str, done: int, __: int | None) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bank.maintain(progress=breaks)

    assert len(bank.moves()) == 6
    assert len(bank.maintain().steps) == 2
    assert bank.maintain().steps == ()


def test_with_all_sources_forgotten_there_is_no_observation_and_nothing_to_do(bank: Bank) -> None:
    ids = told_twice(bank, "The kettle is red.", "The kettle is not red.")
    bank.maintain()
    assert len(observations(bank)) == 2

    bank.forget(ids)

    assert observations(bank, include_archived=True, prefer_observations=True) == []
    assert bank.maintain().steps == ()
    assert bank.moves() == []
    assert bank.verify().ok


def test_near_identical_memories_are_compared_a_bounded_number_of_times(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each memory with a bounded number of others, however many share its bands; a soak test has 10⁵ of them."""
    compared = 0

    def counted(*arguments: Any) -> bool:
        nonlocal compared
        compared += 1
        return same(*arguments)

    monkeypatch.setattr(grouping, "same", counted)
    counts = []
    for first in (0, 300):
        bank.retain(
            [
                {"text": f"Kettle {n} stands on the stove.", "source": f"{n}"}
                for n in range(first, first + 300)
            ],
            deduplicate=False,
        )
        compared = 0
        assert bank.maintain().steps == ()
        counts.append(compared)

    assert counts[1] <= 600 * grouping.BANDS * grouping.MOST_LEADERS
    assert counts[1] < 3 * counts[0]
