"""Names in memories that a folder does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.lifecycle.staleness import ProjectFolder

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "gauges"
    (root / "src").mkdir(parents=True)
    (root / "src" / "tide.py").touch()
    (root / "Makefile").write_text("test: lint\n\techo\nlint fmt:\n\techo\nNAME := x\n")
    (root / "package.json").write_text('{"scripts": {"build": "x"}, "dependencies": {"left-pad": "1"}}')
    (root / "pyproject.toml").write_text(
        '[project]\ndependencies = ["NumPy>=2"]\n[dependency-groups]\ndev = ["pytest"]\n'
    )
    return root


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("The tide lives in src/tide.py.", []),
        ("See gauges/src/tide.py and `src/`.", []),
        ("The moon lives in src/moon.py.", [("path", "src/moon.py")]),
        ("Edit tide.py, then moon.py, then moon.py.", [("path", "moon.py")]),
        ("Run `make test` or `make fmt`.", []),
        ("Run `make deploy`; NAME is `make NAME`.", [("command", "deploy"), ("command", "NAME")]),
        ("`npm run build` and `npm run watch`", [("command", "watch")]),
        ("pip install numpy pytest", []),
        ("pip install left_pad", [("package", "left_pad")]),
        ("npm install left-pad, then npm add right-pad", [("package", "right-pad")]),
        ("A tea and/or coffee day, 24/7, at https://example.org/a/b.html", []),
        ("Look at ../outside/file.py and /etc/passwd.", []),
        ("", []),
    ],
)
def test_only_what_the_folder_surely_lacks_is_dead(
    folder: Path, text: str, dead: list[tuple[str, str]]
) -> None:
    assert list(ProjectFolder(folder).dead(text)) == dead


def test_a_manifest_that_is_not_there_or_cannot_be_read_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{")
    (tmp_path / "pyproject.toml").write_text("= broken")

    found = ProjectFolder(tmp_path)

    assert list(found.dead("`make x`, `npm run y`, pip install z, npm install w")) == []


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        ProjectFolder(tmp_path / "missing")


def test_dead_names_are_noted_once_and_the_note_ends_when_they_are_back(bank: Bank, folder: Path) -> None:
    (memory,) = bank.retain("The moon lives in src/moon.py.")
    assert [one.name for one in bank.check_references(folder, dry_run=True)] == ["src/moon.py"]
    assert bank.moves() == []

    bank.check_references(folder)
    bank.check_references(folder)

    (move,) = bank.moves(memory)
    assert (move.action, move.became, move.stands) == ("stale", '["path src/moon.py"]', True)
    assert bank.get_memory(memory).version == 1
    (folder / "src" / "moon.py").touch()
    assert bank.check_references(folder) == []
    assert not bank.moves(memory)[0].stands
    bank.forget(memory)
    assert bank.moves() == []
