"""Maintenance by a server: bounded, one at a time, counted, and ended cleanly."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError, ProfileError
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.metrics import Metrics
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.caretaking import Care, Caretaker
from simonides.surfaces.serving.open_banks import OpenBanks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=None) as opened:
        for name in ("garden", "harbour"):
            opened.bank(name).retain(
                [f"Step {n} of the {name}." for n in range(5)], layer="working", kind="episodic"
            )
        clock.advance(days=1)
        yield opened


class Log:
    """What a caretaker told."""

    def __init__(self, waiting_for: int = 0) -> None:
        self.runs: list[tuple[str, int, int]] = []
        self.enough = threading.Event()
        self._waiting_for = waiting_for

    def __call__(self, outcome: str, steps: Any = (), left: int = 0) -> None:
        self.runs.append((outcome, len(steps), left))
        if len(self.runs) >= self._waiting_for:
            self.enough.set()


def test_a_round_maintains_every_bank_within_its_bound(store: Store) -> None:
    log = Log()
    caretaker = Caretaker(store, OpenBanks(store, 1), Care(1, steps=3), log)

    for _ in range(3):
        caretaker.go_round()

    assert log.runs == [("done", 3, 2)] * 2 + [("done", 2, 0)] * 2 + [("done", 0, 0)] * 2


def test_a_bank_that_is_maintained_elsewhere_or_is_damaged_keeps_no_other_from_its_turn(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    caretaker = Caretaker(store, OpenBanks(store, 8), Care(1), log)
    with store.bank("garden")._rows.maintaining():
        caretaker.go_round()
    assert log.runs == [("busy", 0, 0), ("done", 5, 0)]

    monkeypatch.setattr(store, "list_banks", lambda: ["gone", "garden"])
    caretaker.go_round()
    assert log.runs[2:] == [("failed", 0, 0), ("done", 5, 0)]


def test_it_goes_round_by_itself_and_ends_at_once(store: Store) -> None:
    log = Log(waiting_for=4)
    caretaker = Caretaker(store, OpenBanks(store, 8), Care(0.0005), log)

    caretaker.start()

    assert log.enough.wait(30)
    caretaker.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "simonides-care"]
    assert log.runs[:2] == [("done", 5, 0)] * 2


def test_after_its_end_no_batch_is_begun(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simonides.lifecycle.maintaining.AT_ONCE", 2)
    log = Log()
    caretaker = Caretaker(store, OpenBanks(store, 8), Care(1), log)
    bank = store.bank("garden")

    answers = iter([False, True])
    report = bank.maintain(stopping=lambda: next(answers))

    assert (len(report.steps), report.left) == (2, 3)
    caretaker.close()
    caretaker.go_round()
    assert log.runs == []


def test_off_by_default(store: Store) -> None:
    caretaker = Caretaker(store, OpenBanks(store, 8), Care(), Log())
    caretaker.start()
    assert not [thread for thread in threading.enumerate() if thread.name == "simonides-care"]
    caretaker.close()


async def _in_lifespan(app: Any, log: Log) -> None:
    async with app.router.lifespan_context(app):
        assert log.enough.wait(30)


def test_the_app_starts_it_counts_its_steps_and_ends_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, told, pages = Log(waiting_for=2), Metrics.maintained, []

    def telling(self: Metrics, outcome: str, steps: Any = (), left: int = 0) -> None:
        told(self, outcome, steps, left)
        pages.append(self.page().decode())
        log(outcome, steps, left)

    monkeypatch.setattr(Metrics, "maintained", telling)
    asyncio.run(_in_lifespan(make_app(store, Settings(care=Care(0.001, steps=4))), log))

    assert not [thread for thread in threading.enumerate() if thread.name == "simonides-care"]
    assert 'simonides_maintenance_runs_total{outcome="done"} 2.0' in pages[1]
    assert 'simonides_maintenance_steps_total{action="promote"} 8.0' in pages[1]
    assert "simonides_maintenance_put_off_total 2.0" in pages[1]
    assert "garden" not in pages[1]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"every_minutes": -1}, InputError),
        ({"steps": 0}, InputError),
        ({"profile": "memoria"}, ProfileError),
    ],
)
def test_wrong_settings_are_refused_at_the_start(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Care(**wrong)
