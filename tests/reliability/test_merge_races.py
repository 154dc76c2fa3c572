"""Two processes that merge one index at the same moment: one wins, nothing is damaged, nothing is reported.

A second store on the same folder stands for the other process; the file layer lets it step in at the worst
moments, which chance meets too seldom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.embedded_rows import embedded

import simonides
from simonides.index.files import FileLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.reliability.conftest import AssertChannelsAgree

    from simonides.bank import Bank


class Interrupted(FileLayer):
    """Lets someone else act right before the first *call*."""

    def __init__(self, call: str, act: Callable[[], object]) -> None:
        super().__init__()
        self._call = call
        self._act = act

    def _before(self, call: str) -> None:
        if call == self._call:
            self._call = ""
            self._act()

    def make_folder(self, folder: Path) -> None:
        self._before("make_folder")
        super().make_folder(folder)

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        self._before("write")
        super().write(path, pieces)

    def read(self, path: Path) -> bytes:
        self._before("read")
        return super().read(path)


@pytest.mark.parametrize(
    ("call", "wins"),
    [
        pytest.param("make_folder", False, id="the other takes the number"),
        pytest.param("write", False, id="the other publishes a higher number and cleans up"),
        pytest.param("read", True, id="the other replaces what was just published"),
    ],
)
def test_another_process_merges_meanwhile(
    tmp_path: Path,
    call: str,
    wins: bool,
    assert_channels_agree: AssertChannelsAgree,
) -> None:
    with simonides.open(tmp_path, embedder=None) as one, simonides.open(tmp_path, embedder=None) as two:
        mine, theirs = one.bank(), two.bank()
        mine.retain([f"walnut {i}" for i in range(30)])

        def merge_theirs() -> None:
            theirs.retain([f"hazel {i}" for i in range(40)])
            assert theirs._rows.merge_if_due(force=True)

        files = Interrupted(call, merge_theirs)
        embedded(mine._rows).cache.files = files
        assert mine._rows.merge_if_due(force=True) is wins
        assert files._call == "", "the other never stepped in"
        for bank in (mine, theirs):
            assert bank.stats()["problems"] == []
            assert bank.stats()["blocks"] == 1
            assert len(bank.recall("walnut hazel", limit=100, precision="wide")) == 70
            assert_channels_agree(bank)
        assert _folders(mine) == [str(mine.stats()["generation"])]


def _folders(bank: Bank) -> list[str]:
    return FileLayer().names(embedded(bank._rows).cache.folder)
