"""How long what nobody uses lasts."""

from __future__ import annotations

from bench.lifecycle import lasting_days

from simonides.lifecycle.thresholds import Thresholds, read_thresholds
from simonides.profiles.loader import load_lifecycle


def test_days_by_kind_and_role() -> None:
    days = lasting_days(read_thresholds(*load_lifecycle("default")))

    assert days["episodic"]["user"] == 867.9  # 180 · log2(20) + 90
    assert days["episodic"]["tool"] == 522.2  # 180 / 1.8 · log2(20) + 90
    assert "decision" not in days
    assert lasting_days(Thresholds()) == {}
