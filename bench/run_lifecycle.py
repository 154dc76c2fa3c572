"""Measure what maintenance does to recall on LoCoMo, into bench/results/lifecycle-locomo.json.

    python -m bench.run_lifecycle --data DATA --date 2026-11-28

``run`` says what was measured where; ``result`` holds the groups of ``evaluation.maintained``, how old what
is asked for is, and how long the numbers of each profile let an unused memory last.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.run_quality import describe_run

from simonides.evaluation.catalogue import load_dataset
from simonides.evaluation.maintained import MaintainedRun
from simonides.lifecycle.lasting import lasting_days
from simonides.lifecycle.thresholds import read_thresholds
from simonides.profiles.loader import load_lifecycle
from simonides.retain.conversations import WINDOW

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo/")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write")
    parser.add_argument("--limit", type=int, help="only the first LIMIT questions")
    given = parser.parse_args()
    dataset = load_dataset("locomo", given.data).first(given.limit)
    with tempfile.TemporaryDirectory(prefix="simonides-bench-") as folder:
        measured = MaintainedRun(dataset, Path(folder), WINDOW, progress=_say)
        groups = [group.to_dict() for group in measured.run()]
    result = {
        "dataset": dataset.name,
        "conversations": len(dataset.corpora),
        "questions": sum(question.answerable for question in dataset.questions),
        "groups": groups,
        "age_of_what_is_asked_days": measured.ages(),
        "lasting_days": {
            profile: lasting_days(read_thresholds(*load_lifecycle(profile)))
            for profile in ("default", "engram")
        },
    }
    command = ["bench.run_lifecycle", "--data", "DATA"]
    page = {"run": describe_run(command, given.date), "result": result}
    given.results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(page, indent=2, ensure_ascii=False)
    (given.results / "lifecycle-locomo.json").write_text(f"{text}\n", encoding="utf-8")
    return 0


def _say(phase: str, done: int, total: int) -> None:
    if done == total:
        print(phase, done, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
