"""Many changes and questions over simulated years: memory, open files and the bank's size stay flat."""

from __future__ import annotations

import gc
import random
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from tests.reliability.conftest import Record

    from simonides.bank import Bank

LIVE = 400
"""Memories that the bank holds at any time: what it may keep in memory is bounded by them."""

ROUNDS = 20
MOST_GROWTH_KB = 1_024
"""Of private memory per 100,000 operations, after the first quarter."""


def _private_kb() -> int:
    gc.collect()
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise AssertionError("no RssAnon")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.fault("O2")
def test_open_files_stay_few(tmp_path: Path) -> None:
    figures = _soak(tmp_path, operations=600)
    assert figures["files_last"] == figures["files_first"]


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.fault("O2")
def test_100_000_operations_leave_memory_and_files_flat(tmp_path: Path, record: Record) -> None:
    figures = _soak(tmp_path, operations=100_000)
    record("P12", figures)
    assert figures["files_last"] == figures["files_first"]
    assert figures["growth_kb_per_100_000"] <= MOST_GROWTH_KB
    assert figures["disk_last"] <= 1.3 * figures["disk_first_quarter"]


def _soak(folder: Path, *, operations: int) -> dict[str, float]:
    """Two simulated years in equal steps, leap day and changes of the clock included."""
    chance, clock = random.Random(12), FrozenClock()
    memory: list[int] = []
    files: list[int] = []
    disk: list[int] = []
    with simonides.open(folder, embedder=StubEmbedder(dimension=16), clock=clock, environ={}) as store:
        bank = store.bank()
        held: list[str] = []
        for _ in range(ROUNDS):
            for _ in range(operations // ROUNDS):
                clock.advance(days=730 / operations)
                _operate(bank, held, chance)
            memory.append(_private_kb())
            files.append(_open_files())
            disk.append(bank.stats()["disk_bytes"])
        assert bank.verify().ok
    quarter = ROUNDS // 4
    slope = np.polyfit(np.arange(ROUNDS - quarter), memory[quarter:], 1)[0] / (operations / ROUNDS)
    return {
        "operations": operations,
        "memory_kb_first_quarter": memory[quarter],
        "memory_kb_last": memory[-1],
        "growth_kb_per_100_000": round(float(slope) * 100_000, 1),
        "files_first": files[quarter],
        "files_last": files[-1],
        "disk_first_quarter": disk[quarter],
        "disk_last": disk[-1],
    }


def _operate(bank: Bank, held: list[str], chance: random.Random) -> None:
    if chance.random() < 0.5:
        bank.recall(f"gauge {chance.randint(0, 99)}", limit=5)
    elif len(held) >= LIVE:
        bank.forget(held.pop(chance.randrange(len(held))))
    else:
        text = f"Keeper {chance.randint(0, 9)} read gauge {chance.randint(0, 99)} at {chance.random():.6f}."
        held += bank.retain(text, deduplicate=False)
