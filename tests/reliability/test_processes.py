"""Writers and readers in processes of their own, all at one bank: nobody is turned away, nothing is missing."""

from __future__ import annotations

import json
import statistics
import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import Ack, AssertChannelsAgree, ReadAcks, Record, Say, Start, Stored

UNFAIR = 5
"""The slowest writer's mean wait over the median writer's, at most; with two writers it cannot reach 2."""

LONGEST_WAIT_SECONDS = 20
"""A third of the time after which a writer is told that another process held the bank for too long."""


@pytest.mark.fault("W2")
def test_two_writers_and_two_readers(crowd: Callable[..., Figures], say: Say) -> None:
    say(str(crowd(2, 2, "--seconds", 3, "--largest", 20, "--merge", 300)))


@pytest.mark.soak
@pytest.mark.fault("W2")
def test_two_writers_and_four_readers_for_ten_minutes(crowd: Callable[..., Figures], record: Record) -> None:
    figures = crowd(2, 4, "--seconds", 600, "--largest", 20)
    # Whoever gets here lost nothing and was never turned away.
    counts = {
        "retains": sum(len(writer) for writer in figures.acks),
        "looks": sum(one["looks"] for one in figures.readers),
        "locked": 0,
        "failed_reads": 0,
        "lost": 0,
        "worst_fairness": round(figures.fairness, 2),
    }
    record("P11", counts)


@pytest.mark.soak
@pytest.mark.fault("W2")
def test_four_writers_and_four_readers(crowd: Callable[..., Figures], say: Say) -> None:
    say(str(crowd(4, 4, "--retains", 250, "--largest", 1, "--merge", 100)))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a crowd did."""

    acks: list[list[Ack]]
    readers: list[dict[str, float]]

    @property
    def fairness(self) -> float:
        means = [statistics.mean(ack.seconds for ack in writer) for writer in self.acks]
        return max(means) / statistics.median(means)

    def __str__(self) -> str:
        waits = sorted(ack.seconds for writer in self.acks for ack in writer)
        retains = [len(writer) for writer in self.acks]
        looks = sum(one["looks"] for one in self.readers)
        return (
            f"{len(retains)} writers, {len(self.readers)} readers: {sum(retains)} retains ({retains}), "
            f"{looks} looks, no one turned away, "
            f"{sum(len(ack.ids) for writer in self.acks for ack in writer)} memories; fairness (mean wait, "
            f"max/median) {self.fairness:.2f}; a retain took {statistics.median(waits) * 1e3:.0f} ms, "
            f"99 % at most {waits[len(waits) * 99 // 100]:.2f} s, the longest {waits[-1]:.2f} s; "
            f"a look at most {max(one['slowest'] for one in self.readers):.2f} s"
        )


@pytest.fixture
def crowd(
    tmp_path: Path,
    start: Start,
    read_acks: ReadAcks,
    stored: Stored,
    assert_channels_agree: AssertChannelsAgree,
) -> Callable[..., Figures]:
    """Runs writers and readers side by side from the first moment, when the bank is not there yet."""

    def run(writers: int, readers: int, *how: object) -> Figures:
        store = tmp_path / "store"
        outputs = [tmp_path / f"w{i}.acks" for i in range(writers)]
        writing = []
        for i, output in enumerate(outputs):
            options = ("--seed", i, "--vectors", *how)
            with output.open("w") as file:
                writing.append(
                    start("writer.py", store, f"w{i}", *options, stdout=file, stderr=subprocess.PIPE)
                )
        reading = [
            start(
                "reader.py",
                store,
                *outputs,
                "--seed",
                i,
                "--vectors",
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for i in range(readers)
        ]
        for process in writing:
            _, errors = process.communicate()
            assert (process.returncode, errors) == (0, "")
        seen = []
        for process in reading:
            said, errors = process.communicate()
            assert (process.returncode, errors) == (0, "")
            seen.append(json.loads(said))
        lines = [output.read_text().splitlines(keepends=True) for output in outputs]
        assert [json.loads(said[-1]) for said in lines] == [{"end": True, "problems": []}] * writers
        figures = Figures([read_acks(said) for said in lines], seen)
        promised = {
            i: t for writer in figures.acks for ack in writer for i, t in zip(ack.ids, ack.texts, strict=True)
        }
        assert {one["seen"] for one in seen} == {len(promised)}
        with simonides.open(store, embedder=StubEmbedder(), create=False) as opened:
            assert stored(opened.bank()) == promised
            assert_channels_agree(opened.bank())
        assert figures.fairness <= UNFAIR
        assert max(ack.seconds for writer in figures.acks for ack in writer) < LONGEST_WAIT_SECONDS
        return figures

    return run


@pytest.mark.fault("W2")
def test_a_bank_made_by_all_at_once(
    tmp_path: Path, stored: Stored, assert_channels_agree: AssertChannelsAgree
) -> None:
    together = threading.Barrier(8)
    failures: list[Exception] = []

    def make(store: Path, name: str) -> None:
        together.wait()
        try:
            with simonides.open(store, embedder=None) as opened:
                opened.bank().retain(name)
        except Exception as error:  # noqa: BLE001 - a thread's errors reach no one else
            failures.append(error)

    for attempt in range(10):
        store = tmp_path / str(attempt)
        threads = [threading.Thread(target=make, args=(store, f"memory {i}")) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        with simonides.open(store, embedder=None, create=False) as opened:
            assert sorted(stored(opened.bank()).values()) == [f"memory {i}" for i in range(8)]
            assert_channels_agree(opened.bank())
