"""Measure recalls side by side: by processes and threads, beside a writer, and what each process keeps.

    PYTHONPATH=. python -m bench.run_concurrency --data ../shared/data --date 2026-11-28

A bank of ``bench scale`` is used or built, and copied, since it is written to. What is compared is measured
in slices that take turns, a few seconds each, so that whatever else the machine does falls on both sides:

    scaling   recalls per second of 1, 2 and 4 processes and of 1, 2 and 4 threads of one process, by that of
              one, round by round; the median of the rounds
    beside    one reader alone, then beside a process that retains memories one by one with the encoder, at a
              stated rate; alone again, then beside one that loads more than the tail may hold, so that the
              index is merged each time: p50 and p95, in wall time and CPU, and the ratio of the p95
    memory    of 1, 2 and 3 processes that have all asked, less what the same process keeps with an empty bank

The result is bench/results/concurrency.json. Wall times mean little where the machine is busy: the load
average stands beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.command import ROOT, describe_run
from bench.scale_bank import STORE, scale_bank
from bench.scale_data import real_vectors

from simonides.models.cache import models_folder
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.models.resolve import load_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORKER = "bench.concurrency_worker"
RESULT = "concurrency.json"
TOKENS = {"default"}
"""Profiles that want codes of tokens."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Attributes:
        profile: of the recalls.
        seconds: of one slice.
        rounds: slices of each sort.
        counts: of processes and of threads; begins with 1.
        rate: memories per second that the writer retains at most.
        rows: memories of one load; more than the tail may hold.
        processes: whose memory is measured.
        encoder: of the writer: ``own``, or ``kept`` for the vectors of the queries.
    """

    profile: str = "helix"
    seconds: float = 3.0
    rounds: int = 5
    counts: tuple[int, ...] = (1, 2, 4)
    rate: float = 5.0
    rows: int = 2_100
    processes: int = 3
    encoder: str = "own"


class Process:
    """A worker and the pipes to it."""

    def __init__(
        self, store: Path, folder: Path, plan: Plan, *, encoder: str = "kept", first: int = 0
    ) -> None:
        command = [sys.executable, "-m", WORKER, str(store), str(folder), plan.profile, encoder, str(first)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        self.answer()

    def order(self, do: str, **arguments: float) -> None:
        """Tell it what to do; ``answer`` waits until that is done."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """What it says about the last order."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError(f"a worker ended early with code {self._process.returncode}")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def together(processes: Sequence[Process], do: str, **arguments: float) -> list[dict[str, Any]]:
    """The same order to all at once."""
    for process in processes:
        process.order(do, **arguments)
    return [process.answer() for process in processes]


@contextmanager
def running(number: int, store: Path, folder: Path, plan: Plan) -> Iterator[list[Process]]:
    """Readers that have warmed up; each begins with another query."""
    with ExitStack() as stack:
        found = []
        for place in range(number):
            found.append(Process(store, folder, plan, first=100 * place % 500))
            stack.callback(found[-1].close)
        together(found, "warm")
        yield found


def measure(folder: Path, plan: Plan) -> dict[str, Any]:
    """Everything that is measured of the bank in *folder*, JSON-ready; the bank itself is not written to."""
    before = os.getloadavg()
    with TemporaryDirectory(prefix="simonides-bench-") as place:
        store = Path(place, STORE)
        shutil.copytree(folder / STORE, store)
        memory = measure_memory(store, Path(place, "empty"), folder, plan)
        scaling = measure_scaling(store, folder, plan)
        beside = measure_beside(store, folder, plan)
    return {
        "n": json.loads((folder / "about.json").read_text(encoding="utf-8"))["count"],
        "profile": plan.profile,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "slices": {"seconds": plan.seconds, "rounds": plan.rounds},
        "load_average": {"before": round(before[0], 2), "after": round(os.getloadavg()[0], 2)},
        "scaling": scaling,
        "beside": beside,
        "memory_mb": memory,
    }


def measure_memory(store: Path, empty: Path, folder: Path, plan: Plan) -> dict[str, Any]:
    """Memory of each of several processes at once, and of one with an empty bank."""
    with running(1, empty, folder, plan) as (alone,):
        alone.order("memory")
        base = alone.answer()
    found = []
    for number in range(1, plan.processes + 1):
        with running(number, store, folder, plan) as readers:
            each = together(readers, "memory")
        found.append({name: round(statistics.mean(one[name] for one in each), 1) for name in base})
    return {
        "empty": {name: round(value, 1) for name, value in base.items()},
        "each_of": {str(number): one for number, one in enumerate(found, 1)},
        "own_beyond_empty": round(found[-1]["anonymous"] - base["anonymous"], 1),
    }


def measure_scaling(store: Path, folder: Path, plan: Plan) -> dict[str, dict[str, dict[str, float]]]:
    """Recalls per second by number of processes and of threads."""
    rates: dict[str, dict[int, list[float]]] = {}
    cpus: dict[str, dict[int, list[float]]] = {}
    with running(max(plan.counts), store, folder, plan) as readers:
        for _ in range(plan.rounds):
            for sort in ("processes", "threads"):
                for count in plan.counts:
                    used, threads = (readers[:count], 1) if sort == "processes" else (readers[:1], count)
                    each = together(used, "recall", seconds=plan.seconds, threads=threads)
                    asked = sum(len(one["wall_ms"]) for one in each)
                    rate = sum(len(one["wall_ms"]) / one["seconds"] for one in each)
                    rates.setdefault(sort, {}).setdefault(count, []).append(rate)
                    spent = sum(one["cpu_seconds"] for one in each) * 1000 / asked
                    cpus.setdefault(sort, {}).setdefault(count, []).append(spent)
    return {
        sort: {
            str(count): {
                "per_second": round(statistics.median(found), 2),
                "by_one": round(_ratio(found, by_count[plan.counts[0]]), 3),
                "cpu_ms_by_one": round(_ratio(cpus[sort][count], cpus[sort][plan.counts[0]]), 3),
            }
            for count, found in by_count.items()
        }
        for sort, by_count in rates.items()
    }


def _ratio(many: Sequence[float], one: Sequence[float]) -> float:
    """The median over the rounds of what each round's slices say."""
    return statistics.median(several / alone for several, alone in zip(many, one, strict=True))


def measure_beside(store: Path, folder: Path, plan: Plan) -> dict[str, Any]:
    """A reader alone and beside a writer, in turns."""
    orders: Mapping[str, dict[str, float]] = {"retain": {"rate": plan.rate}, "load": {"rows": plan.rows}}
    slices: dict[str, dict[str, list[dict[str, Any]]]] = {
        name: {"alone": [], "beside": [], "writer": []} for name in orders
    }
    with running(1, store, folder, plan) as (reader,), ExitStack() as stack:
        writer = Process(store, folder, plan, encoder=plan.encoder, first=1)
        stack.callback(writer.close)
        for name, arguments in orders.items():
            # Its first write opens the bank and loads the model.
            together([writer], name, seconds=0.0, **arguments)
        for _ in range(plan.rounds):
            for name, arguments in orders.items():
                slices[name]["alone"] += together([reader], "recall", seconds=plan.seconds, threads=1)
                writer.order(name, seconds=plan.seconds, **arguments)
                slices[name]["beside"] += together([reader], "recall", seconds=plan.seconds, threads=1)
                slices[name]["writer"].append(writer.answer())
    return {name: _compared(found) for name, found in slices.items()}


def _compared(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Percentiles of the reader's recalls over all rounds, and what the writer did meanwhile."""
    sides = {
        side: {
            f"{clock}_{name}": round(
                _at([each for one in found[side] for each in one[f"{clock}_ms"]], share), 2
            )
            for clock in ("wall", "cpu")
            for name, share in (("p50_ms", 50), ("p95_ms", 95))
        }
        | {"recalls": sum(len(one["wall_ms"]) for one in found[side])}
        for side in ("alone", "beside")
    }
    ratios = {
        f"{clock}_p95_ratio": round(sides["beside"][f"{clock}_p95_ms"] / sides["alone"][f"{clock}_p95_ms"], 3)
        for clock in ("wall", "cpu")
    }
    written = sum(one["written"] for one in found["writer"])
    seconds = sum(one["seconds"] for one in found["writer"])
    return {**sides, **ratios, "written": written, "written_per_second": round(written / seconds, 2)}


def _at(values: Sequence[float], share: int) -> float:
    return float(np.percentile(values, share))


def main() -> int:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder that holds locomo/ and musique/")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--n", type=int, default=100_000, help="memories")
    usual = Plan()
    parser.add_argument("--profile", default=usual.profile, choices=("helix", "default"))
    parser.add_argument("--rate", type=float, default=usual.rate, help="memories retained a second")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    parser.add_argument("--keep", type=Path, default=models_folder().parent / "scale", help="for the banks")
    parser.add_argument("--workers", type=int, default=2, help="processes that prepare what is loaded")
    given = parser.parse_args()
    plan = Plan(profile=given.profile, rate=given.rate, rows=max(2_100, given.n // 45))
    said = ["--n", str(given.n), "--profile", plan.profile, "--rate", str(plan.rate)]
    result = measure(kept_bank(given), plan)
    page = {
        "run": describe_run(["python", "-m", "bench.run_concurrency", *said], given.date),
        "result": result,
    }
    given.results.mkdir(parents=True, exist_ok=True)
    text = f"{json.dumps(page, indent=2)}\n"
    (given.results / RESULT).write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


def kept_bank(given: argparse.Namespace) -> Path:
    """The folder of the bank, built now unless it is there."""
    embedder = load_embedder(DEFAULT_EMBEDDER)
    real = real_vectors(given.keep, given.data, embedder, seed=1)
    tokens = given.profile in TOKENS
    return scale_bank(given.keep, given.n, real, seed=1, tokens=tokens, workers=given.workers).folder


if __name__ == "__main__":
    sys.exit(main())
