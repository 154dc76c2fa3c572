"""Measure what a cold ``simonides --help`` costs: processor time of a process of its own, the median of ten.

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
from pathlib import Path

RESULT = Path(__file__).parent / "results" / "cold-start.json"
START = "from simonides.surfaces.cli.main import main; main()"
RUNS = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    date = parser.parse_args().date
    # The first run compiles what changed.
    cpu_seconds()
    times = sorted(cpu_seconds() for _ in range(RUNS))
    bare = sorted(cpu_seconds("pass") for _ in range(RUNS))
    figures = {
        "date": date,
        "python": platform.python_version(),
        "command": "simonides --help",
        "runs": RUNS,
        "cpu_ms_median": round(statistics.median(times) * 1_000),
        "cpu_ms_lowest": round(times[0] * 1_000),
        "cpu_ms_of_python_alone": round(statistics.median(bare) * 1_000),
    }
    print(json.dumps(figures, indent=2))
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def cpu_seconds(start: str = START) -> float:
    """User and system time of one process."""
    process = subprocess.Popen([sys.executable, "-c", start, "--help"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
