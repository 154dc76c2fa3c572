"""Measure what a cold start costs: processor time of processes of their own, median and lowest of ten.

python bench/run_cold_start.py --date 2026-11-28 --bank KEEP/scale-100000-…

With a bank of `bench scale` also a whole `simonides recall` there, with the model.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RESULT = Path(__file__).parent / "results" / "cold-start.json"
CLI = "import sys; sys.argv[:] = ['simonides', {}]; from simonides.surfaces.cli.main import main; main()"
STARTS = {
    "python": "pass",
    "import simonides": "import simonides",
    "simonides --help": CLI.format("'--help'"),
    "simonides recall --help": CLI.format("'recall', '--help'"),
    "import simonides.store": "import simonides; simonides.open",
    "import typer": "import typer",
    "import numpy": "import numpy",
}
"""What is started, by what it is called in the result; the last two say how much of it is others' code."""

RECALLED = ("helix", "default")
"""Profiles of the recalls."""

RUNS = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    parser.add_argument("--bank", type=Path, help="folder of a bank of `bench scale`")
    given = parser.parse_args()
    starts = STARTS | (recalls(given.bank) if given.bank else {})
    figures = {
        "date": given.date,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "runs": RUNS,
        "load_average_before": [round(load, 2) for load in os.getloadavg()],
    }
    with tempfile.TemporaryDirectory() as compiled:
        figures["cpu_ms"] = {name: cpu_ms(start, compiled) for name, start in starts.items()}
    print(json.dumps(figures, indent=2))
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def recalls(folder: Path) -> dict[str, str]:
    """A recall by each profile, by what it is called in the result."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    query = json.loads((folder / "queries.json").read_text(encoding="utf-8"))["queries"][0]["text"]
    asked = ["recall", query, "--store", str(folder / "store"), "--bank", "scale", "--json", "--profile"]
    return {
        f"simonides recall, {about['count']:,} memories, {profile}": CLI.format(
            ", ".join(map(repr, [*asked, profile]))
        )
        for profile in RECALLED
    }


def cpu_ms(start: str, compiled: str) -> dict[str, int]:
    """Median and lowest of ten runs, in milliseconds of processor time; the first run compiles."""
    cpu_seconds(start, compiled)
    times = sorted(cpu_seconds(start, compiled) for _ in range(RUNS))
    return {"median": round(statistics.median(times) * 1_000), "lowest": round(times[0] * 1_000)}


def cpu_seconds(start: str, compiled: str) -> float:
    """User and system time of one process, whose bytecode lies in the folder *compiled*."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # 1 = nothing that matches, which costs as much.
    assert process.returncode in {0, 1}
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
