"""The command line, run in this process against a store of its own, without a model."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Protocol

import pytest
import typer.main
import typer.testing
from typer.testing import CliRunner

from simonides.surfaces.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

# A process reads the definition of a command once; the runner would do so at each call, a fifth of its time.
vars(typer.testing)["_get_command"] = functools.cache(typer.main.get_command)


class Cli(Protocol):
    def __call__(self, *arguments: str, stdin: str | bytes | None = None) -> Result: ...


class CliJson(Protocol):
    def __call__(self, *arguments: str, stdin: str | bytes | None = None, code: int = 0) -> Any: ...


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def cli(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs `simonides …`; any failure must have become an exit code."""
    monkeypatch.setenv("SIMONIDES_STORE", str(store_path))
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")
    monkeypatch.setenv("SIMONIDES_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("SIMONIDES_TRACEBACK", raising=False)

    def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def cli_json(cli: Cli) -> CliJson:
    """Runs a command with --json and reads the one object it prints."""

    def run(*arguments: str, stdin: str | bytes | None = None, code: int = 0) -> Any:
        result = cli(*arguments, "--json", stdin=stdin)
        assert result.exit_code == code, result.stderr
        answer = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert isinstance(answer, dict)
        return answer

    return run
