"""Maintenance killed by SIGKILL at any statement, and made again, ends where an undisturbed run ends."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from bench.soak.year import held

import simonides
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import Record, Say, Share, Start

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
LATER = START + timedelta(days=900)
MOST_KILLS = 3
"""In a row, before the run is let through."""


def filled(folder: Path) -> None:
    """A bank with things to promote, put away, sum up, bring up to date and withdraw."""
    clock = FrozenClock(START)
    with simonides.open(folder, clock=clock, embedder=None) as store:
        bank = store.bank()
        parted = [
            *bank.retain("The hall is locked.", source="note", kind="decision", valid_from="2025-01-06"),
            *bank.retain("The hall is locked.", source="call", kind="decision"),
        ]
        for number in range(12):
            clock.advance(days=1)
            bank.retain(f"Gauge {number} was read.", kind="episodic", layer="working", role="user")
            for place in ("note", "call"):
                bank.retain(f"Pump {number} stands in the old hall.", source=place, kind="decision")
            if number == 7:
                bank.maintain()
        bank.retain("Pump 3 stands in the old hall.", source="letter", kind="decision")
        bank.invalidate(parted[0], at="2025-01-06")


@pytest.fixture
def kill(tmp_path: Path, start: Start) -> Callable[..., dict[str, Any]]:
    """Runs the trials."""

    def maintain(folder: Path, *more: object) -> subprocess.Popen[str]:
        return start("maintainer.py", folder, LATER.isoformat(), *more, stdout=subprocess.PIPE)

    def end(folder: Path) -> list[tuple[Any, ...]]:
        with simonides.open(folder, clock=FrozenClock(LATER), embedder=None) as store:
            bank = store.bank()
            assert bank.verify().ok
            assert not bank.maintain().steps
            return held(bank)

    def run(*, trials: int, seed: int) -> dict[str, Any]:
        chance = random.Random(seed)
        origin, whole = tmp_path / "origin", tmp_path / "whole"
        filled(origin)
        shutil.copytree(origin, whole)
        answer, _ = maintain(whole).communicate()
        undisturbed = json.loads(answer)
        assert set(undisturbed.pop("actions")) == {"promote", "archive", "observe", "update", "withdraw"}
        wanted, figures = end(whole), {"kills": 0, "between": 0}
        for trial in range(trials):
            place = tmp_path / f"trial {trial}"
            shutil.copytree(origin, place)
            for _ in range(chance.randint(1, MOST_KILLS)):
                process = maintain(place, "--die-at-statement", chance.randint(1, undisturbed["statements"]))
                process.communicate()
                if process.returncode == 0:  # fewer statements were left
                    break
                assert process.returncode == -signal.SIGKILL
                figures["kills"] += 1
                with simonides.open(place, clock=FrozenClock(LATER), embedder=None) as store:
                    left = len(store.bank().maintain(dry_run=True).steps)
                figures["between"] += 0 < left < undisturbed["steps"]
            process = maintain(place)
            process.communicate()
            assert process.returncode == 0
            assert end(place) == wanted, f"trial {trial}"
            shutil.rmtree(place)
        return {**undisturbed, **figures}

    return run


def test_killed_maintenance_is_simply_made_again(kill: Callable[..., dict[str, Any]], say: Say) -> None:
    figures = kill(trials=2, seed=9)
    assert figures["steps"] > 20
    assert figures["kills"] >= 2
    assert figures["between"] > 0
    say(f"maintenance: {figures}; every bank ended the same")


@pytest.mark.soak
def test_maintenance_killed_100_times(
    kill: Callable[..., dict[str, Any]], record: Record, share: Share
) -> None:
    record("maintenance", kill(trials=share.part(100), seed=900 + share.number))
