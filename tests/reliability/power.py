"""Power cuts during retain, load, invalidate, forget and merge, and what is found when the power is back."""

from __future__ import annotations

import contextlib
import random
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from unittest.mock import patch

import apsw
from tests.embedded_rows import connection_of, embedded
from tests.reliability.disk import Disk, FaultyFiles, faulty_system

import simonides
from simonides.errors import SimonidesError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank

CUTS_PER_BANK = 25
FURTHEST_CALL = 400
"""A trial of five changes makes about as many calls of the disk."""


@dataclass
class Cuts:
    """What the trials found."""

    trials: int = 0
    acknowledged: int = 0
    in_opening: int = 0
    in_change: int = 0
    in_closing: int = 0
    at_rest: int = 0
    lost: int = 0
    back: int = 0
    by_halves: int = 0
    corrupt: int = 0
    problems: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if name != "problems"}

    @property
    def harm(self) -> int:
        return self.lost + self.back + self.by_halves + self.corrupt


@dataclass
class Promises:
    """What was acknowledged, and what was under way when the power went."""

    texts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    retaining: tuple[str, ...] = ()
    forgetting: str = ""
    number: int = 0
    clock: FrozenClock = field(default_factory=lambda: FrozenClock(datetime(2026, 3, 2, tzinfo=UTC)))

    def judge(self, stored: dict[str, str], cuts: Cuts) -> None:
        """Compare with the rows; what was under way is settled by what they hold."""
        if self.forgetting and self.forgetting not in stored:
            self.texts.pop(self.forgetting, None)
        missing = [memory for memory, text in self.texts.items() if stored.get(memory) != text]
        cuts.lost += len(missing)
        cuts.back += len(self.gone & stored.keys())
        unasked = {memory: text for memory, text in stored.items() if memory not in self.texts}
        if unasked and sorted(unasked.values()) != sorted(self.retaining):
            cuts.by_halves += 1
        self.texts = dict(stored)
        self.retaining, self.forgetting = (), ""


def cut_power(
    place: Path, *, trials: int, seed: int, synchronous: str = "", stop_at_harm: bool = False
) -> Cuts:
    """Run trials; several share one bank.

    Args:
        place: an empty folder.
        trials: how many cuts.
        seed: of all chances.
        synchronous: SQLite's setting in place of the product's own, for controls.
        stop_at_harm: for controls: begin a new bank after damage rather than go on with a broken one.
    """
    chance, cuts = random.Random(seed), Cuts()
    template = place / "template"
    with simonides.open(
        template, embedder=StubEmbedder(dimension=8), clock=FrozenClock(), environ={}
    ) as store:
        store.bank().retain("The first memory of the bank.")
        with store.bank()._rows.reading() as reading:
            first = dict(connection_of(reading).execute("SELECT id, text FROM memories"))
    # Every load publishes what it stores.
    with faulty_system() as system, patch("simonides.backends.embedded.bulk_index.SMALLEST_PUBLISHED", 1):
        while cuts.trials < trials:
            system.checkpoint_pages = chance.choice((16, 100, 1000))
            folder = place / f"store{cuts.trials}"
            shutil.copytree(template, folder)
            promises = Promises(texts=dict(first))
            for _ in range(min(CUTS_PER_BANK, trials - cuts.trials)):
                harm = cuts.harm
                system.disk = Disk(fail_at=chance.randint(1, FURTHEST_CALL), cut=True)
                _trial(folder, system.disk, promises, chance, cuts, synchronous)
                system.disk.lose_power(chance)
                cuts.trials += 1
                if stop_at_harm and cuts.harm > harm:
                    break
            system.disk = Disk()
            _looked_at(folder, system.disk, promises, cuts)
            shutil.rmtree(folder)
    return cuts


def _trial(
    folder: Path, disk: Disk, promises: Promises, chance: random.Random, cuts: Cuts, synchronous: str
) -> None:
    stage = "in_opening"
    try:
        with _opened(folder, disk, promises, cuts, synchronous) as bank:
            stage = "in_change"
            for _ in range(5):
                _change(bank, promises, chance)
                cuts.acknowledged += 1
            stage = "in_closing"
    except Exception as error:  # noqa: BLE001 - whatever damage leads to is a finding
        if not disk.dead or not isinstance(error, SimonidesError | apsw.Error | OSError):
            cuts.corrupt += 1
            cuts.problems.append(f"trial {cuts.trials}: {type(error).__name__}: {error}")
            return
    # Closing swallows what goes wrong: all was acknowledged before.
    where = stage if disk.dead else "at_rest"
    setattr(cuts, where, getattr(cuts, where) + 1)


@contextlib.contextmanager
def _opened(folder: Path, disk: Disk, promises: Promises, cuts: Cuts, synchronous: str) -> Iterator[Bank]:
    with simonides.open(
        folder, embedder=StubEmbedder(dimension=8), clock=promises.clock, environ={}, create=False
    ) as store:
        bank = store.bank()
        embedded(bank._rows).cache.files = FaultyFiles(disk)
        if synchronous:
            for connection in apsw.connections():
                connection.pragma("synchronous", synchronous)
        _check(bank, disk, promises, cuts)
        yield bank


def _check(bank: Bank, disk: Disk, promises: Promises, cuts: Cuts) -> None:
    with bank._rows.reading() as reading:
        stored = dict(connection_of(reading).execute("SELECT id, text FROM memories"))
    promises.judge(stored, cuts)
    report = bank.verify()
    if not report.ok and not disk.dead:
        cuts.corrupt += 1
        cuts.problems.append(f"trial {cuts.trials}: {report.problems[:3]}")


def _looked_at(folder: Path, disk: Disk, promises: Promises, cuts: Cuts) -> None:
    try:
        with _opened(folder, disk, promises, cuts, ""):
            pass
    except Exception as error:  # noqa: BLE001
        cuts.corrupt += 1
        cuts.problems.append(f"after trial {cuts.trials}: {type(error).__name__}: {error}")


def _change(bank: Bank, promises: Promises, chance: random.Random) -> None:
    what = chance.choices(("retain", "load", "forget", "invalidate", "merge"), (4, 3, 2, 1, 1))[0]
    known = sorted(promises.texts)
    promises.clock.advance(seconds=1)
    if what in {"retain", "load"} or not known:
        size = chance.randint(1, 3)
        texts = tuple(
            f"Keeper {promises.number + i} read gauge {chance.randint(1, 99)}." for i in range(size)
        )
        promises.number += size
        promises.retaining = texts
        if what == "load":
            ids = bank.load(texts, StubEmbedder(dimension=8).encode(list(texts)))
        else:
            ids = bank.retain(list(texts), deduplicate=False)
        promises.texts |= zip(ids, texts, strict=True)
        promises.retaining = ()
    elif what == "forget":
        promises.forgetting = chance.choice(known)
        bank.forget(promises.forgetting)
        promises.gone.add(promises.forgetting)
        promises.texts.pop(promises.forgetting)
        promises.forgetting = ""
    elif what == "invalidate":
        bank.invalidate(chance.choice(known))
    else:
        bank._rows.merge_if_due(force=True)
