"""Measure recall quality on each data set with each profile; one file per pair in bench/results/.

A file holds ``run`` (what was measured where: command, version, commit, date, machine, libraries) and
``result`` (the JSON of ``simonides bench quality``). Run it by ``make bench``, which hands in the date.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DATASETS = ("locomo", "musique")
PROFILES = ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")
LIBRARIES = ("simonides", "numpy", "onnxruntime", "apsw", "ir-measures")


def main() -> int:
    """Run all pairs; 1 as soon as one cannot be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds locomo/ and musique/")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    parser.add_argument("--limit", type=int, help="only the first LIMIT questions")
    parser.add_argument("--ingest", type=int, help="only measure how fast INGEST memories are taken in")
    parser.add_argument("--view-cost", type=int, help="only measure what views cost with VIEW_COST memories")
    parser.add_argument(
        "--abstention", action="store_true", help="only measure when DATA is said to be silent"
    )
    given = parser.parse_args()

    if given.ingest:
        return measure_cost("ingest", given.ingest, given.date, given.results)
    if given.view_cost:
        return measure_cost("view-cost", given.view_cost, given.date, given.results)
    if given.data is None or not given.data.is_dir():
        print(f"nothing to measure: there is no folder {given.data}; name one by DATA=…", file=sys.stderr)
        return 1
    given.results.mkdir(parents=True, exist_ok=True)
    if given.abstention:
        return measure_abstention(given.data, given.date, given.results)
    for dataset in DATASETS:
        for profile in PROFILES:
            arguments = ["bench", "quality", "--dataset", dataset, "--profile", profile, "--json"]
            arguments += ["--limit", str(given.limit)] if given.limit else []
            result = measure(arguments, given.data)
            if result is None:
                return 1
            run = describe_run(["simonides", *arguments, "--data", "DATA"], given.date)
            page = json.dumps({"run": run, "result": result}, indent=2, ensure_ascii=False)
            (given.results / f"quality-{dataset}-{profile}.json").write_text(f"{page}\n", encoding="utf-8")
    return 0


def measure_cost(name: str, count: int, date: str, results: Path) -> int:
    """Write what ``bench NAME`` measures with *count* invented memories; 1 when it cannot be measured."""
    command = ["bench", name, "--n", str(count), "--json"]
    result = _answer(command)
    if result is None:
        return 1
    results.mkdir(parents=True, exist_ok=True)
    page = json.dumps({"run": describe_run(["simonides", *command], date), "result": result}, indent=2)
    (results / f"{name}-{count}.json").write_text(f"{page}\n", encoding="utf-8")
    return 0


def measure_abstention(data: Path, date: str, results: Path) -> int:
    """Write what ``bench abstention`` measures; 1 when it cannot be measured."""
    command = ["bench", "abstention", "--json"]
    result = _answer([*command, "--data", str(data)])
    if result is None:
        return 1
    run = describe_run(["simonides", *command, "--data", "DATA"], date)
    page = json.dumps({"run": run, "result": result}, indent=2)
    (results / "abstention.json").write_text(f"{page}\n", encoding="utf-8")
    return 0


def measure(arguments: list[str], data: Path) -> dict[str, Any] | None:
    """What the command prints, or ``None`` when it fails (it has said why on stderr)."""
    result = _answer([*arguments, "--data", str(data)])
    if result is not None:
        print("  ", json.dumps(result.get("metrics")), file=sys.stderr)
    return result


def _answer(arguments: list[str]) -> dict[str, Any] | None:
    print("simonides", *arguments, file=sys.stderr)
    program = Path(sys.executable).with_name("simonides")
    answer = subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=False)
    if answer.returncode:
        return None
    result: dict[str, Any] = json.loads(answer.stdout)
    return result


def describe_run(command: list[str], date: str) -> dict[str, Any]:
    """What a reader needs to judge or repeat the numbers."""
    return {
        "command": " ".join(command),
        "date": date,
        "commit": commit(),
        "machine": {"cpus": os.cpu_count(), "platform": platform.platform(), "arch": platform.machine()},
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
    }


def commit() -> str:
    """The commit that is measured, with ``+changes`` when the working tree differs from it."""

    def git(*arguments: str) -> str:
        answer = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return answer.stdout.strip()

    head = git("rev-parse", "HEAD") or "unknown"
    # Results of this very run are written beside the code and do not change what is measured.
    changed = git("status", "--porcelain", "--", "src", "bench/run_quality.py", "pyproject.toml")
    return f"{head}+changes" if changed else head


if __name__ == "__main__":
    sys.exit(main())
