"""A purge that says ``complete`` has swept what the dead left, and nobody living writes the text afterwards."""

from __future__ import annotations

import io
import signal
from typing import TYPE_CHECKING

import pytest
from tests.embedded_rows import embedded
from tests.reliability.test_purge import CANARY, OTHERS, SECRET, traces

import simonides
from simonides.backends.embedded import merge as merging
from simonides.backends.embedded.purge_lock import joined
from simonides.backends.embedded.stale_files import OWNED, stale_files
from simonides.index.files import FileLayer
from simonides.records.receipt import COMPLETE, PENDING_COPIES
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.reliability.conftest import Start
    from typing_extensions import Buffer

    from simonides.bank import Bank

NAMES = (
    ".backup-1/backup.db", ".restoring-1/memory.db-wal", ".x.partial", ".x.partial-wal", ".x.partial-journal",
    "maintenance.lock-journal", "memory.db-journal", "index/.tmp", "index/tmp/1", "index/99/block-0.arr",
    "recall-jobs.db-journal", "recall-jobs.db-wal", "reranker.npz-journal",
)  # fmt: skip


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simonides.backends.embedded.forgetting.PATIENCE_MILLISECONDS", 20)


def fill(bank: Bank, *, merged: bool) -> str:
    """Others and one secret; its id."""
    bank.retain(OTHERS)
    if merged:
        bank._rows.merge_if_due(force=True)
    (secret,) = bank.retain(SECRET[0])
    return secret


@pytest.mark.fault("W4")
@pytest.mark.parametrize("merged", [False, True], ids=["no generation", "a generation"])
@pytest.mark.parametrize("act", ["merge", "load", "reembed", "backup", "restore", "export", "job"])
def test_what_a_killed_process_left_goes(tmp_path: Path, start: Start, act: str, *, merged: bool) -> None:
    place = tmp_path / "store"
    with simonides.open(place, embedder=StubEmbedder(), environ={}) as store:
        secret = fill(store.bank(), merged=merged)
    dead = start("purge_killed.py", place, act)
    assert dead.wait(120) == -signal.SIGKILL
    with simonides.open(place, embedder=StubEmbedder(), environ={}) as store:
        bank = store.bank()
        before = bank.stats()["generation"]
        assert bank.forget_where(secret, purge=True).status == COMPLETE
        assert traces(bank._rows.folder) == []
        assert {path.name for path in bank._rows.folder.iterdir()} <= set(OWNED)
        assert merged or bank.stats()["generation"] == before == 0, "an index was made that nobody needed"
        assert bank.verify().ok


@pytest.mark.fault("W4")
@pytest.mark.parametrize("merged", [False, True], ids=["no generation", "a generation"])
@pytest.mark.parametrize("name", NAMES)
def test_stale_files_of_any_name_of_ours_go(bank: Bank, name: str, *, merged: bool) -> None:
    secret = fill(bank, merged=merged)
    path = bank._rows.folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(CANARY.encode() * 1_000)
    assert bank.forget_where(secret, purge=True).status == COMPLETE
    assert traces(bank._rows.folder) == []
    assert not path.exists() or name == "recall-jobs.db"
    assert bank.verify().ok


def test_a_file_beside_those_of_the_current_generation_goes(bank: Bank) -> None:
    secret = fill(bank, merged=True)
    for generation in (embedded(bank._rows).cache.folder).iterdir():
        (generation / ".tmp").write_text(CANARY)
    assert bank.forget_where(secret, purge=True).status == COMPLETE
    (current,) = {path.parent for path in embedded(bank._rows).cache.folder.rglob("manifest.json")}
    (current / "folder").mkdir()
    (current / "folder" / "x").write_text(CANARY)
    assert bank.purge() == COMPLETE
    assert traces(bank._rows.folder) == []


def test_what_others_put_there_and_what_links_lead_to_stays(tmp_path: Path, bank: Bank) -> None:
    secret = fill(bank, merged=True)
    folder, outside = bank._rows.folder, tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    for link in (".backup-2", ".y.partial", "index/link", "index/98"):
        (folder / link).symlink_to(outside)
    kept = ["notes.txt", "memory.db-old", "mine.bak", ".hidden", "export.jsonl"]
    for name in kept:
        (folder / name).write_text("kept")
    assert bank.forget_where(secret, purge=True).status == COMPLETE
    assert (outside / "mine").read_text() == "mine"
    assert [name for name in kept if not (folder / name).exists()] == []
    assert not [path for path in folder.rglob("*") if path.is_symlink()]


def test_an_index_elsewhere_keeps_what_is_not_of_it(tmp_path: Path, bank: Bank) -> None:
    secret = fill(bank, merged=True)
    elsewhere = tmp_path / "elsewhere"
    embedded(bank._rows).cache.folder.rename(elsewhere)
    embedded(bank._rows).cache.folder.symlink_to(elsewhere)
    (elsewhere / "notes.txt").write_text("mine")
    assert bank.forget_where(secret, purge=True).status == COMPLETE
    assert (elsewhere / "notes.txt").read_text() == "mine"
    assert traces(elsewhere) == []


class Stepping(FileLayer):
    """Lets someone act right before a manifest is written."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = [act]

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        if path.name == "manifest.json" and self._act:
            self._act.pop()()
        super().write(path, pieces)


@pytest.mark.fault("W4")
@pytest.mark.parametrize("merged", [False, True], ids=["no generation", "a generation"])
def test_a_merge_that_read_before_writes_nothing_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, merged: bool
) -> None:
    with (
        simonides.open(tmp_path, embedder=None, environ={}) as one,
        simonides.open(tmp_path, embedder=None, environ={}) as two,
    ):
        secret, theirs, mine = fill(one.bank(), merged=merged), one.bank(), two.bank()
        made: list[str] = []

        def act(folder: Path) -> AbstractContextManager[bool]:
            monkeypatch.setattr(merging, "joined", joined)
            made.append(theirs.forget_where(secret, purge=True).status)
            return joined(folder)

        monkeypatch.setattr(merging, "joined", act)
        embedded(mine._rows).cache.files = Stepping(lambda: made.append("written"))
        assert not mine._rows.merge_if_due(force=True)
        assert made == [COMPLETE], "it had written before it lost"
        assert traces(tmp_path) == []
        assert mine.verify().ok


@pytest.mark.fault("W4")
@pytest.mark.parametrize("merged", [False, True], ids=["no generation", "a generation"])
def test_a_purge_beside_a_merge_that_writes_says_so(tmp_path: Path, *, merged: bool) -> None:
    with (
        simonides.open(tmp_path, embedder=None, environ={}) as one,
        simonides.open(tmp_path, embedder=None, environ={}) as two,
    ):
        secret, theirs, mine = fill(one.bank(), merged=merged), one.bank(), two.bank()
        made: list[str] = []
        embedded(mine._rows).cache.files = Stepping(
            lambda: made.append(theirs.forget_where(secret, purge=True).status)
        )
        mine._rows.merge_if_due(force=True)
        assert made == [PENDING_COPIES]
        assert theirs.purge() == COMPLETE
        assert traces(tmp_path) == []


@pytest.mark.fault("W4")
def test_a_purge_beside_a_backup_leaves_it_whole_and_says_so(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None, environ={}) as store:
        bank = store.bank()
        secret = fill(bank, merged=True)
        made: list[str] = []

        class Sink(io.BytesIO):
            def write(self, piece: Buffer) -> int:
                if not made:
                    other = simonides.open(tmp_path, embedder=None, environ={})
                    made.append(other.bank().forget_where(secret, purge=True).status)
                    other.close()
                return super().write(piece)

        bank.backup(taken := Sink())
        assert made == [PENDING_COPIES]
        assert CANARY.encode() in taken.getvalue()
        assert bank.purge() == COMPLETE
        assert traces(tmp_path) == []


def test_a_purge_empties_the_jobs_of_a_bank_that_lost_nothing(bank: Bank) -> None:
    bank._rows.recall_jobs.add("a", "", CANARY)
    assert bank.forget_where(["0" * 16], purge=True).status == COMPLETE
    assert traces(bank._rows.folder) == []
    bank._rows.recall_jobs.keep_texts("a", "late")
    assert bank._rows.recall_jobs.find("a", "") is None


def test_every_name_of_a_used_bank_is_owned(bank: Bank) -> None:
    fill(bank, merged=True)
    bank._rows.recall_jobs.add("a", "", "")
    with bank._rows.maintaining():
        assert {path.name for path in bank._rows.folder.iterdir()} <= set(OWNED)
        assert stale_files(bank._rows.folder) == []
