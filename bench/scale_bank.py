"""Build a bank of any size for ``bench.scale``, or use the one that is there.

``FOLDER/scale-<count>-<digest>/`` holds the store, ``vectors.npy`` (float32, for the exact twin), which tags
the rows bear, the queries, and ``about.json``, which says how the intake went and is written last: a folder
without it is of a run that was cut off, and is refused.

The bank gets the graph that years of use would have given it, written as real rows, because comparing a
million memories takes hours and it is known here who is near to whom:

    mentions   of every name that stands in a row's text; names follow a power law
    semantic   to the last two rows that were grown from the same real vector, weight = their cosine
    temporal   to the row before
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from bench.scale_data import BLOCK, TextMaker, VectorMaker
from bench.scale_queries import make_queries, replayed, save_queries

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.errors import InputError
from simonides.files import SHARED, new_file, write_file
from simonides.records.interval import to_micros
from simonides.retain.resolution import fold_name
from simonides.storage.folder import folder_name
from simonides.store import open_store
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.scale_data import RealVectors, TextBlock
    from numpy.typing import NDArray

    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.bank import Bank

    Progress = Callable[[str, int, int | None], None]


_NEAR = 2
_TEMPORAL_WEIGHT = 0.9


def write_graph(
    bank: Bank,
    store: Path,
    maker: TextMaker,
    vectors: NDArray[np.float32],
    bases: NDArray[np.int64],
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> dict[str, Any]:
    """Write mentions and links of every row; returns how many of each.

    Args:
        bank: loaded, row r being item r.
        store: folder of its store.
        maker: of the texts.
        vectors: of the rows.
        bases: what each row was grown from.
        progress: told ("write graph", done, all).
    """
    rows = EmbeddedBank(store / folder_name(bank.name), TextAnalyser(), create=False)
    latest = np.full((int(bases.max()) + 1, _NEAR), -1, np.int64)
    numbers: dict[int, int] = {}
    counts = {"mentions": 0, "links": 0}
    now = to_micros(datetime.now(UTC))
    try:
        for place in range(maker.blocks):
            block = maker.block(place)
            with rows.loading(now) as transaction:
                counts["mentions"] += _mention(transaction, maker, block, numbers)
                counts["links"] += _link(transaction, block, vectors, bases, latest)
                # One change tells every reader to look for new edges.
                transaction.links.log_later(block.first)
            if progress:
                progress("write graph", min(maker.count, (place + 1) * BLOCK), maker.count)
        rows.merge_if_due(force=True)
    finally:
        rows.close()
    return counts


def _mention(
    transaction: WriteTransaction, maker: TextMaker, block: TextBlock, numbers: dict[int, int]
) -> int:
    written = 0
    for row, names in enumerate(block.names.tolist()):
        for name in dict.fromkeys(name for name in names if name >= 0):
            if name not in numbers:
                spelled = maker.people[name]
                numbers[name] = transaction.entities.add(spelled, fold_name(spelled), "person", (), "")
            transaction.entities.add_mention(block.first + row, numbers[name])
            written += 1
    return written


def _link(
    transaction: WriteTransaction,
    block: TextBlock,
    vectors: NDArray[np.float32],
    bases: NDArray[np.int64],
    latest: NDArray[np.int64],
) -> int:
    written = 0
    for row in range(block.first, block.first + len(block.items)):
        for other in latest[bases[row]].tolist():
            if other >= 0:
                cosine = float(vectors[row] @ vectors[other])
                transaction.links.add(row, other, "semantic", min(1.0, max(0.0, round(cosine, 4))))
                written += 1
        latest[bases[row]] = (row, latest[bases[row], 0])
        if row:
            transaction.links.add(row, row - 1, "temporal", _TEMPORAL_WEIGHT)
            written += 1
    return written


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals since the process began.

    Attributes:
        wall: seconds on a clock that never goes back.
        own_cpu: seconds of CPU of this process, all threads.
        cpu: the same with children that have ended.
        written: bytes handed to the system by write calls.
        peak_mb: largest resident memory.
        load: average number of runnable processes over the last minute.
    """

    wall: float
    own_cpu: float
    cpu: float
    written: int
    peak_mb: float
    load: float


def usage() -> Usage:
    """What was used up to now."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Usage(
        wall=time.perf_counter(),
        own_cpu=own,
        cpu=own + children.ru_utime + children.ru_stime,
        written=_status("/proc/self/io").get("wchar", 0),
        # Kilobytes, but on macOS bytes.
        peak_mb=peak / (1 << 20 if sys.platform == "darwin" else 1 << 10),
        load=load_average(),
    )


def load_average() -> float:
    """Runnable processes over the last minute; 0 where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def resident_mb() -> tuple[float, float]:
    """Resident memory in MB: all of it, and what is private to the process (no file behind it)."""
    found = _status("/proc/self/status")
    if "VmRSS" in found:
        return found["VmRSS"] / 1024, found.get("RssAnon", 0) / 1024
    peak = usage().peak_mb
    return peak, peak


def _status(path: str) -> dict[str, int]:
    """Numbers by name from a file of the kernel; empty where there is none."""
    try:
        lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {
        name: int(value.split()[0]) for name, value in pairs if value.split() and value.split()[0].isdigit()
    }


BANK = "scale"
ABOUT, STORE, VECTORS, TAGGED = "about.json", "store", "vectors.npy", "tagged.npy"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class ScaleBank:
    """A bank that is ready to be asked.

    Attributes:
        folder: that holds it.
        about: how it was made: count, seed, tokens, intake.
    """

    folder: Path
    about: dict[str, Any]


def scale_bank(
    keep: Path,
    count: int,
    real: RealVectors,
    *,
    seed: int,
    tokens: bool,
    workers: int,
    progress: Progress | None = None,
) -> ScaleBank:
    """The bank of *count* memories in *keep*, built now unless it is there.

    Args:
        keep: made when missing.
        count: memories.
        real: what the vectors are grown from.
        seed: of everything.
        tokens: whether codes of tokens are stored, too.
        workers: processes that prepare items, as for ``Bank.load``.
        progress: told (stage, done, all).

    Raises:
        InputError: the folder is of a run that was cut off.
    """
    key = [
        _FORMAT,
        version("simonides"),
        count,
        seed,
        tokens,
        real.fingerprint,
        len(real.vectors),
        real.invented,
    ]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:8]
    folder = keep / f"scale-{count}-{digest}"
    if (folder / ABOUT).is_file():
        return ScaleBank(folder, json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    if folder.exists():
        raise InputError("keep", f"{folder} is of a run that was cut off; delete that folder and try again")
    _check_room(keep, count, tokens=tokens)
    folder.mkdir(parents=True)
    about = _Build(folder, count, real, seed, tokens, workers, progress).run()
    write_file(folder / ABOUT, json.dumps(about, indent=2), mode=SHARED)
    return ScaleBank(folder, about)


def _check_room(keep: Path, count: int, *, tokens: bool) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    needed = count * (12_000 if tokens else 9_000)
    free = shutil.disk_usage(keep).free
    if free < needed:
        raise InputError(
            "keep", f"{needed >> 20:,} MB are needed, {free >> 20:,} MB are free; name another disk"
        )


@dataclass(frozen=True, slots=True)
class _Build:
    folder: Path
    count: int
    real: RealVectors
    seed: int
    tokens: bool
    workers: int
    progress: Progress | None

    def run(self) -> dict[str, Any]:
        maker = TextMaker(self.count, self.seed)
        vectors, bases = self._grow()
        given = _Given(maker)
        tokens = GrownTokens(self.real, bases) if self.tokens else None
        before = usage()
        with open_store(self.folder / STORE, embedder=replayed(self.real), zone=UTC) as store:
            bank = store.bank(BANK)
            bank.load(given, vectors, tokens=tokens, workers=self.workers, progress=self._loaded)
            intake = _intake(self.count, before, usage(), given, self.folder)
            with new_file(self.folder / TAGGED, mode=SHARED) as file:
                np.save(file, np.concatenate(given.tagged))
            written = write_graph(bank, store.folder, maker, vectors, bases, progress=self.progress)
            stats = bank.stats()
        queries = make_queries(maker, VectorMaker(self.real.vectors, self.seed), self.real, self.seed)
        save_queries(self.folder, queries)
        return {
            "count": self.count,
            "seed": self.seed,
            "tokens": self.tokens,
            "encoder": self.real.name,
            "real_vectors": len(self.real.vectors),
            "invented_texts": self.real.invented,
            "intake": intake,
            "graph": written | {"entities": stats["entities"]},
            "workers": self.workers,
        }

    def _grow(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        grower = VectorMaker(self.real.vectors, self.seed)
        shape = (self.count, self.real.vectors.shape[1])
        vectors = np.lib.format.open_memmap(self.folder / VECTORS, "w+", np.float32, shape)
        bases = np.empty(self.count, np.int64)
        for first in range(0, self.count, BLOCK):
            stop = min(self.count, first + BLOCK)
            vectors[first:stop], bases[first:stop] = grower.block(first // BLOCK, stop - first)
            if self.progress:
                self.progress("grow vectors", stop, self.count)
        vectors.flush()
        mapped: NDArray[np.float32] = np.load(self.folder / VECTORS, mmap_mode="r")
        return mapped, bases

    def _loaded(self, done: int) -> None:
        if self.progress:
            self.progress("load", done, self.count)


class _Given:
    """The items of a load; making them is no part of the intake and timed apart."""

    def __init__(self, maker: TextMaker) -> None:
        self._maker = maker
        self.seconds = 0.0
        self.tagged: list[NDArray[np.bool_]] = []

    def __len__(self) -> int:
        return self._maker.count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in range(self._maker.blocks):
            start = time.thread_time()
            block = self._maker.block(number)
            self.tagged.append(block.tagged)
            self.seconds += time.thread_time() - start
            yield from block.items


class GrownTokens(Sequence["NDArray[np.float32]"]):
    """Token vectors of each row: those of the text that its vector was grown from."""

    def __init__(self, real: RealVectors, bases: NDArray[np.int64]) -> None:
        self._real = real
        self._bases = bases

    def __len__(self) -> int:
        return len(self._bases)

    @overload
    def __getitem__(self, place: int) -> NDArray[np.float32]: ...
    @overload
    def __getitem__(self, place: slice) -> list[NDArray[np.float32]]: ...
    def __getitem__(self, place: int | slice) -> NDArray[np.float32] | list[NDArray[np.float32]]:
        if isinstance(place, slice):
            return [self._real.tokens_of(int(base)) for base in self._bases[place]]
        return self._real.tokens_of(int(self._bases[place]))


def _intake(count: int, before: Usage, after: Usage, given: _Given, folder: Path) -> dict[str, float]:
    """Rates of the load alone, and how much was written for what is there."""
    made = given.seconds
    cpu = after.cpu - before.cpu - made
    files = (file for file in (folder / STORE).rglob("*") if file.is_file() and "db-" not in file.name)
    stored = sum(file.stat().st_size for file in files)
    return {
        "rows_per_second": round(count / (after.wall - before.wall - made), 1),
        "rows_per_cpu_second": round(count / cpu, 1),
        "own_cpu_us_per_row": round((after.own_cpu - before.own_cpu - made) / count * 1e6, 1),
        "workers_cpu_us_per_row": round(
            (after.cpu - after.own_cpu - before.cpu + before.own_cpu) / count * 1e6, 1
        ),
        "write_amplification": round((after.written - before.written) / stored, 2) if after.written else 0.0,
        "peak_mb": round(after.peak_mb, 1),
        "load_average": round(after.load, 2),
    }
