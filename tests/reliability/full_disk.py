"""A process that fills its disk with retains again and again, and checks what it was promised each time.

    python full_disk.py FOLDER disk|limit [--trials N] [--seed N]

``disk``: FOLDER is a small file system, and a file of random size leaves little room on it. ``limit``: no file
may grow past a random size, which needs no rights. Each trial makes a bank, retains until it is refused, opens
it anew without any room, makes room, and retains again. Prints {"trials": …, "acknowledged": …, "refusals": {…}}.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import simonides
from simonides.backends.embedded import merge
from simonides.errors import UnavailableError
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.store import Store

LEAST_ROOM, MOST_ROOM = 300_000, 3_000_000
"""Bytes; an empty bank needs about 150,000."""

SHARED_MEMORY = 32_768
"""Bytes that SQLite needs to open a bank for writing; a limit below it is no full disk, but a broken system."""


class Disk:
    """Room on a small file system."""

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"

    def shrink(self, room: int) -> None:
        system = os.statvfs(self._ballast.parent)
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, system.f_bavail * system.f_frsize - room))

    def exhaust(self) -> None:
        self.grow()
        self.shrink(0)

    def grow(self) -> None:
        self._ballast.unlink(missing_ok=True)


class Limit:
    """The size that any one file may have."""

    def shrink(self, room: int) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))

    def exhaust(self) -> None:
        self.shrink(SHARED_MEMORY)

    def grow(self) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def main() -> None:
    asked = _arguments()
    chance = random.Random(asked.seed)
    space = Disk(asked.folder) if asked.means == "disk" else Limit()
    # Merges run out of room, too; they may fail, what was retained before them may not.
    merge.SMALLEST_MERGE = 150
    acknowledged, refusals = 0, Counter[str]()
    for trial in range(asked.trials):
        count, refused = _trial(asked.folder / f"store{trial}", space, chance)
        acknowledged += count
        refusals.update(refused)
        shutil.rmtree(asked.folder / f"store{trial}")
    said = {"trials": asked.trials, "acknowledged": acknowledged, "refusals": refusals}
    sys.stdout.write(json.dumps(said) + "\n")


def _trial(folder: Path, space: Disk | Limit, chance: random.Random) -> tuple[int, list[str]]:
    promised: dict[str, str] = {}
    refusals = []
    with _opened(folder) as store:
        bank = store.bank()
        _retain(bank, promised, 5)
        space.shrink(chance.randint(LEAST_ROOM, MOST_ROOM))
        refusals.append(_fill(bank, promised, chance))
        _check(bank, promised)
    # Closed without room for folding the log away, then opened and read on a disk as full as can be.
    space.exhaust()
    with _opened(folder) as store:
        bank = store.bank()
        _check(bank, promised)
        refusals.append(_fill(bank, promised, chance))
        _check(bank, promised)
        space.grow()
        _retain(bank, promised, 200)
        _check(bank, promised)
        assert bank.stats()["problems"] == [], (
            "there is room again and the retain merged, but the index is not well"
        )
    # Closed with room: now there is no log, and no room to make one.
    space.exhaust()
    with _opened(folder) as store:
        bank = store.bank()
        _check(bank, promised)
        refusals.append(_fill(bank, promised, chance))
        _check(bank, promised)
        space.grow()
        # What someone else writes first is seen here, too.
        with _opened(folder) as other:
            _retain(other.bank(), promised, 5)
            _check(bank, promised)
        _check(bank, promised)
        _retain(bank, promised, 5)
        _check(bank, promised)
    return len(promised), refusals


def _opened(folder: Path) -> Store:
    return simonides.open(folder, embedder=StubEmbedder())


def _fill(bank: Bank, promised: dict[str, str], chance: random.Random) -> str:
    """Retain until it is refused; returns the refusal without the file's name."""
    while True:
        try:
            _retain(bank, promised, chance.randint(1, 300))
        except UnavailableError as error:
            return str(error).partition("memory.db: ")[2]


def _retain(bank: Bank, promised: dict[str, str], size: int) -> None:
    texts = [f"item d{len(promised) + i} of a batch of {size}" for i in range(size)]
    promised |= zip(bank.retain(texts), texts, strict=True)


def _check(bank: Bank, promised: dict[str, str]) -> None:
    """Exactly what was acknowledged is there, and both channels find the newest."""
    memory, text = list(promised.items())[-1]
    hits = {hit.id: hit for hit in bank.recall(text)}
    assert set(hits[memory].ranks) == {"dense", "lexical"}
    with bank._rows.reading() as reading:
        assert dict(cast("Any", reading).connection.execute("SELECT id, text FROM memories")) == promised
    # The arrays may be waiting for room, in memory; that is said, and is no damage.
    problems = [
        line for line in bank.verify().problems if not line.startswith("the index could not be written")
    ]
    assert problems == []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("means", choices=["disk", "limit"])
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
