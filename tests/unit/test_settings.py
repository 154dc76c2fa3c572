"""The environment is read once, when a store is opened; a call wins over it, and it over the profile (HI-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock

FUNCTION, MIN, LOW = (f"SIMONIDES_RECALL_BUDGET_{name}" for name in ("FUNCTION", "MIN", "FIXED_LOW"))
# More memories than any budget below, all of which the words find.
MEMORIES = [f"Gauge number {number} stands in the harbour." for number in range(60)]
PROFILE = """
order = ["budget", "terms", "lexical", "reciprocal_rank", "token_budget"]
[stages.budget]
level = "low"
function = "fixed"
fixed = { low = 40, mid = 50, high = 55 }
ratios = { low = 0.01, mid = 0.02, high = 0.03 }
least = 5
most = 50
[stages.lexical]
depth = 100
k1 = 1.2
b = 0.75
fields = { text = 1.0 }
budgeted = true
[stages.reciprocal_rank]
k = 60
[stages.token_budget]
count = "rendered"
label = []
"""


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "budgeted.toml"
    path.write_text(PROFILE, encoding="utf-8")
    return path


def filled(folder: Path, clock: FrozenClock, environ: dict[str, str] | None) -> Bank:
    bank = simonides.open(folder, clock=clock, embedder=None, environ=environ).bank()
    bank.retain(MEMORIES)
    return bank


@pytest.mark.spec("HI-13")
def test_a_call_wins_over_the_environment_and_the_environment_over_the_profile(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    def found(bank: Bank, **options: str) -> tuple[int, tuple[str, ...]]:
        recall = bank.recall("gauge harbour", profile=profile, limit=100, max_tokens=1000, **options)  # type: ignore[arg-type]
        return len(recall.hits), recall.trace.settings

    plain = filled(tmp_path / "plain", clock, {})
    assert found(plain) == (40, ())
    told = filled(tmp_path / "told", clock, {FUNCTION: "adaptive", MIN: "12", LOW: "33", "HOME": "/"})
    settings = (f"{LOW}=33", f"{FUNCTION}=adaptive", f"{MIN}=12")
    assert found(told) == (12, settings)
    assert found(told, budget_function="fixed") == (33, settings)
    assert found(told, budget_function="fixed", budget="mid") == (50, settings)


def test_what_was_set_is_in_the_trace_and_not_called_degraded(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    bank = filled(tmp_path / "store", clock, {MIN: "12"})
    trace = bank.recall("gauge", profile=profile).trace
    assert trace.degraded == ()
    assert trace.to_dict()["settings"] == [f"{MIN}=12"]
    assert bank.recall("gauge", profile="lexical").trace.settings == ()


def test_the_front_door_reads_the_process_once(
    tmp_path: Path, clock: FrozenClock, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MIN, "12")
    bank = filled(tmp_path / "store", clock, None)
    monkeypatch.setenv(MIN, "13")
    assert bank.recall("gauge", profile=profile).trace.settings == (f"{MIN}=12",)
    told = bank.why_not(bank.recall("gauge", profile=profile)[0].id, "gauge", profile=profile)
    assert told.returned


def test_a_wrong_value_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=MIN):
        simonides.open(tmp_path / "store", environ={MIN: "many"})
    assert not (tmp_path / "store").exists()
