"""bench/run_quality.py: what it writes, and what it does without data."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[3] / "bench" / "run_quality.py"


@pytest.fixture
def run_quality(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_quality", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up by name.
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


PROFILES = ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")


def arguments_for(monkeypatch: pytest.MonkeyPatch, data: Path, results: Path, *more: str) -> None:
    given = ["--data", str(data), "--date", "2026-03-01", "--results", str(results), *more]
    monkeypatch.setattr(sys, "argv", ["run_quality", *given])


@pytest.mark.parametrize("weights", ["ready", "missing"])
def test_each_measurement_gets_a_file_with_its_circumstances(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, weights: str
) -> None:
    asked: list[tuple[str, str | None]] = []

    def answer(arguments: list[str], scratch: Path) -> dict[str, Any]:
        asked.append((" ".join(arguments), os.environ.get("SIMONIDES_SPARSE")))
        return {"questions": 3, "metrics": {"recall@10": 0.5}, "first": f"{scratch}/runs/locomo-default.json"}

    monkeypatch.setattr(run_quality, "_answer", answer)
    monkeypatch.setattr(run_quality, "verify_model", lambda _name: SimpleNamespace(state=weights))
    results = tmp_path / "results"
    arguments_for(monkeypatch, tmp_path, results, "--limit", "3", "--distractors", "9")

    assert run_quality.main() == 0

    assert sorted(file.stem for file in results.iterdir()) == sorted(
        f"{name}-{dataset}{profile}"
        for dataset in ("locomo", "musique")
        for name, profile in (
            *(("quality", f"-{profile}") for profile in PROFILES),
            ("compare", ""),
            ("ablation", ""),
            ("distractors", ""),
            *([("sparse", "")] if weights == "ready" else []),
        )
    )
    page = json.loads((results / "quality-locomo-lexical.json").read_text("utf-8"))
    assert page["result"]["metrics"] == {"recall@10": 0.5}
    assert page["result"]["first"] == "locomo-default.json"
    run = page["run"]
    assert run["date"] == "2026-03-01"
    assert run["command"] == (
        "simonides bench quality --dataset locomo --profile lexical --json --data DATA"
        " --keep-banks FOLDER/banks --limit 3 --runs FOLDER/runs"
    )
    assert run["machine"]["cpus"] >= 1
    assert set(run["libraries"]) >= {"simonides", "numpy", "onnxruntime"}
    assert run["commit"]
    among = json.loads((results / "distractors-musique.json").read_text("utf-8"))
    assert set(among["result"]) == {"lexical", "default"}
    assert {sparse for command, sparse in asked if "default-sparse" not in command} == {None}
    assert {sparse for command, sparse in asked if "default-sparse" in command} == (
        {"splade-tiny"} if weights == "ready" else set()
    )


def test_a_failed_measurement_stops_the_run_and_writes_nothing(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_quality, "_answer", lambda _arguments, _scratch: None)
    results = tmp_path / "results"
    arguments_for(monkeypatch, tmp_path, results)

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


def test_relevance_gets_a_file_with_vectors_and_one_by_words(
    run_quality: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []

    def answer(arguments: list[str]) -> dict[str, Any] | None:
        asked.append(arguments)
        return {"auc": {}} if len(asked) < 3 else None

    monkeypatch.setattr(run_quality, "_answer", answer)
    results = tmp_path / "results"
    options = ["--relevance", "--data", str(tmp_path), "--date", "2026-03-01", "--results", str(results)]
    monkeypatch.setattr(sys, "argv", ["run_quality", *options])
    assert run_quality.main() == 0
    command = ["simonides", "bench", "relevance", "--json", "--embedder"]
    assert asked == [[*command, how, "--data", str(tmp_path)] for how in ("auto", "none")]
    for name, how in (("relevance", "auto"), ("relevance-words", "none")):
        page = json.loads((results / f"{name}.json").read_text("utf-8"))
        assert page["result"] == {"auc": {}}
        assert page["run"]["command"] == f"simonides bench relevance --json --embedder {how} --data DATA"
    assert run_quality.main() == 1
