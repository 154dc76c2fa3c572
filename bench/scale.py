"""Recall on banks of any size: what it costs by stage, how far it agrees with the exact twin, how it grows.

    python -m bench.scale --n 100000 --profile helix --data DATA --keep BANKS --against fts5-sqlite-vec

Each bank is measured in a process of its own (``scale_measure``), which starts with nothing in memory. Over
several sizes the growth is the slope of a line through (log n, log value): 1 = in proportion to the size.
Banks are kept under ``--keep``, because a million memories take minutes to load. With ``--date`` each size
and profile is written to a file of its own; ``docs/plot_scale.py`` draws them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.command import ROOT, bench_parser, encoder, run, say, write_result
from bench.scale_bank import BANK, STORE, VECTORS, scale_bank
from bench.scale_data import TextMaker, real_vectors
from bench.scale_measure import PEER_FILE
from bench.scale_peer import NAME as PEER
from bench.scale_peer import build_peer
from bench.scale_queries import load_queries

from simonides.errors import InputError, StoreError, UnknownNameError
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simonides.protocols import Embedder

    Progress = Callable[[str, int, int | None], None]


BUDGETS: Mapping[int, float] = {10_000: 9.0, 100_000: 18.0, 1_000_000: 40.0}
"""CPU milliseconds at the 95th percentile that a recall by ``helix`` may cost, less the encoder, by size."""

_FACTORS = {"helix": 1.0, "default": 1.5}
FEWEST = 1_000


@dataclass(frozen=True, slots=True)
class ScaleRun:
    """How a run is made.

    Attributes:
        keep: folder of the banks; those that are there are used.
        data: folder of the data sets, whose sentences are encoded; ``None`` = invented texts.
        embedder: encodes them.
        profile: name or path.
        against: ``fts5-sqlite-vec``, or empty.
        workers: processes that prepare items beside the one that stores.
        seed: of everything.
    """

    keep: Path
    data: Path | None
    embedder: Embedder
    profile: str = "helix"
    against: str = ""
    workers: int = 1
    seed: int = 1


def run_scale(run: ScaleRun, counts: Sequence[int], *, progress: Progress | None = None) -> dict[str, Any]:
    """Measure banks of *counts* memories.

    Args:
        run: how.
        counts: sizes, each from 1,000.
        progress: told (stage, done, all).

    Returns:
        for one size its measures; for several ``sizes`` (those of each) and ``slopes``.

    Raises:
        InputError: a size is too small, or a bank's folder cannot be used.
        UnknownNameError: there is no such peer.
        StoreError: the measuring process failed.
    """
    for count in counts:
        if count < FEWEST:
            raise InputError("n", f"{count} is too few to measure; give {FEWEST:,} or more")
    if run.against and run.against != PEER:
        raise UnknownNameError("against", run.against, (PEER,))
    plan = load_profile(run.profile)
    techniques = {step.technique for step in plan.channels} | {step.technique for step in plan.refiners}
    tokens = bool(techniques & {"late_interaction", "max_sim"})
    real = real_vectors(run.keep, run.data, run.embedder, seed=run.seed, progress=progress)
    found = []
    for count in sorted(counts):
        bank = scale_bank(
            run.keep, count, real, seed=run.seed, tokens=tokens, workers=run.workers, progress=progress
        )
        if run.against:
            vectors = np.load(bank.folder / VECTORS, mmap_mode="r")
            build_peer(bank.folder / PEER_FILE, TextMaker(count, run.seed), vectors, progress=progress)
        if progress:
            progress("measure", 0, None)
        found.append(_measured(bank.folder, run, count))
    return found[0] if len(found) == 1 else {"sizes": found, "slopes": slopes(found)}


def slopes(measured: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Growth by measure over several sizes; 1 = in proportion to the size."""
    values = {
        "cpu_p50": [one["cpu_ms"]["p50"] for one in measured],
        "cpu_p95": [one["cpu_ms"]["p95"] for one in measured],
        "private_growth_mb": [max(1.0, one["private_growth_mb"]) for one in measured],
        "mapped_mb": [one["mapped_mb"] for one in measured],
    }
    sizes = np.log([one["n"] for one in measured])
    return {name: round(float(np.polyfit(sizes, np.log(each), 1)[0]), 3) for name, each in values.items()}


def budget(profile: str, count: int) -> float | None:
    """CPU milliseconds at p95 for a bank of *count*, in proportion between the sizes; ``None`` = not set."""
    factor = _FACTORS.get(profile)
    if factor is None:
        return None
    at = np.interp(np.log10(count), np.log10(list(BUDGETS)), list(BUDGETS.values()))
    return round(factor * float(at), 1)


def _measured(folder: Path, run: ScaleRun, count: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.scale_measure", str(folder.resolve()), run.profile]
    answer = subprocess.run(
        [*command, run.against] if run.against else command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if answer.returncode:
        last = answer.stderr.strip().splitlines()[-1:] or ["it was killed"]
        raise StoreError(f"the bank of {count:,} could not be measured: {last[0]}")
    measured: dict[str, Any] = json.loads(answer.stdout)
    measured |= _cold_command(folder, run)
    stages = load_profile(run.profile).expected_ms
    measured["budgets"] = {
        "cpu_p95_ms": budget(run.profile, count),
        "stages_ms": {name: stages[name] for name in measured["stages"] if name in stages},
    }
    return measured


def _cold_command(folder: Path, run: ScaleRun) -> dict[str, float]:
    """A whole `simonides recall` in a process of its own, with the encoder; its bytecode is there already."""
    text = load_queries(folder).queries[0].text
    arguments = ["recall", text, "--store", str(folder / STORE), "--bank", BANK, "--profile", run.profile]
    with TemporaryDirectory(prefix="simonides-bench-") as compiled:
        environment = {
            **os.environ,
            "SIMONIDES_EMBEDDER": run.embedder.name,
            "PYTHONPYCACHEPREFIX": compiled,
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        _timed(arguments, environment)
        passed, spent = _timed(arguments, environment)
    return {"cold_command_ms": round(passed * 1000, 1), "cold_command_cpu_ms": round(spent * 1000, 1)}


def _timed(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds of wall time and of CPU that a command takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    answer = subprocess.run(
        [sys.executable, "-m", "simonides", *arguments], capture_output=True, check=False, env=environment
    )
    passed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    # 1 = nothing that matches, which costs as much.
    if answer.returncode > 1:
        raise StoreError(f"a cold recall failed: {answer.stderr.decode(errors='replace').strip()}")
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = bench_parser(__doc__)
    parser.add_argument("--n", type=int, action="append", help="memories (10000); may be repeated")
    parser.add_argument("--profile", action="append", help="name or path (helix); may be repeated")
    parser.add_argument("--data", type=Path, help="folder of the datasets, whose sentences give real vectors")
    parser.add_argument("--keep", type=Path, help="keep the banks there, and use those that are there")
    parser.add_argument("--against", default="", help=f"also ask {PEER} the same")
    parser.add_argument("--workers", type=int, default=1, help="processes that prepare what is loaded")
    parser.add_argument("--seed", type=int, default=1, help="of everything")
    given = parser.parse_args()
    place = TemporaryDirectory(prefix="simonides-bench-") if given.keep is None else nullcontext(given.keep)
    found = {}
    with place as folder:
        for profile in given.profile or ["helix"]:
            scale_run = ScaleRun(
                Path(folder),
                given.data,
                encoder(given.embedder),
                profile,
                given.against,
                given.workers,
                given.seed,
            )
            answer = run_scale(scale_run, given.n or [10_000], progress=say)
            found[profile] = answer
            for one in answer.get("sizes", [answer]) if given.date else ():
                file = f"scale-{profile}-{one['n']}"
                write_result(given.results, file, sys.argv[1:], given.date, one)
    print(json.dumps(found if len(found) > 1 else answer, indent=2))
    return 0


if __name__ == "__main__":
    run(main)
