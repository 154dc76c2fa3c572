"""Run the long reliability tests, several processes side by side, and write down what they counted.

    python bench/run_reliability.py --date 2026-01-31 [--jobs N] [--only P2 P7] [--minutes 60] [--out FILE]
                                    [--examples 10000] [--resume]

Each target is a set of soak tests. A target that can be shared is run by N processes at once, each with its
own seeds and an equal part of the trials; the others run one after the other, alone. Counts are added up as
the processes wrote them (of "calls" of one run and of names that begin with "longest", "slowest" or "worst",
the largest is taken).
A target passed when every process ended well. The result is written after each target, beside those that the
file holds already, so that a run that is cut short has shown what it has shown; with --resume, those that
passed before are left out. Exit status 1 when a target failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Target:
    """What shows a target.

    Attributes:
        what: for people.
        tests: pytest's arguments.
        shared: whether processes can share the trials.
        properties: whether they are property tests, run with ``--examples`` each by the hypothesis profile
            ``thorough``; else trials count themselves.
    """

    what: str
    tests: tuple[str, ...]
    shared: bool = True
    properties: bool = False


R = "tests/reliability"
P = "tests/property"
_PROPERTIES = (
    f"{P}/test_recall.py",
    f"{P}/test_packing.py",
    f"{P}/test_fusion.py",
    f"{P}/test_score_fusion.py",
    f"{P}/test_query_dsl.py",
    f"{P}/test_export.py::test_an_export_is_a_fix_point",
    f"{P}/index/test_push.py",
    f"{P}/index/test_view.py",
)
"""Filtered recall is brute force; prefixes, budgets, fusion, printing, fix points, walks, masks."""

_TENANTS = (
    "tests/surfaces/rest/test_isolation.py",
    "tests/surfaces/mcp/test_isolation.py",
    f"{P}/test_principals.py",
    f"{P}/test_profiles_see_nothing_else.py",
    f"{P}/test_graph_times.py",
    f"{P}/index/test_view.py",
)
TARGETS = {
    "P1": Target("kill -9", (f"{R}/test_kill.py",)),
    "P1-upkeep": Target("kill -9 of restore, repair, purge, …", ("-k", "killed", f"{R}/test_upkeep.py")),
    "P2": Target("power cuts", (f"{R}/test_power.py",)),
    "P2-controls": Target(
        "controls that lose and break",
        ("-m", "not soak", "-k", "harness_sees", f"{R}/test_power.py"),
        shared=False,
    ),
    "P3": Target("each call of the disk fails", (f"{R}/test_failing.py",)),
    "P3-upkeep": Target("the same for restore, repair, purge, …", ("-k", "fails", f"{R}/test_upkeep.py")),
    "P4": Target("full disk", (f"{R}/test_full_disk.py",), shared=False),
    "P5": Target("flipped bits", (f"{R}/test_flips.py",)),
    "P6": Target("fuzzed text", ("tests/fuzz",)),
    "P7": Target("steps against a dictionary", (f"{R}/test_model.py",)),
    "P8": Target("properties", ("-m", "not soak", *_PROPERTIES), shared=False, properties=True),
    "P9": Target("tenants", ("-m", "not soak", *_TENANTS), shared=False, properties=True),
    "P9-timing": Target("what an answer's time tells of others", (f"{R}/test_timing.py",), shared=False),
    "P15": Target("backups during writes", (f"{R}/test_backup.py",), shared=False),
    "P11": Target("readers and writers", (f"{R}/test_processes.py",), shared=False),
    "W5": Target("kill -9 of a migration", (f"{R}/test_migrations.py",), shared=False),
    "X6": Target("secrets in texts", ("-m", "not soak", f"{R}/test_secrets_corpus.py"), shared=False),
    "interrupts": Target("Ctrl-C and failed allocations", (f"{R}/test_interrupts.py",)),
    "P12": Target("soak: memory and files", (f"{R}/test_soak.py",), shared=False),
}


def main() -> int:
    asked = _arguments()
    out = asked.out or ROOT / "bench" / "results" / f"reliability-{asked.date}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    passed = True
    for name in asked.only or TARGETS:
        before = _read(out, asked.date)["targets"].get(name, {})
        if asked.resume and before.get("passed"):
            continue
        target = TARGETS[name]
        print(f"{name}: {target.what}", flush=True)
        found = _run(target, asked.jobs if target.shared else 1, asked.minutes, asked.examples)
        print(f"    {json.dumps(found['counts'])}", flush=True)
        passed &= found["passed"]
        # Read again: another run may have added its targets meanwhile.
        result = _read(out, asked.date)
        result["targets"] = {
            known: {**result["targets"], name: found}[known]
            for known in TARGETS
            if known in {*result["targets"], name}
        }
        out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written to {out}")
    return int(not passed)


def _read(out: Path, date: str) -> dict[str, Any]:
    if not out.exists():
        return {"date": date, "machine": _machine(), "targets": {}}
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--date", required=True, help="YYYY-MM-DD, part of the result's name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="+", choices=sorted(TARGETS), metavar="TARGET")
    parser.add_argument("--examples", type=int, default=10_000, help="of each property of P8 and P9")
    parser.add_argument("--minutes", type=float, default=120, help="at most, per target")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--resume", action="store_true", help="leave out what passed before")
    return parser.parse_args()


def _run(target: Target, jobs: int, minutes: float, examples: int) -> dict[str, Any]:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        running = [_start(target, place, number, jobs, examples) for number in range(jobs)]
        statuses = []
        for process in running:
            try:
                statuses.append(process.wait(max(0.1, began + minutes * 60 - time.monotonic())))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                statuses.append(-1)
        lines = [
            json.loads(line)
            for record in sorted(place.glob("record-*"))
            for line in record.read_text(encoding="utf-8").splitlines()
        ]
        outputs = [
            (place / f"output-{number}").read_text(encoding="utf-8", errors="replace")
            for number in range(jobs)
        ]
        failures = [
            (place / f"output-{number}").read_text(encoding="utf-8", errors="replace")[-2_000:]
            for number, status in enumerate(statuses)
            if status
        ]
    if target.properties:
        passes = [re.search(r"(\d+) passed", output) for output in outputs]
        number = sum(int(found[1]) for found in passes if found)
        lines = [
            {
                "target": "",
                "test": "properties",
                "counts": {"properties": number, "examples": examples},
            }
        ]
        # Tests that say themselves how many examples they take keep to it.
        lines *= bool(number)
    # A target without counts has shown nothing.
    passed = bool(lines) and not any(statuses)
    found: dict[str, Any] = {
        "what": target.what,
        "passed": passed,
        "processes": jobs,
        "counts": _added(lines),
    }
    found["wall_seconds"] = round(time.monotonic() - began, 1)
    return found | ({"failures": failures[:3]} if failures else {})


def _start(target: Target, place: Path, number: int, jobs: int, examples: int) -> subprocess.Popen[bytes]:
    environ = os.environ | {
        "RELIABILITY_SHARE": f"{number}/{jobs}",
        "RELIABILITY_RECORD": str(place / f"record-{number}"),
        "HYPOTHESIS_PROFILE": "thorough" if target.properties else "fast",
        "RELIABILITY_EXAMPLES": str(examples),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-m",
        "soak",
    ]
    with (place / f"output-{number}").open("wb") as output:
        return subprocess.Popen(
            [*command, *target.tests], cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT
        )


def _added(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    counts: dict[str, dict[str, Any]] = {}
    for line in lines:
        total = counts.setdefault(f"{line['target']} {line['test']}", {})
        for name, value in line["counts"].items():
            if not isinstance(value, int | float):
                total[name] = value
            elif name == "calls" or name.startswith(("longest", "slowest", "worst")):
                total[name] = max(total.get(name, 0), value)
            else:
                total[name] = total.get(name, 0) + value
    return counts


def _machine() -> dict[str, Any]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())
