"""Mixed requests of many clients while the encoder is slow; `bench/soak/load.py` is the long form."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[3] / "bench" / "soak" / "load.py"

pytestmark = [pytest.mark.fault("O1"), pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("load", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "load", module)
    spec.loader.exec_module(module)
    return module


def _check(load: ModuleType, found: dict[str, object], writes: int) -> None:
    assert found["faults"] == []
    assert (found["written"], found["lost"], found["twice"]) == (writes, 0, 0)
    assert found["most_jobs"] <= load.WORKERS + load.QUEUE


def test_no_write_is_lost_and_the_queue_is_bounded(load: ModuleType) -> None:
    found = load.load(clients=8, requests=12, encoder_ms=40.0)
    _check(load, found, 8 * 6)
    assert found["answers"].get("503", 0) > 0
    # A machine that does other work, too, is given time; the long form is exact.
    assert found["live_p50_ms"] < 1_000


@pytest.mark.soak
def test_liveness_answers_at_once_under_load(load: ModuleType) -> None:
    found = load.load(clients=8, requests=200, encoder_ms=50.0)
    _check(load, found, 8 * 100)
    assert found["live_p99_ms"] < 100
