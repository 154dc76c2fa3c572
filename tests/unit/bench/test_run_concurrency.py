"""bench/run_concurrency.py on a small bank: every figure is there, and the bank itself stays as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench import run_concurrency
from bench.run_concurrency import Plan, measure
from bench.scale_bank import scale_bank
from bench.scale_data import HELD_OUT, RealVectors

if TYPE_CHECKING:
    from pathlib import Path

ROWS, DIMENSION = 1_000, 64
PLAN = Plan(profile="helix", seconds=0.1, rounds=1, counts=(1, 2), rows=40, processes=1, encoder="kept")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = np.random.default_rng(3)
    vectors = source.standard_normal((HELD_OUT + 100, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = source.standard_normal((len(vectors), DIMENSION)).astype(np.float16)
    offsets = np.arange(len(vectors) + 1, dtype=np.int64)
    real = RealVectors("noise", "noise-1", vectors.astype(np.float32), tokens, offsets, 0)
    return scale_bank(tmp_path, ROWS, real, seed=1, tokens=False, workers=1).folder


def test_everything_is_measured_and_the_bank_stays_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found = measure(folder, PLAN)

    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert found["n"] == ROWS
    for sort in ("processes", "threads"):
        assert found["scaling"][sort]["1"]["by_one"] == 1.0
        assert found["scaling"][sort]["2"]["per_second"] > 0
    for name in ("retain", "load"):
        beside = found["beside"][name]
        assert beside["written"] >= PLAN.rounds * (1 if name == "retain" else PLAN.rows)
        assert 0 < beside["beside"]["cpu_p50_ms"] <= beside["beside"]["cpu_p95_ms"]
        assert beside["wall_p95_ratio"] > 0
    memory = found["memory_mb"]
    assert memory["empty"]["anonymous"] > 0
    assert memory["each_of"]["1"]["pss"] >= memory["each_of"]["1"]["private"] > 0
    # What is written is what is measured, and can be read again.
    monkeypatch.setattr(run_concurrency, "kept_bank", lambda _: folder)
    monkeypatch.setattr(run_concurrency, "measure", lambda *_: found)
    monkeypatch.setattr("sys.argv", ["run_concurrency", "--date", "2026-03-01", "--results", str(tmp_path)])
    assert run_concurrency.main() == 0
    page: dict[str, Any] = json.loads((tmp_path / run_concurrency.RESULT).read_text(encoding="utf-8"))
    assert page["result"] == found
    assert page["run"]["date"] == "2026-03-01"
    assert set(page["run"]) >= {"machine", "commit"}


def test_a_worker_that_ends_early_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="a worker ended early with code 1"):
        run_concurrency.Process(tmp_path / "store", tmp_path, PLAN)
