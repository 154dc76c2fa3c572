"""Measure recall on banks of growing size; one file per profile and size in bench/results/.

PYTHONPATH=. python -m bench.run_scale --data ../shared/data --date 2026-11-28

Banks are kept in the cache folder, because a million memories take minutes to load. A file holds ``run``
(what was measured where) and ``result`` (the JSON of the command); ``docs/plot_scale.py`` draws them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from bench.run_quality import ROOT, describe_run

from simonides.models.cache import models_folder

SIZES = (10_000, 100_000, 1_000_000)
PROFILES = ("helix", "default")
PEER = "fts5-sqlite-vec"


def main() -> int:
    """Measure every profile at every size; 1 as soon as one cannot be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo/ and musique/")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    parser.add_argument("--keep", type=Path, default=models_folder().parent / "scale", help="for the banks")
    parser.add_argument("--n", type=int, action="append", help="sizes; by default all")
    parser.add_argument("--profile", action="append", choices=PROFILES, help="by default all")
    parser.add_argument("--workers", type=int, default=2, help="processes that prepare what is loaded")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    for count in given.n or SIZES:
        for profile in given.profile or PROFILES:
            if not measure(given, count, profile):
                return 1
    return 0


def measure(given: argparse.Namespace, count: int, profile: str) -> bool:
    """Write one file; false when it cannot be measured (the command has said why)."""
    said = ["bench", "scale", "--n", str(count), "--profile", profile, "--against", PEER, "--json"]
    placed = ["--data", str(given.data), "--keep", str(given.keep), "--workers", str(given.workers)]
    print("simonides", *said, file=sys.stderr)
    answer = subprocess.run(
        [sys.executable, "-m", "simonides", *said, *placed], stdout=subprocess.PIPE, check=False
    )
    if answer.returncode:
        return False
    command = ["simonides", *said, "--data", "DATA", "--keep", "KEEP", "--workers", str(given.workers)]
    page = {"run": describe_run(command, given.date), "result": json.loads(answer.stdout)}
    file = given.results / f"scale-{profile}-{count}.json"
    file.write_text(f"{json.dumps(page, indent=2)}\n", encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())
