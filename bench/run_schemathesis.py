"""Let schemathesis check a real server against its OpenAPI document, and keep the figures.

    python bench/run_schemathesis.py --date 2026-11-28 [--examples 300]

A server of its own, without a model, on a store that is removed afterwards. Exits as schemathesis does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
HOOKS = ROOT / "tests" / "surfaces" / "rest" / "schemathesis"
RESULT = ROOT / "bench" / "results" / "schemathesis.json"
_COUNTED = re.compile(r'simonides_requests_total\{.*status="(\d)\d\d".*\} (\S+)')
PHASES = ("examples", "coverage", "fuzzing", "stateful")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    parser.add_argument("--examples", type=int, default=300, help="per operation")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="simonides-schemathesis-") as folder:
        report = Path(folder) / "report.json"
        server, address, token = _start(Path(folder) / "store")
        try:
            status, printed = _check(address, token, options.examples, report)
            answers = _answers(address, token)
        finally:
            server.terminate()
            stopped = server.wait(60)
        found = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else {}
    print(printed[-8_000:])
    figures = {
        "date": options.date,
        "examples_per_operation": options.examples,
        "exit_status": status,
        "server_exit_status": stopped,
        **_figures(found),
        "answers_of_operations": answers,
    }
    options.out.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return status


def _start(store: Path) -> tuple[subprocess.Popen[str], str, str]:
    start = "from simonides.surfaces.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, "serve", "--port", "0", "--store", str(store)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SIMONIDES_EMBEDDER": "none", "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout
    address = re.match(r"http://\S+", process.stdout.readline())
    assert address, "the server printed no address"
    return process, address[0], process.stdout.readline().rpartition(" ")[2].strip()


def _check(address: str, token: str, examples: int, report: Path) -> tuple[int, str]:
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            *("--config-file", "schemathesis.toml", "run", f"{address}/openapi.json"),
            *("-H", f"Authorization: Bearer {token}", "-n", str(examples), "--request-timeout", "60"),
            *("--phases", ",".join(PHASES), "--continue-on-failure"),
            *("--report", "json", "--report-json-path", str(report)),
        ],
        cwd=HOOKS,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": _path(HOOKS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def _path(first: Path) -> str:
    return os.pathsep.join([str(first), *filter(None, [os.environ.get("PYTHONPATH")])])


def _figures(report: dict[str, Any]) -> dict[str, Any]:
    """What is worth keeping of schemathesis's report."""
    if not report:
        return {}
    operations, cases = report["operations"], report["test_cases"]
    return {
        "schemathesis": report["schemathesis_version"],
        "seed": report["seed"],
        "complete": report["complete"],
        "operations": {name: operations[name] for name in ("selected", "tested", "errored")},
        "phases": {name: phase["status"] for name, phase in report["phases"].items()},
        "cases": {name: cases[name] for name in ("generated", "with_failures", "unique_failures", "errored")},
        "failures": len(report["failures"]),
        "errors": len(report["errors"]),
    }


def _answers(address: str, token: str) -> dict[str, int]:
    """How many answers of each class of status the server counted."""
    asked = urllib.request.Request(f"{address}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=30) as page:
        lines = page.read().decode().splitlines()
    counted: Counter[str] = Counter()
    for line in lines:
        found = _COUNTED.fullmatch(line)
        if found:
            counted[f"{found[1]}xx"] += int(float(found[2]))
    return dict(sorted(counted.items()))


if __name__ == "__main__":
    sys.exit(main())
