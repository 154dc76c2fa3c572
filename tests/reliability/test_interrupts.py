"""Ctrl-C and failed allocations anywhere leave no transaction, no lock, no torn array and no wrong answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from tests.reliability import interrupting

from simonides.backends.embedded import bulk_index, connection, merge

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reliability.conftest import Record, Share

pytestmark = [
    pytest.mark.fault("N81"),
    pytest.mark.fault("N82"),
    pytest.mark.skipif(os.name != "posix", reason="needs a timer's signal"),
]

INTERRUPTS = int(os.environ.get("RELIABILITY_INTERRUPTS", "10000"))
MEMORY_ERRORS = int(os.environ.get("RELIABILITY_MEMORY_ERRORS", "2000"))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small banks merge, publish and wait as large ones do, but sooner."""
    monkeypatch.setattr(merge, "SMALLEST_MERGE", 30)
    monkeypatch.setattr(bulk_index, "SMALLEST_PUBLISHED", 8)
    monkeypatch.setattr(connection, "_BUSY_MILLISECONDS", 2_000)


def test_some_interrupts(tmp_path: Path) -> None:
    _run(tmp_path, 0, 40, KeyboardInterrupt, every=20)


def test_some_failed_allocations(tmp_path: Path) -> None:
    _run(tmp_path, 0, 25, MemoryError, every=20)


@pytest.mark.soak
def test_10_000_interrupts(tmp_path: Path, share: Share, record: Record) -> None:
    done = _run(tmp_path, 1 + share.number, share.part(INTERRUPTS), KeyboardInterrupt, signals=0.2)
    record("interrupts", {"trials": done.total(), **done})


@pytest.mark.soak
def test_2_000_failed_allocations(tmp_path: Path, share: Share, record: Record) -> None:
    done = _run(tmp_path, 1 + share.number, share.part(MEMORY_ERRORS), MemoryError)
    record("failed allocations", {"trials": done.total(), **done})


def _run(
    folder: Path,
    seed: int,
    count: int,
    error: type[BaseException],
    *,
    signals: float = 0.0,
    every: int = 100,
) -> Counter[str]:
    done = interrupting.trials(folder, seed, error, signals=signals, process=_fresh_process, every=every)
    return Counter(islice(done, count))


def _fresh_process(folder: Path, *asked: str) -> dict[str, Any]:
    command = [sys.executable, interrupting.__file__, str(folder), *asked]
    answered = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(answered.stdout)
    return found
