"""One process of ``run_concurrency``: opens a bank, then does what each line of standard input asks.

    python bench/concurrency_worker.py STORE FOLDER PROFILE ENCODER

FOLDER is that of ``bench scale`` whose queries are asked; STORE is a copy of its store, or an empty one.
ENCODER is ``kept`` (the vectors that came with the queries) or ``own`` (the model itself, which a writer
needs for new texts). Orders and answers are JSON, one a line.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    # Before numpy is imported: its own threads would take the cores that are shared out here.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from bench.scale_bank import BANK, VECTORS
from bench.scale_queries import ReplayedEmbedder, load_queries

from simonides.models.resolve import load_embedder
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.scale_queries import ScaleQuery

    from simonides.bank import Bank

WARMING = 24
"""Queries that are asked before anything is measured."""

_SMAPS = Path("/proc/self/smaps_rollup")


class Worker:
    """What a process does; each method is an order and returns its answer.

    Args:
        bank: opened by this process.
        queries: asked over and over, from *first* on.
        profile: of recalls.
        vectors: of the bank's own memories, for loads.
        first: where this process begins, so that two do not ask the same at once.
    """

    def __init__(
        self, bank: Bank, queries: tuple[ScaleQuery, ...], profile: str, vectors: Path, first: int
    ) -> None:
        self._bank = bank
        self._profile = profile
        self._queries = cycle(queries[first:] + queries[:first])
        self._texts = [query.text for query in queries]
        self._vectors = vectors
        self._written = first
        self._replayed = isinstance(bank.embedder, ReplayedEmbedder)

    def warm(self) -> dict[str, Any]:
        """Ask a few queries, so that what is measured later is no first time."""
        for _ in range(WARMING):
            self._ask()
        return {}

    def recall(self, seconds: float, threads: int) -> dict[str, Any]:
        """Ask in so many threads until *seconds* have passed; milliseconds of each recall.

        The CPU of one recall is known only where no other thread takes any.
        """
        start, before = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(lambda _: self._until(start + seconds), range(threads)))
        passed, spent = time.perf_counter() - start, time.process_time() - before
        walls, cpus = ([each for one in found for each in one[side]] for side in (0, 1))
        return {
            "seconds": passed,
            "cpu_seconds": spent,
            "wall_ms": walls,
            "cpu_ms": cpus if threads == 1 else [],
        }

    def _until(self, stop: float) -> tuple[list[float], list[float]]:
        walls: list[float] = []
        cpus: list[float] = []
        while not walls or time.perf_counter() < stop:
            wall, cpu = time.perf_counter(), time.process_time()
            self._ask()
            walls.append((time.perf_counter() - wall) * 1000)
            cpus.append((time.process_time() - cpu) * 1000)
        return walls, cpus

    def _ask(self) -> None:
        query = next(self._queries)
        self._bank.recall(query.text, profile=self._profile, **query.options)

    def retain(self, seconds: float, rate: float) -> dict[str, Any]:
        """Retain one memory after the other, *rate* a second at most, until *seconds* have passed."""
        start, before, written = time.perf_counter(), time.process_time(), 0
        while written == 0 or time.perf_counter() < start + seconds:
            self._written += 1
            text = self._texts[self._written % len(self._texts)]
            # With a number where the encoder takes any text: no memory that is there already.
            self._bank.retain(text if self._replayed else f"{text} {self._written}", deduplicate=False)
            written += 1
            time.sleep(max(0.0, min(start + written / rate, start + seconds) - time.perf_counter()))
        return self._wrote(start, before, written)

    def load(self, seconds: float, rows: int) -> dict[str, Any]:
        """Load *rows* embedded memories at a time; more than the tail may hold end with a merge."""
        start, before, written = time.perf_counter(), time.process_time(), 0
        vectors = np.load(self._vectors, mmap_mode="r")
        while written == 0 or time.perf_counter() < start + seconds:
            texts = [
                f"{self._texts[(self._written + n) % len(self._texts)]} {self._written + n}"
                for n in range(rows)
            ]
            places = (self._written + np.arange(rows)) % len(vectors)
            self._bank.load(texts, vectors[places])
            self._written += rows
            written += rows
        return self._wrote(start, before, written)

    def _wrote(self, start: float, before: float, written: int) -> dict[str, Any]:
        return {
            "seconds": time.perf_counter() - start,
            "cpu_seconds": time.process_time() - before,
            "written": written,
        }

    def memory(self) -> dict[str, float]:
        """MB of this process: its share of all (pss), its own alone (private), no file's (anonymous)."""
        found = dict(_kilobytes(_SMAPS.read_text(encoding="ascii")))
        return {
            "pss": found["Pss"] / 1024,
            "private": (found["Private_Clean"] + found["Private_Dirty"]) / 1024,
            "anonymous": found["Anonymous"] / 1024,
        }


def _kilobytes(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines()[1:]:
        name, value = line.split(":")
        yield name, int(value.split()[0])


def main() -> int:
    """Do what is asked until the input ends."""
    store, folder, profile, encoder, first = sys.argv[1:]
    # Recalls on a busy machine are slow, and each would be said.
    logging.disable()
    made = load_queries(Path(folder))
    embedder = load_embedder(made.embedder.name, workers=1) if encoder == "own" else made.embedder
    with open_store(store, embedder=embedder, environ={}) as opened:
        worker = Worker(opened.bank(BANK), made.queries, profile, Path(folder, VECTORS), int(first))
        print(json.dumps({}), flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            print(json.dumps(getattr(worker, order.pop("do"))(**order)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
