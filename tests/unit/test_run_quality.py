"""bench/run_quality.py: what it writes, and what it does without data."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[2] / "bench" / "run_quality.py"


@pytest.fixture
def run_quality() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_quality", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_dataset_and_profile_gets_a_file_with_its_circumstances(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def measure(arguments: list[str], data: Path) -> dict[str, Any]:
        assert data == tmp_path
        asked.append(arguments)
        return {"questions": 3, "metrics": {"recall@10": 0.5}}

    monkeypatch.setattr(run_quality, "measure", measure)
    results = tmp_path / "results"
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "run_quality",
            "--data",
            str(tmp_path),
            "--date",
            "2026-03-01",
            "--results",
            str(results),
            "--limit",
            "3",
        ],
    )

    assert run_quality.main() == 0

    assert sorted(file.name for file in results.iterdir()) == sorted(
        f"quality-{dataset}-{profile}.json"
        for dataset in ("locomo", "musique")
        for profile in ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")
    )
    page = json.loads((results / "quality-locomo-lexical.json").read_text("utf-8"))
    assert page["result"]["metrics"] == {"recall@10": 0.5}
    run = page["run"]
    assert run["date"] == "2026-03-01"
    assert run["command"] == (
        "simonides bench quality --dataset locomo --profile lexical --json --limit 3 --data DATA"
    )
    assert run["machine"]["cpus"] >= 1
    assert set(run["libraries"]) >= {"simonides", "numpy", "onnxruntime"}
    assert run["commit"]
    assert len(asked) == 14


def test_a_failed_measurement_stops_the_run_and_writes_nothing(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_quality, "measure", lambda _arguments, _data: None)
    results = tmp_path / "results"
    monkeypatch.setattr(
        sys,
        "argv",
        ["run_quality", "--data", str(tmp_path), "--date", "2026-03-01", "--results", str(results)],
    )

    assert run_quality.main() == 1
    assert not list(results.iterdir())


def test_without_data_it_says_what_to_do(
    run_quality: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["run_quality", "--data", str(tmp_path / "none"), "--date", "2026-03-01"]
    )

    assert run_quality.main() == 1
    assert "DATA=" in capsys.readouterr().err


def test_intake_is_measured_alone_when_asked(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_quality, "_answer", lambda arguments: {"n": int(arguments[3])})
    arguments = ["--ingest", "7", "--date", "2026-03-01", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run_quality", *arguments])

    assert run_quality.main() == 0

    page = json.loads((tmp_path / "ingest-7.json").read_text("utf-8"))
    assert page["result"] == {"n": 7}
    assert page["run"]["command"] == "simonides bench ingest --n 7 --json"


def test_abstention_gets_one_file(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def answer(arguments: list[str]) -> dict[str, Any] | None:
        asked.append(arguments)
        return {"curve": []} if len(asked) == 1 else None

    monkeypatch.setattr(run_quality, "_answer", answer)
    results = tmp_path / "results"
    options = ["--abstention", "--data", str(tmp_path), "--date", "2026-03-01", "--results", str(results)]
    monkeypatch.setattr(sys, "argv", ["run_quality", *options])
    assert run_quality.main() == 0
    assert asked == [["bench", "abstention", "--json", "--data", str(tmp_path)]]
    page = json.loads((results / "abstention.json").read_text("utf-8"))
    assert page["result"] == {"curve": []}
    assert page["run"]["command"] == "simonides bench abstention --json --data DATA"
    assert run_quality.main() == 1
