"""A simulated year under an injected clock: facts that change, repeat and are forgotten, and weekly upkeep.

The oracle keeps, beside the bank, what each subject's one current value is. Every week it is asked for every
subject; answers as of earlier weeks must not change by a byte whatever maintenance does; and a second run
right after the first makes nothing.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.lifecycle import maintaining
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
WEEKS = 52
PEOPLE = ("Odalys", "Ines", "Ambrose", "Tiber", "Maren", "Juno")
TOWNS = ("Norrhav", "Little Orrin", "Vesper", "Kestrel Bay", "Amberley", "Dunmoor")
TALK = (
    "The kettle on the second floor is broken.",
    "We meet in the blue room on Tuesdays.",
    "The release script wants a clean checkout.",
    "Nobody waters the ferns by the window.",
)


@dataclass
class Year:
    """The bank's twin: what is so, by subject, and which memories said it."""

    chance: random.Random
    current: dict[str, str] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)
    events: int = 0

    def event(self, bank: Bank) -> None:
        """One thing that happens: a move, a repetition, small talk, use, or forgetting."""
        self.events += 1
        dice, source = self.chance.random(), f"note {self.events}"
        person = self.chance.choice(PEOPLE)
        if dice < 0.15 or person not in self.current:
            self._moves(bank, person, self.chance.choice(TOWNS), source)
        elif dice < 0.45:
            self._moves(bank, person, self.current[person], source)
        elif dice < 0.85:
            layer = "working" if dice < 0.6 else "episodic"
            (memory,) = bank.retain(self.chance.choice(TALK), source=source, kind="episodic", layer=layer)
            # What a recall just returned is not stored again.
            if memory not in self.said.setdefault("talk", []):
                self.said["talk"].append(memory)
        elif dice < 0.95 and self.said.get("talk"):
            talk = [memory for memory in self.said["talk"][-20:] if bank.recall("kettle", profile="lexical")]
            bank.used(self.chance.choice(talk or self.said["talk"][-1:]))
        elif self.said.get("talk"):
            gone = self.said["talk"].pop(self.chance.randrange(len(self.said["talk"])))
            bank.forget(gone)

    def _moves(self, bank: Bank, person: str, town: str, source: str) -> None:
        bank.retain(
            f"{person} lives in {town}.", source=source, kind="semantic", relation="lives in",
            subject=person, object=town, single_valued=True,
        )  # fmt: skip
        self.current[person] = town


def answers(bank: Bank, moment: datetime | None = None) -> dict[str, list[tuple[str, float]]]:
    """Everything a recall says about every subject at a moment."""
    asked = {
        person: bank.recall(f"lives in {person}", profile="lexical", as_of=moment, max_tokens=None)
        for person in PEOPLE
    }
    return {person: [(hit.text, hit.score) for hit in answer] for person, answer in asked.items()}


def check_current(bank: Bank, year: Year) -> None:
    """The bank believes of each subject what the oracle does, and nothing else."""
    for preferring in (False, True):
        for person, town in year.current.items():
            found = bank.recall(
                f"{person} lives in", profile="lexical", limit=100, max_tokens=None,
                prefer_observations=preferring,
            )  # fmt: skip
            believed = {hit.text for hit in found if hit.text.startswith(f"{person} lives in")}
            assert believed == {f"{person} lives in {town}."}, (preferring, person)


def live(place: Path, events: int, seed: int) -> None:
    """Live one year, checking every week."""
    clock, year = FrozenClock(START), Year(random.Random(seed))
    with simonides.open(place, clock=clock, embedder=None) as store:
        bank = store.bank()
        looks: list[tuple[datetime, dict[str, list[tuple[str, float]]]]] = []
        for week in range(WEEKS):
            for _ in range(events // WEEKS):
                clock.advance(seconds=7 * 86_400 / (events // WEEKS))
                year.event(bank)
            # Forgetting may change an earlier answer; maintenance may not.
            looks = [(moment, answers(bank, moment)) for moment, _ in looks[-3:]]
            bank.maintain()
            assert not bank.maintain().steps, week
            for moment, before in looks:
                assert answers(bank, moment) == before, (week, moment)
            check_current(bank, year)
            looks.append((clock.now - timedelta(hours=1), {}))
        assert bank.verify().ok
        assert len(bank.moves()) > 0


def test_a_short_year(tmp_path: Path) -> None:
    live(tmp_path, events=WEEKS * 6, seed=20_261_128)


@pytest.mark.soak
def test_a_year_of_ten_thousand_events(tmp_path: Path) -> None:
    live(tmp_path, events=10_000, seed=20_261_129)


def filled(place: Path, clock: FrozenClock) -> None:
    """The same bank every time: things to promote, to put away and to sum up."""
    clock.now = START
    with simonides.open(place, clock=clock, embedder=None) as store:
        bank, year = store.bank(), Year(random.Random(7))
        for _ in range(60):
            clock.advance(seconds=3_600)
            year.event(bank)
        clock.advance(days=900)


def state(bank: Bank) -> set[tuple[object, ...]]:
    """What the bank holds now, without the order in which it got there."""
    with bank._rows.reading() as reading:
        held = reading.connection.execute(
            "SELECT m.text, m.layer, m.state, m.valid_from, m.valid_to, m.confidence, m.proof_count,"
            " (SELECT group_concat(s.text || e.stance, '|') FROM (SELECT * FROM evidence ORDER BY source) e"
            "  JOIN memories s ON s.ordinal = e.source"
            "  WHERE e.observation = m.root AND e.known_to = m.expired_at),"
            " CASE WHEN m.state & 4 THEN 0 ELSE m.root END"
            " FROM memories m WHERE m.expired_at = 9223372036854775807"
        )
        return set(held)


class Killed(BaseException):
    """Stands for the death of the process; nothing catches it."""


def test_a_run_killed_at_any_step_and_made_again_ends_like_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FrozenClock(START)
    filled(tmp_path / "whole", clock)
    monkeypatch.setattr(maintaining, "AT_ONCE", 3)
    with simonides.open(tmp_path / "whole", clock=clock, embedder=None) as store:
        steps = len(store.bank().maintain().steps)
        wanted = state(store.bank())
    assert steps > 15
    plain, chance = maintaining._make, random.Random(3)
    for trial in range(4):
        place = tmp_path / f"killed {trial}"
        filled(place, clock)
        for _ in range(3):
            left = chance.randrange(1, steps)

            def dying(transaction: object, due: object) -> object:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Killed
                return plain(transaction, due)  # type: ignore[arg-type]

            monkeypatch.setattr(maintaining, "_make", dying)
            with (
                simonides.open(place, clock=clock, embedder=None) as store,
                contextlib.suppress(Killed),
            ):
                store.bank().maintain()
        monkeypatch.setattr(maintaining, "_make", plain)
        with simonides.open(place, clock=clock, embedder=None) as store:
            store.bank().maintain()
            assert state(store.bank()) == wanted
            assert not store.bank().maintain().steps
            assert store.bank().verify().ok


@pytest.mark.soak
def test_a_hundred_thousand_near_identical_memories_take_bounded_work(tmp_path: Path) -> None:
    clock = FrozenClock(START)
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        for first in range(0, 100_000, 5_000):
            items = [
                {"text": "The kettle stands on the stove.", "source": f"note {number}", "kind": "semantic"}
                for number in range(first, first + 5_000)
            ]
            bank.retain(items, deduplicate=False)
        report = bank.maintain()
        assert [step.action for step in report.steps] == ["observe"]
        assert not bank.maintain().steps
        (found,) = bank.recall("kettle", profile="lexical", kinds=["observation"])
        assert found.memory.proof_count == 100_000
