"""Many changes and questions over simulated years: memory, open files and the bank's size stay flat."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reliability.conftest import Record, Start

MOST_GROWTH_KB = 1_024
"""Of memory in use, and of private memory, per 100,000 operations, after the first quarter."""

MOST_BYTES_A_CHANGE = 250
"""On the disk, for good: a row of the change log, and the empty place of an erased row in the arrays."""

MOST_BLOAT = 1.3
"""Files after a purge, by what their contents need."""

LEAK_BYTES = 1_024

pytestmark = [
    pytest.mark.skipif(
        os.name != "posix" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="needs glibc 2.33"
    ),
    pytest.mark.fault("O2"),
]


def test_open_files_stay_few(start: Start, tmp_path: Path) -> None:
    figures = _soaked(start, tmp_path, 300, "--merge-at", 20)
    assert figures["generation"] > 1
    assert figures["files_last"] == figures["files_first"]
    assert figures["most_unneeded_maps"] == 0


@pytest.mark.soak
def test_100_000_operations_leave_memory_and_files_flat(start: Start, tmp_path: Path, record: Record) -> None:
    figures = _soaked(start, tmp_path, 100_000, "--fill")
    record("P12", figures)
    assert figures["files_last"] == figures["files_first"]
    assert figures["most_unneeded_maps"] == 0
    assert figures["in_use_kb_per_100_000"] <= MOST_GROWTH_KB
    assert figures["private_kb_per_100_000"] <= MOST_GROWTH_KB
    assert figures["bytes_a_change"] <= MOST_BYTES_A_CHANGE
    assert figures["purged_bytes"] <= MOST_BLOAT * figures["needed_bytes"]


@pytest.mark.soak
def test_the_harness_sees_a_leak(start: Start, tmp_path: Path) -> None:
    """The control that must fail: a kilobyte kept of every operation."""
    leaking = _soaked(start, tmp_path, 4_000, "--fill", "--leak", LEAK_BYTES)
    leaked_kb = 100_000 * LEAK_BYTES / 1_024
    assert leaking["in_use_kb_per_100_000"] >= 0.9 * leaked_kb > MOST_GROWTH_KB


def _soaked(start: Start, folder: Path, operations: int, *options: object) -> dict[str, float]:
    """What a soaker of its own measured."""
    soaker = start(
        "soaker.py",
        folder,
        operations,
        *options,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONMALLOC": "malloc"},
    )
    said, _ = soaker.communicate()
    assert soaker.returncode == 0
    figures: dict[str, float] = json.loads(said)
    return figures
