"""Build a bank of any size for ``bench scale``, or use the one that is there.

``FOLDER/scale-<count>-<digest>/`` holds the store, ``vectors.npy`` (float32, for the exact twin), which tags
the rows bear, the queries, and ``about.json``, which says how the intake went and is written last: a folder
without it is of a run that was cut off, and is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from simonides.errors import InputError
from simonides.evaluation.process_usage import Usage, usage
from simonides.evaluation.replayed import replayed
from simonides.evaluation.scale_graph import write_graph
from simonides.evaluation.scale_queries import make_queries, save_queries
from simonides.evaluation.scale_texts import BLOCK, TextMaker
from simonides.evaluation.scale_vectors import VectorMaker
from simonides.files import SHARED, new_file, write_file
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.evaluation.scale_base import RealVectors

    Progress = Callable[[str, int, int | None], None]

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
