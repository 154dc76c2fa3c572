"""The sparse encoder that the environment names, with an empty cache and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("value", ["", "none", "None"])
def test_without_one_nothing_is_fetched(cli: Cli, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SIMONIDES_SPARSE", value)
    assert cli("retain", "the fuse is blown").exit_code == 0


def test_one_that_cannot_be_had_is_an_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_SPARSE", "splade-tiny")
    result = cli("retain", "the fuse is blown")
    assert result.exit_code == 2
    assert "splade-tiny" in result.stderr
    assert "SIMONIDES_OFFLINE" in result.stderr


def test_a_wrong_number_of_terms_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_SPARSE", "splade-tiny:0")
    result = cli("retain", "the fuse is blown")
    assert result.exit_code == 2
    assert "1 to 500" in result.stderr


def test_a_wrong_name_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_SPARSE", "splade-tinny")
    result = cli("retain", "the fuse is blown")
    assert result.exit_code == 2
    assert "splade-tiny" in result.stderr
