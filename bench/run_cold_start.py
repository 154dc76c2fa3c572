"""Measure what a cold start costs: processor time of processes of their own, median and lowest of ten.

python bench/run_cold_start.py --date 2026-11-28
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

RUNS = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    date = parser.parse_args().date
    figures = {
        "date": date,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "runs": RUNS,
        "load_average_before": [round(load, 2) for load in os.getloadavg()],
    }
    with tempfile.TemporaryDirectory() as compiled:
        figures["cpu_ms"] = {name: cpu_ms(start, compiled) for name, start in STARTS.items()}
    print(json.dumps(figures, indent=2))
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


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
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
