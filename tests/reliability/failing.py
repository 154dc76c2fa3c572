"""Each k-th call of the disk fails, once or for good: no false acknowledgement, and the bank goes on."""

from __future__ import annotations

import errno
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unittest.mock import patch

from tests.embedded_rows import connection_of, embedded
from tests.reliability.disk import Disk, FaultyFiles, faulty_system

import simonides
from simonides.errors import SimonidesError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from simonides.bank import Bank

MODES = [
    (code, for_good, reads)
    for code in (errno.EIO, errno.ENOSPC)
    for for_good in (False, True)
    for reads in ((True, False) if code == errno.EIO else (False,))
]
"""Error, whether it stays, whether reads fail, too (a full disk can be read)."""


@dataclass
class Failures:
    """What the trials found.

    Attributes:
        trials: calls that were made to fail, each in a run of its own.
        calls: calls of a run without failure.
        refused: changes that were refused.
        acknowledged: changes that were acknowledged.
        lost, back, by_halves, corrupt, unhandled: each a fault of the product.
    """

    trials: int = 0
    calls: int = 0
    refused: int = 0
    acknowledged: int = 0
    lost: int = 0
    back: int = 0
    by_halves: int = 0
    corrupt: int = 0
    stuck: int = 0
    unhandled: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def harm(self) -> int:
        return self.lost + self.back + self.by_halves + self.corrupt + self.stuck + self.unhandled


@dataclass
class Run:
    """One run of the same changes."""

    failures: Failures
    where: str
    texts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    unsure: list[tuple[str, ...]] = field(default_factory=list)
    perhaps_gone: set[str] = field(default_factory=set)

    def attempt(self, change: Callable[[], object]) -> bool:
        """Try a change; a refusal is fine, any other error is not."""
        try:
            change()
        except SimonidesError:
            self.failures.refused += 1
            return False
        except Exception as error:  # noqa: BLE001 - whatever else comes out is a finding
            self.failures.unhandled += 1
            self.failures.problems.append(f"{self.where}: {type(error).__name__}: {error}")
            return False
        self.failures.acknowledged += 1
        return True


def fail_each_call(
    place: Path, *, modes: Iterable[tuple[int, bool, bool]], first: int, step: int
) -> Failures:
    """Run the changes once per call and mode.

    Args:
        place: an empty folder.
        modes: some of ``MODES``.
        first, step: which calls fail: first, first + step, …
    """
    failures = Failures()
    # Every load publishes what it stores.
    with faulty_system() as system, patch("simonides.backends.embedded.bulk_index.SMALLEST_PUBLISHED", 1):
        system.checkpoint_pages = 20
        for code, for_good, reads in modes:
            at, reached = first, True
            while reached:
                folder = place / f"{code}-{for_good}-{reads}-{at}"
                system.disk = Disk(fail_at=at, for_good=for_good, code=code, reads=reads)
                where = f"call {at} of {'all' if reads else 'writing'} calls, {errno.errorcode[code]}"
                run = Run(failures, where + (" for good" if for_good else ""))
                _run(folder, system.disk, run)
                reached = system.disk.failed
                failures.trials += reached
                failures.calls = max(failures.calls, system.disk.calls)
                system.disk.forget_all()
                system.disk = Disk()
                _judge(folder, run)
                shutil.rmtree(folder)
                at += step
    return failures


def _run(folder: Path, disk: Disk, run: Run) -> None:
    clock = FrozenClock()
    try:
        store = simonides.open(folder, embedder=StubEmbedder(dimension=8), clock=clock, environ={})
    except SimonidesError:
        return
    with store:
        bank: list[Bank] = []
        if not run.attempt(lambda: bank.append(store.bank())) and not run.attempt(
            lambda: bank.append(store.bank())
        ):
            return
        embedded(bank[0]._rows).cache.files = FaultyFiles(disk)
        for number in range(3):
            clock.advance(seconds=1)
            _retain(bank[0], run, tuple(f"Keeper {number} read gauge {number}{i}." for i in range(2)))
        run.attempt(lambda: bank[0]._rows.merge_if_due(force=True))
        for memory in sorted(run.texts)[:2]:
            clock.advance(seconds=1)
            run.attempt(lambda memory=memory: bank[0].invalidate(memory))  # type: ignore[misc]
            if run.attempt(lambda memory=memory: bank[0].forget(memory)):  # type: ignore[misc]
                run.gone.add(memory)
                run.texts.pop(memory)
            else:
                run.perhaps_gone.add(memory)
        run.attempt(lambda: bank[0]._rows.merge_if_due(force=True))
        for number in (3, 4):
            clock.advance(seconds=1)
            _load(bank[0], run, tuple(f"Keeper {number} read gauge {number}{i}." for i in range(3)))
        run.attempt(lambda: bank[0].recall("gauge 21"))
        if disk.failed and not disk.for_good:
            # It failed once and is well again: so must the bank be, without being opened anew.
            before = len(run.texts)
            _retain(bank[0], run, ("Keeper 9 read gauge 99.",))
            if len(run.texts) == before:
                run.failures.stuck += 1
                run.failures.problems.append(f"{run.where}: retain still refused after the disk was well")


def _load(bank: Bank, run: Run, texts: tuple[str, ...]) -> None:
    ids: list[str] = []
    vectors = StubEmbedder(dimension=8).encode(list(texts))
    if run.attempt(lambda: ids.extend(bank.load(texts, vectors))):
        run.texts |= zip(ids, texts, strict=True)
    else:
        run.unsure.append(texts)


def _retain(bank: Bank, run: Run, texts: tuple[str, ...]) -> None:
    ids: list[str] = []
    if run.attempt(lambda: ids.extend(bank.retain(list(texts), deduplicate=False))):
        run.texts |= zip(ids, texts, strict=True)
    else:
        run.unsure.append(texts)


def _judge(folder: Path, run: Run) -> None:
    """Open the bank on a disk that works."""
    failures = run.failures
    try:
        with simonides.open(folder, embedder=StubEmbedder(dimension=8), environ={}) as store:
            bank = store.bank()
            with bank._rows.reading() as reading:
                stored = dict(connection_of(reading).execute("SELECT id, text FROM memories GROUP BY id"))
            report = bank.verify()
            bank.retain("Stored when all was well again.")
    except Exception as error:  # noqa: BLE001
        failures.corrupt += 1
        failures.problems.append(f"{run.where}: cannot be opened: {type(error).__name__}: {error}")
        return
    if not report.ok:
        failures.corrupt += 1
        failures.problems.append(f"{run.where}: {report.problems[:3]}")
    kept = {memory: text for memory, text in run.texts.items() if memory not in run.perhaps_gone}
    failures.lost += sum(stored.get(memory) != text for memory, text in kept.items())
    failures.back += len(run.gone & stored.keys())
    rest = sorted(text for memory, text in stored.items() if memory not in run.texts)
    for texts in run.unsure:
        there = [text for text in texts if text in rest]
        failures.by_halves += len(there) not in {0, len(texts)}
