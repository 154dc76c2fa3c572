from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import pytest

from simonides.backends.embedded.merge import SMALLEST_MERGE
from simonides.index.block import LARGEST_BLOCK
from simonides.index.files import FileLayer
from simonides.index.generation import read_generation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.unit.backends.embedded.conftest import Desk, Found

    from simonides.backends.embedded.bank import EmbeddedBank
    from simonides.index.generation import Generation

QUERIES = ["fuse number 3", "cellar", "lamp"]


def answers(desk: Desk, bank: EmbeddedBank) -> list[Found]:
    return [desk.search(bank, query) for query in QUERIES]


def folders(desk: Desk) -> list[int]:
    return sorted(int(path.name) for path in (desk.place / "bank" / "index").iterdir())


def current(desk: Desk, bank: EmbeddedBank) -> Generation:
    with bank.reading() as reading:
        return read_generation(
            FileLayer(), desk.place / "bank" / "index", reading.meta.generation, check=True
        )


def blocks(desk: Desk, bank: EmbeddedBank) -> list[int]:
    """Rows per block of the current generation."""
    return [block.rows for block in current(desk, bank).blocks]


def test_the_documented_sizes() -> None:
    assert (SMALLEST_MERGE, LARGEST_BLOCK) == (2_000, 65_536)


def test_the_write_that_takes_the_tail_past_its_size_merges_before_it_returns(
    desk: Desk, small_merges: int
) -> None:
    bank = desk.open()
    desk.retain(bank, "a", "b", "c")
    assert desk.index_files() == []
    desk.retain(bank, "d")
    assert desk.index_files() == [
        "1/block-0.arr",
        "1/expired.arr",
        "1/graph.arr",
        "1/manifest.json",
    ]
    assert bank.stats()["tail_rows"] == 0
    assert bank.stats()["blocks"] == 1


def test_a_large_bank_lets_its_tail_grow_to_two_percent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 1)
    desk.embedder = None
    bank = desk.open()
    desk.retain(bank, *(f"fuse {n}" for n in range(300)))
    generation = bank.stats()["generation"]
    desk.retain(bank, *(f"lamp {n}" for n in range(6)))
    assert (bank.stats()["generation"], bank.stats()["tail_rows"]) == (generation, 6)
    desk.retain(bank, "one more")
    assert (bank.stats()["generation"], bank.stats()["tail_rows"]) == (generation + 1, 0)


def test_a_merge_is_only_done_when_it_is_due_or_forced(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    assert not bank.merge_if_due()
    assert desk.index_files() == []
    assert bank.merge_if_due(force=True)
    assert bank.merge_if_due(force=True), "also when there is nothing new"
    assert folders(desk) == [1, 2], "the block stays in the folder it was written to"
    assert blocks(desk, bank) == [1]


def test_an_empty_bank_can_be_merged(desk: Desk) -> None:
    bank = desk.open()
    assert bank.merge_if_due(force=True)
    assert blocks(desk, bank) == []
    desk.retain(bank, "fuse")
    assert len(desk.search(bank, "fuse").lexical) == 1
    assert bank.verify().ok


@pytest.mark.spec("DF-06")
def test_a_merge_changes_no_answer(desk: Desk) -> None:
    bank = desk.open()
    ids = desk.retain(bank, *(f"fuse number {n} in the cellar" for n in range(9)), "lamp")
    desk.forget(bank, ids[2:4])
    before = answers(desk, bank)
    assert bank.merge_if_due(force=True)
    assert repr(answers(desk, bank)) == repr(before)
    assert repr(answers(desk, desk.open())) == repr(before)


@pytest.mark.parametrize("batch", [1, 3])
def test_many_small_merges_leave_few_blocks_and_write_each_row_few_times(
    desk: Desk, unsynced: None, batch: int
) -> None:
    written = 0

    class Counting(FileLayer):
        def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
            nonlocal written
            if path.name.startswith("block-"):
                name = path.name.removeprefix("block-").removesuffix(".arr")
                written += rows - int(name)
            super().write(path, pieces)

    bank = desk.open(files=Counting())
    desk.embedder = None
    rows = 0
    for turn in range(64):
        desk.retain(bank, *(f"fuse {turn} {n}" for n in range(batch)))
        rows += batch
        assert bank.merge_if_due(force=True)
        sizes = blocks(desk, bank)
        assert sum(sizes) == rows
        assert len(sizes) <= math.log2(turn + 1) + 1, "as the digits of a binary counter"
        assert sizes == sorted(sizes, reverse=True)
    assert written <= rows * (math.log2(64) + 1)
    used = {file.generation for file in current(desk, bank).files} | {64}
    assert set(folders(desk)) == used, "folders that nobody uses are gone"
    assert bank.verify().ok


def test_a_full_block_is_never_written_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("merge", "catch_up"):
        monkeypatch.setattr(f"simonides.backends.embedded.{module}.LARGEST_BLOCK", 8)
    bank = desk.open()
    desk.embedder = None
    for turn in range(20):
        desk.retain(bank, f"fuse {turn}", f"lamp {turn}")
        bank.merge_if_due(force=True)
        assert max(blocks(desk, bank)) <= 8
    files = current(desk, bank).files
    assert [file.rows for file in files] == [8, 8, 8, 8, 8]
    for file in files[:-1]:
        assert file.generation == (file.start + file.rows) // 2, "written when it became full and never since"
    before = answers(desk, bank)
    bank.close()
    for path in (desk.place / "bank" / "index").rglob("*.arr"):
        path.unlink()
    again = desk.open()
    assert repr(answers(desk, again)) == repr(before)
    assert blocks(desk, again) == [8, 8, 8, 8, 8], "rebuilt in full blocks"
    assert again.verify().ok


@pytest.mark.fault("W4")
def test_forgetting_a_sealed_row_rewrites_its_block_and_no_other(desk: Desk, small_merges: int) -> None:
    bank = desk.open()
    ids: list[str] = []
    for size in (9, 5, 2):
        ids += desk.retain(bank, *(f"fuse {len(ids) + n}" for n in range(size)))
        bank.merge_if_due(force=True)
    assert blocks(desk, bank) == [9, 5, 2]
    first, second, third = current(desk, bank).files
    desk.forget(bank, [ids[10]])
    files = current(desk, bank).files
    assert (files[0], files[2]) == (first, third)
    assert files[1].generation > second.generation
    assert (files[1].start, files[1].rows) == (second.start, second.rows)
    assert current(desk, bank).expired == {}, "nothing is left to lay over it"
    before = desk.index_files()
    assert not bank.merge_if_due()
    assert desk.index_files() == before, "once is enough"


def test_forgetting_a_row_of_the_tail_writes_no_index(desk: Desk, small_merges: int) -> None:
    bank = desk.open()
    desk.retain(bank, *"abcd")
    before = desk.index_files()
    (memory,) = desk.retain(bank, "e")
    assert desk.forget(bank, [memory]) == 1
    assert desk.index_files() == before
    desk.retain(bank, *"fghi")
    assert blocks(desk, bank) == [9]
    assert bank.verify().ok


def test_many_newer_stamps_are_written_into_the_blocks(desk: Desk, small_merges: int) -> None:
    bank = desk.open()
    ids = desk.retain(bank, *(f"fuse {n}" for n in range(20)))
    desk.forget(bank, ids[3:9])
    assert current(desk, bank).expired == {}
    assert len(desk.search(bank, "fuse").lexical) == 14
    assert bank.verify().ok


class Interrupting(FileLayer):
    """Lets another writer act just before the *at*-th call of a method."""

    def __init__(self, method: str, at: int, act: Callable[[], Any]) -> None:
        super().__init__()
        self._method, self._left, self._act = method, at, act

    def _may_act(self, method: str) -> None:
        if method == self._method and self._left:
            self._left -= 1
            if not self._left:
                self._act()

    def make_folder(self, folder: Path) -> None:
        self._may_act("make_folder")
        super().make_folder(folder)

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        self._may_act("write")
        super().write(path, pieces)

    def sync_folder(self, folder: Path) -> None:
        self._may_act("sync_folder")
        super().sync_folder(folder)


@pytest.mark.fault("W2")
@pytest.mark.parametrize(
    ("method", "at"),
    [
        ("make_folder", 1),
        ("sync_folder", 1),
        ("write", 1),
        ("write", 2),
        ("write", 3),
        ("write", 4),
        ("sync_folder", 2),
    ],
)
@pytest.mark.parametrize("change", ["none", "retain", "forget"])
def test_of_two_merges_at_once_one_wins_and_both_read_the_same(
    desk: Desk, method: str, at: int, change: str
) -> None:
    other = desk.open()
    ids = desk.retain(other, *(f"fuse number {n} in the cellar" for n in range(6)), "lamp")
    outcome: list[bool] = []

    def win() -> None:
        if change == "retain":
            desk.retain(other, "a late lamp")
        if change == "forget":
            desk.forget(other, ids[:1])
        outcome.append(other.merge_if_due(force=True))

    bank = desk.open(files=Interrupting(method, at, win))
    assert not bank.merge_if_due(force=True), "the slower one lost"
    assert outcome == [True]
    assert bank.problems() == other.problems() == [], "to lose is no problem"
    published = current(desk, other)
    assert folders(desk) == [published.number], "the loser's folder is gone, the winner's is not"
    assert repr(answers(desk, bank)) == repr(answers(desk, other)) == repr(answers(desk, desk.open()))
    assert bank.verify().ok
    assert bank.merge_if_due(force=True), "and the next one may win"
    assert repr(answers(desk, bank)) == repr(answers(desk, other))
    assert desk.open().verify().ok


class Sticky(FileLayer):
    """A platform that does not delete files which are in use."""

    def remove_folder(self, folder: Path) -> None:
        pass


@pytest.mark.fault("W2")
@pytest.mark.parametrize("change", ["none", "retain", "forget"])
def test_a_merge_whose_files_are_all_written_still_loses_to_one_that_was_published_meanwhile(
    desk: Desk, change: str
) -> None:
    other = desk.open(files=Sticky())
    ids = desk.retain(other, *(f"fuse number {n} in the cellar" for n in range(6)), "lamp")

    def win() -> None:
        if change == "retain":
            desk.retain(other, "a late lamp")
        if change == "forget":
            desk.forget(other, ids[:1])
        assert other.merge_if_due(force=True)

    bank = desk.open(files=Interrupting("sync_folder", 2, win))
    assert not bank.merge_if_due(force=True)
    assert folders(desk) == [current(desk, other).number] == [2], "it deleted its own files"
    assert bank.problems() == other.problems() == []
    assert repr(answers(desk, bank)) == repr(answers(desk, other)) == repr(answers(desk, desk.open()))
    assert bank.verify().ok


@pytest.mark.fault("V2")
def test_a_merge_loses_to_the_first_vector_of_a_bank(desk: Desk) -> None:
    embedder, desk.embedder = desk.embedder, None
    other = desk.open()
    desk.retain(other, *(f"fuse number {n}" for n in range(3)))

    def first_vector() -> None:
        desk.embedder = embedder
        desk.retain(other, "lamp")

    bank = desk.open(files=Interrupting("write", 1, first_vector))
    assert not bank.merge_if_due(force=True), "its blocks have no room for vectors"
    assert desk.index_files() == []
    assert len(desk.search(bank, "lamp").dense) == 1
    assert bank.merge_if_due(force=True)
    assert repr(answers(desk, bank)) == repr(answers(desk, other))
    assert other.verify().ok


@pytest.mark.fault("W2")
def test_two_processes_that_write_and_merge_at_once_lose_nothing(desk: Desk, small_merges: int) -> None:
    banks = [desk.open(), desk.open()]
    ids: list[list[str]] = [[], []]
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(12):
                ids[number] += desk.retain(banks[number], f"fuse {number} {turn}", f"lamp {number} {turn}")
                assert set(ids[number]) <= {memory.id for memory in desk.all(banks[number])}
                desk.search(banks[number], "fuse")
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    everything = {memory.id for memory in desk.all(banks[0])}
    assert everything == set(ids[0] + ids[1])
    assert len(everything) == 48
    assert repr(answers(desk, banks[0])) == repr(answers(desk, banks[1])) == repr(answers(desk, desk.open()))
    for bank in banks:
        assert bank.problems() == []
        assert bank.verify().ok


def test_a_folder_that_a_crash_left_behind_is_passed_over_and_removed(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    index = desk.place / "bank" / "index"
    (index / "3").mkdir(parents=True)
    (index / "3" / "block-0.arr").write_bytes(b"half")
    assert bank.merge_if_due(force=True)
    assert folders(desk) == [4]
    assert bank.verify().ok


class Failing(FileLayer):
    """Raises at the *at*-th call of any method, once or from then on."""

    def __init__(self, at: int, *, for_good: bool = False) -> None:
        super().__init__()
        self.calls, self.at, self.for_good, self.failed = 0, at, for_good, 0

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at or (self.for_good and self.calls > self.at):
            self.failed += 1
            raise OSError(28, "No space left on device")

    def make_folder(self, folder: Path) -> None:
        self._count()
        super().make_folder(folder)

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        self._count()
        super().write(path, pieces)

    def sync_folder(self, folder: Path) -> None:
        self._count()
        super().sync_folder(folder)

    def read(self, path: Path) -> bytes:
        self._count()
        return super().read(path)

    def map(self, path: Path) -> memoryview:
        self._count()
        return super().map(path)

    def names(self, folder: Path) -> list[str]:
        self._count()
        return super().names(folder)

    def remove_folder(self, folder: Path) -> None:
        self._count()
        super().remove_folder(folder)


def use(desk: Desk, bank: EmbeddedBank) -> tuple[list[str], list[Found]]:
    """Retain, forget and recall so that the index is written several times; ids that must be there, answers."""
    ids: list[str] = []
    found = []
    for turn in range(3):
        ids += desk.retain(bank, *(f"fuse number {turn} {n} in the cellar" for n in range(4)))
        assert set(ids) <= {memory.id for memory in desk.all(bank)}
        found.append(desk.search(bank, "fuse number"))
    assert desk.forget(bank, ids[:2]) == 2
    found.append(desk.search(bank, "cellar"))
    assert len(desk.retain(bank, "a lamp")) == 1
    found.append(desk.search(bank, "lamp"))
    return ids[2:], found


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Index files that are not synced, where a test writes many of them."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


@pytest.fixture
def sound(desk: Desk, small_merges: int, unsynced: None) -> tuple[int, list[Found]]:
    """How many calls of the file layer an undisturbed use makes, and what it finds."""
    files = Failing(0)
    _, found = use(desk, desk.open("sound", files=files))
    return files.calls, found


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("for_good", [False, True])
def test_whatever_call_fails_no_write_fails_and_no_row_is_lost(
    desk: Desk, sound: tuple[int, list[Found]], for_good: bool, every: int
) -> None:
    calls, expected = sound
    assert calls > 20
    # Of three calls the default run fails one when it fails for good, and the next when it fails once.
    for at in range(1 if for_good or every == 1 else 2, calls + 1, every):
        name = f"bank{at}"
        files = Failing(at, for_good=for_good)
        bank = desk.open(name, files=files)
        ids, found = use(desk, bank)
        assert repr(found) == repr(expected), f"call {at}"
        assert files.failed, f"call {at}"
        if for_good:
            (problem, *_) = bank.problems()
            assert "No space left on device" in problem
        assert set(ids) <= {memory.id for memory in desk.all(bank)}
        bank.close()
        again = desk.open(name)
        assert repr(desk.search(again, "lamp")) == repr(expected[-1])
        desk.search(again, "lamp")
        report = again.verify()
        assert report.problems == (), f"call {at}"
        again.close()


def test_a_failed_merge_is_reported_until_one_succeeds(desk: Desk, small_merges: int) -> None:
    files = Failing(1)
    bank = desk.open(files=files)
    ids = desk.retain(bank, *"abcd")
    (problem,) = bank.problems()
    assert problem.startswith("the index could not be written: ")
    assert "No space left on device" in problem
    assert bank.stats()["problems"] == [problem]
    assert problem in bank.verify().problems
    assert {memory.id for memory in desk.all(bank)} == set(ids)
    desk.retain(bank, "e")
    assert bank.problems() == []
    assert bank.verify().ok
