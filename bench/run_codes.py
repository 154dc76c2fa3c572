"""Measure what candidates cost by the kind of codes that a scan reads; bench/results/dense-codes.json.

PYTHONPATH=.:src python -m bench.run_codes --real REAL.npz --date 2026-11-28 [--n 100000 …]

REAL.npz is what ``bench scale --keep`` leaves of a real encoder (``real-*.npz``); vectors are grown from it.
For each kind (``bench/codes.py``) and number of candidates: the share of the exact hundred by float32 among
the candidates, the share that is left after rescoring from int8, CPU per query with the rescoring, bytes per
vector. The queries go through all kinds in turn, so that whatever else runs beside hits all alike. Kinds of
`turbovec` are measured where that package is installed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.codes import BLOCK, Kind, Rows, kinds
from bench.command import ROOT, describe_run
from bench.scale_data import VectorMaker, exact_nearest

from simonides.index.vectors import (
    FULL_SIZE,
    BlockVectors,
    VectorBlock,
    exact_dot,
    quantise_rows,
    split_query,
    survivors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

RESULT = ROOT / "bench" / "results" / "dense-codes.json"
SIZES = (100_000, 300_000, 1_000_000)
DEPTH = 100
QUERIES = 100
FLOOR = 0.98
"""Share of the exact hundred among the candidates at which kinds are compared."""
ENGINE = "hamming"
_KEPT = (4_096, 8_192, 16_384, 32_768)


def main() -> int:
    """Measure every size, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--real", type=Path, required=True, help="vectors of a real encoder")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--n", type=int, action="append", help="sizes; by default all")
    parser.add_argument("--results", type=Path, default=RESULT, help="where to write")
    given = parser.parse_args()
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    turbovec = importlib.import_module("turbovec") if importlib.util.find_spec("turbovec") else None
    with np.load(given.real, allow_pickle=False) as kept:
        maker = VectorMaker(np.asarray(kept["vectors"], np.float32), 1)
    sizes = given.n or SIZES
    found = []
    for count in sizes:
        found.append(measure(maker, count, turbovec))
        print(json.dumps(found[-1]["at_equal_recall"]), file=sys.stderr)
    command = ["python", "-m", "bench.run_codes", "--real", "REAL.npz", *(f"--n {n}" for n in sizes)]
    page = {
        "run": describe_run(command, given.date)
        | {"turbovec": getattr(turbovec, "__version__", "not installed"), "queries": QUERIES},
        "result": found,
    }
    given.results.write_text(f"{json.dumps(page, indent=1)}\n", encoding="utf-8")
    return 0


def measure(maker: VectorMaker, count: int, turbovec: Any | None) -> dict[str, Any]:
    """All kinds at one size."""
    rows, exact = _rows(maker, count)
    blocks = tuple(
        (first, VectorBlock(rows.codes[first : first + BLOCK], rows.scales[first : first + BLOCK], words))
        for first, words in zip(range(0, count, BLOCK), rows.bits, strict=True)
    )
    bank = BlockVectors(blocks, rows.codes.shape[1])
    everything = np.ones(count, np.bool_)

    def engine(query: NDArray[np.float32], kept: int) -> NDArray[np.int64]:
        return bank.nearest(query, everything, depth=kept, rescore=1)[0]

    own = Kind(ENGINE, rows.codes.shape[1] / 8, _KEPT, engine)
    tried = [own, *kinds(rows, turbovec)]
    cases = [(kind, kept) for kind in tried for kept in kind.kept]
    measured: list[list[tuple[float, float, float, int]]] = [[] for _ in cases]
    for query, best in zip(maker.queries[:QUERIES], exact, strict=True):
        for (kind, kept), into in zip(cases, measured, strict=True):
            into.append(_one(kind, query, _scaled(kept, count), rows, best))
    lines = [_line(kind, kept, into) for (kind, kept), into in zip(cases, measured, strict=True)]
    return {
        "n": count,
        "dimension": rows.codes.shape[1],
        "kinds": lines,
        "at_equal_recall": _at_equal_recall(lines),
    }


def _rows(maker: VectorMaker, count: int) -> tuple[Rows, list[NDArray[np.int64]]]:
    """Grown vectors as the engine keeps them, and the exact hundred of each query."""
    dimension = maker.real.shape[1]
    codes, scales = np.empty((count, dimension), np.int8), np.empty(count, np.float32)

    def blocks() -> Iterator[tuple[int, NDArray[np.float32]]]:
        for first, vectors in maker.blocks(count):
            codes[first : first + len(vectors)], scales[first : first + len(vectors)] = quantise_rows(vectors)
            yield first, vectors

    queries = maker.queries[:QUERIES]
    exact = exact_nearest(queries, [np.ones(count, np.bool_)] * len(queries), blocks(), DEPTH)
    return Rows.of(codes, scales), exact


def _scaled(kept: int, count: int) -> int:
    """As the engine keeps fewer of fewer rows."""
    return survivors(kept, count) if count < FULL_SIZE else kept


def _one(
    kind: Kind, query: NDArray[np.float32], kept: int, rows: Rows, best: NDArray[np.int64]
) -> tuple[float, float, float, int]:
    """CPU ms, shares of the exact among the candidates and after rescoring, and how many candidates."""
    began = time.process_time()
    found = kind.search(query, kept)
    if kind.name != ENGINE:
        scores = _rescored(query, found, rows)
    spent = (time.process_time() - began) * 1_000
    if kind.name == ENGINE:
        # Rescored inside the search already; once more for the answer, which is not timed.
        scores = _rescored(query, found, rows)
    answer = found[np.lexsort((found, -scores))][:DEPTH]
    return spent, float(np.isin(best, found).mean()), float(np.isin(best, answer).mean()), len(found)


def _rescored(query: NDArray[np.float32], found: NDArray[np.int64], rows: Rows) -> NDArray[np.float64]:
    halves, scale = split_query(query)
    return exact_dot(rows.codes.take(found, axis=0), halves) * (rows.scales[found].astype(np.float64) * scale)


def _line(kind: Kind, kept: int, found: Sequence[tuple[float, float, float, int]]) -> dict[str, Any]:
    spent, among, answered, many = (np.array(column) for column in zip(*found, strict=True))
    return {
        "kind": kind.name,
        "kept_of_a_million": kept,
        "candidates": round(float(many.mean())),
        "recall_of_candidates": round(float(among.mean()), 4),
        "recall_at_100": round(float(answered.mean()), 4),
        "cpu_ms": {
            "p50": round(float(np.median(spent)), 2),
            "p95": round(float(np.percentile(spent, 95)), 2),
        },
        "bytes_per_vector": round(kind.bytes_per_vector, 1),
    }


def _at_equal_recall(lines: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Per kind the least CPU, p50, at which ``FLOOR`` of the exact are candidates; ``None`` = never."""
    least: dict[str, float | None] = {}
    for line in lines:
        best = least.setdefault(line["kind"], None)
        if line["recall_of_candidates"] >= FLOOR:
            least[line["kind"]] = min(line["cpu_ms"]["p50"], math.inf if best is None else best)
    return least


if __name__ == "__main__":
    sys.exit(main())
