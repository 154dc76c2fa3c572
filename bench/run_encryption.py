"""Measure what an encrypted bank costs: opening it at its largest, when the index is made from the rows.

    python bench/run_encryption.py --date 2026-11-28 [--rows 100000]

Processor time, not the clock: other programs may run beside it. Vectors are of 256 numbers, as the default
embedder's, made by the stub embedder, whose own time is not counted where a bank is only opened. Needs the
package that encrypts: `make encryption` makes an environment with it and runs this.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import resource
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import simonides
from simonides.backends.embedded.encryption import MOST_ROWS, encrypts, engine
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.store import Store

RESULT = Path(__file__).parent / "results" / "encryption.json"
BATCH = 5_000
QUERIES = 20
SYLLABLES = ["ka", "lo", "mi", "ren", "tu", "vo", "sel", "dar", "qui", "pon", "ax", "bri"]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    parser.add_argument("--rows", type=int, default=MOST_ROWS)
    asked = parser.parse_args()
    if not encrypts():
        print(f"SQLite {engine()} does not encrypt; run `make encryption`", file=sys.stderr)
        return 2
    with TemporaryDirectory() as folder:
        figures = {
            "date": asked.date,
            "python": platform.python_version(),
            "sqlite": engine(),
            "rows": asked.rows,
            "dimension": 256,
            **_measured(Path(folder), asked.rows),
        }
    print(json.dumps(figures, indent=2))
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def _measured(folder: Path, rows: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, key in (("plain", None), ("encrypted", bytes(range(32)))):
        _fill(_open(folder / name, key), rows)
        # Opened anew: the plain bank maps its index, the encrypted one makes it.
        began = time.process_time()
        with _open(folder / name, key) as store:
            store.bank().recall("ka lo", profile="lexical")
            opened = time.process_time() - began
            times = [_cpu(store, f"{a}{b} {b}{a}") for a in SYLLABLES[:4] for b in SYLLABLES[:5]][:QUERIES]
        found[name] = {
            "open_and_first_recall_cpu_seconds": round(opened, 2),
            "recall_cpu_ms_median": round(statistics.median(times) * 1_000, 1),
            "disk_megabytes": round(_bytes(folder / name) / 1e6, 1),
        }
    found["peak_resident_megabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000)
    return found


def _open(folder: Path, key: bytes | None) -> Store:
    return simonides.open(folder, embedder=StubEmbedder(256), expander=None, key=key, environ={})


def _fill(store: Store, rows: int) -> None:
    chance = random.Random(8)
    words = [a + b for a in SYLLABLES for b in SYLLABLES] + [a + b + a for a in SYLLABLES for b in SYLLABLES]
    with store:
        for start in range(0, rows, BATCH):
            many = range(start, min(rows, start + BATCH))
            texts = [f"{n} {' '.join(chance.choices(words, k=14))}." for n in many]
            store.bank().retain(texts, deduplicate=False)


def _cpu(store: Store, query: str) -> float:
    began = time.process_time()
    store.bank().recall(query)
    return time.process_time() - began


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
