"""A folder that may only be read: recall answers as ever, changes are refused with the reason."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.reliability.conftest import Start

    from simonides.store import Store

QUERIES = ("kiln 17 glaze", "celadon", "which kiln fired number 2005", "porcelain 3 and celadon 9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with a sealed block, a tail, and an index on disk."""
    with _opened(tmp_path / "store") as store:
        bank = store.bank()
        bank.retain(
            [
                f"kiln {i % 40} fired number {i} with {('celadon', 'tenmoku')[i % 2]} glaze"
                for i in range(2_100)
            ]
        )
        bank.retain([f"porcelain {i} waits for celadon {i}" for i in range(20)])
        assert bank.stats()["generation"] == 1
        assert bank.stats()["tail_rows"] == 20
    return tmp_path / "store"


@pytest.fixture(params=["mount", "permissions"])
def ask_read_only(
    request: pytest.FixtureRequest,
    start: Start,
    folder: Path,
    mounting: list[str],
    without_override: list[str],
) -> Iterator[Callable[[], Any]]:
    """Runs the program on a read-only mount of the store, or on files without permission to write."""

    def run() -> Any:
        if request.param == "mount":
            script = (
                f"mount --bind '{folder}' '{folder}' && mount -o remount,ro,bind '{folder}' && exec \"$@\""
            )
            prefix = [*mounting, "sh", "-c", script, "sh"]
        else:
            _forbid_writing(folder)
            prefix = without_override
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = start("read_only.py", folder, *QUERIES, prefix=prefix, **pipes)
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
        return json.loads(output)

    yield run
    _allow_writing(folder)


def test_recall_answers_and_changes_are_refused(folder: Path, ask_read_only: Callable[[], Any]) -> None:
    expected = _answers(folder)
    _assert_served(ask_read_only(), expected, folder)


def test_a_missing_index_is_made_in_memory(folder: Path, ask_read_only: Callable[[], Any]) -> None:
    expected = _answers(folder)
    shutil.rmtree(folder / "bank-default" / "index")
    said = ask_read_only()
    assert "generation 1 of the index is missing" in said.pop("problems")
    _assert_served(said | {"problems": []}, expected, folder)
    assert not (folder / "bank-default" / "index").exists()


def test_a_log_left_by_a_killed_writer_is_read(
    folder: Path, start: Start, ask_read_only: Callable[[], Any]
) -> None:
    options = ("--retains", 1, "--largest", 1, "--vectors")
    writer = start(
        "writer.py", folder, "w", *options, "--stay", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    written = json.loads(writer.stdout.readline())
    writer.kill()
    writer.wait()
    assert (folder / "bank-default" / "memory.db-wal").stat().st_size > 0
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    expected = _answers(copy)
    said = ask_read_only()
    _assert_served(said, expected, folder)
    with _opened(copy) as store:
        assert store.bank().get_memory(written["ids"][0]).text == written["texts"][0]


def _assert_served(said: Any, expected: Any, folder: Path) -> None:
    assert said["recalls"] == expected
    assert said["read_only"]
    assert said["problems"] == []
    refusal = f"{folder}/bank-default/memory.db: the folder is read-only; nothing was stored, make it writable and retry"
    assert said["refusals"]["retain"] == refusal
    assert said["refusals"]["forget"] == refusal
    assert "bank-new: cannot be made" in said["refusals"]["new bank"]


def _answers(folder: Path) -> Any:
    """What recall answers where the folder can be written."""
    with _opened(folder) as store:
        return [[[hit.id, hit.score] for hit in store.bank().recall(query)] for query in QUERIES]


def _opened(folder: Path) -> Store:
    return simonides.open(folder, embedder=StubEmbedder())


def _forbid_writing(folder: Path) -> None:
    for entry in [*folder.rglob("*"), folder]:
        entry.chmod(0o500 if entry.is_dir() else 0o400)


def _allow_writing(folder: Path) -> None:
    for entry in [folder, *folder.rglob("*")]:
        entry.chmod(0o700 if entry.is_dir() else 0o600)
