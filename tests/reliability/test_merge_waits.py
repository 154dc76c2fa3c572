"""A merge that takes its time lets everyone recall and retain: it holds no lock while it writes.

The file layer of the bank that merges stands still in the middle of its files until the others have had their
answers, so that no clock decides.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.embedded_rows import embedded

import simonides
from simonides.index.files import FileLayer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from simonides.bank import Bank

LONGEST = 30
"""Seconds after which a test gives up waiting; reached only by a merge that does block."""


class Slow(FileLayer):
    """Waits inside the first file that is written until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        self.begun.set()
        assert self.go_on.wait(LONGEST), "the others were not answered while this waited"
        super().write(path, pieces)


@pytest.mark.parametrize("same_process", [True, False], ids=["another thread", "another store"])
def test_recalls_and_writes_go_on_during_a_merge(tmp_path: Path, same_process: bool) -> None:
    with simonides.open(tmp_path, embedder=None) as one, simonides.open(tmp_path, embedder=None) as two:
        merging = one.bank()
        merging.retain([f"walnut {i}" for i in range(30)])
        other = merging if same_process else two.bank()
        assert len(other.recall("walnut", limit=100, precision="wide")) == 30
        slow = embedded(merging._rows).cache.files = Slow()
        with ThreadPoolExecutor(2) as pool:
            merge = pool.submit(merging._rows.merge_if_due, force=True)
            try:
                assert slow.begun.wait(LONGEST)
                assert (
                    len(pool.submit(other.recall, "walnut", limit=100, precision="wide").result(LONGEST))
                    == 30
                )
                pool.submit(other.retain, ["walnut late"]).result(LONGEST)
                assert (
                    len(pool.submit(other.recall, "walnut", limit=100, precision="wide").result(LONGEST))
                    == 31
                )
                assert not merge.done(), "it ended before the others had their answers"
            finally:
                slow.go_on.set()
            assert merge.result(LONGEST), "what was stored meanwhile does not undo a merge"
        for bank in (merging, other):
            assert _figures(bank) == (2, 1, 31), "a sealed block and the tail"


def test_the_recall_after_a_merge_opens_only_what_the_merge_wrote(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None) as one, simonides.open(tmp_path, embedder=None) as two:
        mine, theirs = one.bank(), two.bank()
        mine.retain([f"walnut {i}" for i in range(40)])
        assert mine._rows.merge_if_due(force=True)
        mine.retain(["hazel"])
        for bank in (mine, theirs):
            assert len(bank.recall("walnut", limit=100, precision="wide")) == 40
        before = [_blocks(bank)[0] for bank in (mine, theirs)]
        assert mine._rows.merge_if_due(force=True)
        for bank, kept in zip((mine, theirs), before, strict=True):
            assert len(bank.recall("walnut hazel", limit=100, precision="wide")) == 41
            assert bank.stats()["blocks"] == 2
            assert _blocks(bank)[0] is kept, "with all that was found out about it"


def _blocks(bank: Bank) -> tuple[object, ...]:
    with bank._rows.reading() as reading:
        return reading.snapshot.blocks


def _figures(bank: Bank) -> tuple[int, int, int]:
    found = bank.stats()
    return found["blocks"], found["tail_rows"], found["memories"]
