"""`simonides models`, with an empty cache and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.models.catalogue import CATALOGUE, DEFAULT_EMBEDDER, SPARSE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


def test_the_list_names_every_model(cli: Cli, cli_json: CliJson, empty_cache: Path) -> None:
    listed = cli_json("models", "list")["models"]
    assert [model["name"] for model in listed] == [
        *(record.name for record in CATALOGUE),
        *(record.name for record in SPARSE),
    ]
    assert {model["state"] for model in listed} == {"missing"}
    text = cli("models", "list").stdout
    assert DEFAULT_EMBEDDER in text
    assert not empty_cache.exists()


def test_a_pull_that_may_not_happen_says_why(cli: Cli) -> None:
    result = cli("models", "pull")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "SIMONIDES_OFFLINE" in result.stderr


def test_verify_is_negative_when_a_named_model_is_missing(cli: Cli, cli_json: CliJson) -> None:
    assert cli("models", "verify").exit_code == 0
    answer = cli_json("models", "verify", DEFAULT_EMBEDDER, code=1)
    assert answer["models"][0]["state"] == "missing"


def test_verify_is_negative_when_a_model_is_damaged(cli: Cli, empty_cache: Path) -> None:
    (empty_cache / DEFAULT_EMBEDDER).mkdir(parents=True)
    (empty_cache / DEFAULT_EMBEDDER / "model.json").write_text("{", encoding="utf-8")
    result = cli("models", "verify")
    assert result.exit_code == 1
    assert "damaged" in result.stdout
    assert f"simonides models pull {DEFAULT_EMBEDDER}" in result.stderr


@pytest.mark.parametrize("command", ["pull", "verify"])
def test_an_unknown_model_is_met_with_the_nearest(cli: Cli, command: str) -> None:
    result = cli("models", command, "all-MiniLM-L6")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"did you mean '{DEFAULT_EMBEDDER}'?" in result.stderr


def test_recall_and_retain_go_on_by_words_without_a_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMONIDES_EMBEDDER")
    assert cli("retain", "Mira bakes bread").exit_code == 0
    result = cli("recall", "bread")
    assert result.exit_code == 0
    assert "Mira bakes bread" in result.stdout
    assert "simonides models pull" in result.stderr


def test_a_model_asked_for_by_name_must_be_there(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "all-minilm")
    result = cli("retain", "Mira bakes bread")
    assert result.exit_code == 2
    assert DEFAULT_EMBEDDER in result.stderr
