"""Threads that retain, recall and forget through one store at once: exact counts, no exception."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.backends.embedded import merge
from simonides.errors import NotFoundError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reliability.conftest import AssertChannelsAgree, Stored

    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

THREADS, ROUNDS, BATCH = 8, 12, 7


def test_eight_threads_on_one_store(
    tmp_path: Path,
    clock: FrozenClock,
    stub_embedder: StubEmbedder,
    stored: Stored,
    assert_channels_agree: AssertChannelsAgree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merge, "SMALLEST_MERGE", 60)
    together = threading.Barrier(THREADS)
    kept: dict[str, str] = {}
    failures: list[Exception] = []

    def work(name: int) -> None:
        together.wait()
        # Odd threads share one Bank, even ones ask the store for their own each round.
        bank = shared
        for round_ in range(ROUNDS):
            if name % 2 == 0:
                bank = store.bank()
            texts = [f"thread {name} round {round_} item {name}x{round_}x{i}" for i in range(BATCH)]
            ids = bank.retain(texts)
            bank.forget(ids[0])
            with pytest.raises(NotFoundError):
                bank.get_memory(ids[0])
            assert bank.get_memory(ids[-1]).text == texts[-1]
            hits = [hit.id for hit in bank.recall(texts[-1])]
            assert ids[-1] in hits
            assert ids[0] not in hits
            kept.update(zip(ids[1:], texts[1:], strict=True))

    def guarded(name: int) -> None:
        try:
            work(name)
        except Exception as error:  # noqa: BLE001 - a thread's errors reach no one else
            failures.append(error)

    with simonides.open(tmp_path, embedder=stub_embedder, clock=clock) as store:
        shared = store.bank()
        threads = [threading.Thread(target=guarded, args=(name,)) for name in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert stored(shared) == kept
        assert shared.stats()["current"] == len(kept) == THREADS * ROUNDS * (BATCH - 1)
        assert shared.stats()["problems"] == []
        report = shared.verify()
        assert report.ok, report.problems


def test_a_store_may_be_closed_while_a_thread_uses_it(tmp_path: Path) -> None:
    """The thread gets an error that says so; what it was promised is kept."""
    promised: dict[str, str] = {}
    ended: list[Exception] = []

    def work(bank: Bank, started: threading.Event) -> None:
        try:
            while True:
                text = f"item {len(promised)}"
                promised[bank.retain(text)[0]] = text
                bank.recall(text)
                started.set()
        except Exception as error:  # noqa: BLE001 - looked at below
            ended.append(error)

    for _ in range(20):
        started = threading.Event()
        with simonides.open(tmp_path, embedder=None) as store:
            thread = threading.Thread(target=work, args=(store.bank(), started))
            thread.start()
            started.wait()
        thread.join()
    assert [type(error) for error in ended] == [StoreError] * 20
    assert all("open" in str(error) for error in ended)
    with simonides.open(tmp_path, embedder=None) as again:
        assert {memory: again.bank().get_memory(memory).text for memory in promised} == promised
