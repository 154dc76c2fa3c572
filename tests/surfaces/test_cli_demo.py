"""`simonides demo`, without a model."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_demo_answers_and_leaves_nothing_behind(cli: Cli, temporary: Path, store_path: Path) -> None:
    result = cli("demo")
    assert result.exit_code == 0, result.stderr
    assert "10 questions" in result.stdout
    assert list(temporary.iterdir()) == []
    assert not store_path.exists()


def test_the_demo_as_json_in_a_store_that_stays(cli_json: CliJson, store_path: Path) -> None:
    answer = cli_json("demo", "--store", str(store_path))
    assert answer["asked"] == 10
    assert 0 < answer["answered"] <= 10
    assert store_path.is_dir()
