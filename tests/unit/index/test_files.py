from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from simonides.index.files import FileLayer

if TYPE_CHECKING:
    from pathlib import Path

FILES = FileLayer()


def test_what_was_written_is_read_and_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a"
    FILES.write(path, [b"one ", memoryview(b"two"), b""])
    assert FILES.read(path) == b"one two"
    mapped = FILES.map(path)
    assert bytes(mapped) == b"one two"
    assert mapped.readonly


def test_a_file_is_never_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    FILES.write(path, [b"first"])
    with pytest.raises(FileExistsError):
        FILES.write(path, [b"second"])
    assert path.read_bytes() == b"first"


def test_a_folder_is_made_with_its_parents_and_only_once(tmp_path: Path) -> None:
    folder = tmp_path / "index" / "7"
    FILES.make_folder(folder)
    assert folder.is_dir()
    with pytest.raises(FileExistsError):
        FILES.make_folder(folder)


def test_a_written_file_and_a_made_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []

    def fsync(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        synced.append(kind)

    monkeypatch.setattr("os.fsync", fsync)
    FILES.make_folder(tmp_path / "7")
    FILES.write(tmp_path / "7" / "a", [b"x"])
    FILES.sync_folder(tmp_path / "7")
    assert synced == ["folder", "file", "folder"]


def test_a_folder_that_cannot_be_synced_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FILES.sync_folder(tmp_path / "missing")


def test_names_are_sorted_and_a_missing_folder_has_none(tmp_path: Path) -> None:
    for name in ("10", "9", "a"):
        (tmp_path / name).mkdir()
    assert FILES.names(tmp_path) == ["10", "9", "a"]
    assert FILES.names(tmp_path / "missing") == []


def test_removing_takes_everything_and_forgives_what_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    FILES.make_folder(folder)
    FILES.write(folder / "a", [b"x"])
    FILES.remove_folder(folder)
    assert not folder.exists()
    FILES.remove_folder(folder)


def test_removing_a_file_leaves_the_others_and_forgives_what_is_gone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        FILES.write(tmp_path / name, [b"x"])
    FILES.remove_file(tmp_path / "a")
    FILES.remove_file(tmp_path / "a")
    assert FILES.names(tmp_path) == ["b"]


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FILES.read(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        FILES.map(tmp_path / "a")
