"""Is simonides better than each peer by more than luck? Read off the runs of bench.peers.run.

    python -m bench.peers.compare [--results FOLDER]

Paired over questions (simonides.evaluation.comparing); p-values adjusted by Holm over all comparisons of
one of our rows on one data set: every other system times every measure. Writes ``peers-significance.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.peers.catalogue import SYSTEMS, Ours

from simonides.evaluation.comparing import compare_runs, holm
from simonides.evaluation.results import measure_each, read_qrels, read_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    # Per question id, each measure's value.
    Scores = Mapping[str, Mapping[str, float]]

RESULTS = Path(__file__).parents[1] / "results"
RUNS = "peers"
OUTPUT = "peers-significance.json"
MEASURES = ("recall@5", "recall@10", "ndcg@10", "all@10")
SEED = 20260101


def main() -> int:
    """Compare all runs that are there; 1 when there is none of ours."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder that bench.peers.run wrote to")
    return write_comparison(parser.parse_args().results)


def write_comparison(results: Path) -> int:
    """Write the comparison beside the results in *results*; 1 when there is no run of ours."""
    compared: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for qrels in sorted((results / RUNS).glob("*.qrels")):
        scores = read_scores(qrels)
        ours = [name for name in scores if isinstance(SYSTEMS[name].way, Ours)]
        compared[qrels.stem] = {name: compare(name, scores) for name in ours}
    if not any(compared.values()):
        print(f"nothing to compare: {results / RUNS} has no run of simonides", file=sys.stderr)
        return 1
    page = {"test": "signs flipped, paired", "adjusted": "Holm", "seed": SEED, "result": compared}
    (results / OUTPUT).write_text(f"{json.dumps(page, indent=2)}\n", encoding="utf-8")
    return 0


def compare(ours: str, scores: Mapping[str, Scores]) -> list[dict[str, Any]]:
    """Per peer and measure: what *ours* gains over it, the 95 % interval, p and adjusted p."""
    rows: list[dict[str, Any]] = []
    for peer, theirs in scores.items():
        if isinstance(SYSTEMS[peer].way, Ours):
            continue
        for measure in MEASURES:
            found = compare_runs(theirs, scores[ours], measure, np.random.default_rng(SEED))
            rows.append(
                {
                    "against": peer,
                    "measure": measure,
                    "difference": round(found.mean_difference, 6),
                    "low": round(found.low, 6),
                    "high": round(found.high, 6),
                    "p": found.p_value,
                }
            )
    for row, adjusted in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = adjusted
    return rows


def read_scores(qrels: Path) -> dict[str, Scores]:
    """The measures of each system that has a run beside *qrels*, in the catalogue's order."""
    gold = read_qrels(qrels)
    runs = {name: qrels.with_name(f"{qrels.stem}-{name}.run") for name in SYSTEMS}
    return {name: measure_each(gold, read_run(run)) for name, run in runs.items() if run.is_file()}


if __name__ == "__main__":
    sys.exit(main())
