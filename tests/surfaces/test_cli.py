"""What all commands share: help, exit codes, purity of standard output, a light start."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from simonides.errors import DamagedError
from simonides.surfaces.cli import opening
from simonides.surfaces.cli.main import app
from simonides.surfaces.cli.opening import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import Result

    Cli = Callable[..., Result]

COMMANDS = (
    "retain",
    "recall",
    "get-memory",
    "forget",
    "stats",
    "verify",
    "models",
    "profiles",
    "demo",
    "bench",
)


def test_help_lists_every_command(cli: Cli) -> None:
    result = cli("--help")
    assert result.exit_code == 0
    assert result.stderr == ""
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "bench quality",
        *(f"models {name}" for name in ("list", "pull", "verify")),
        *(f"profiles {name}" for name in ("list", "show", "diff", "check")),
    ],
)
def test_every_command_explains_itself(cli: Cli, command: str) -> None:
    result = cli(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"simonides {command}" in result.stdout
    if command not in {"models", "bench", "profiles"}:
        assert "--json" in result.stdout


@pytest.mark.parametrize("command", ["retain", "recall", "get-memory", "forget", "stats", "verify"])
def test_every_command_on_a_bank_takes_store_and_bank(cli: Cli, command: str) -> None:
    text = cli(command, "--help").stdout
    assert "--store" in text
    assert "--bank" in text


def test_version_is_the_package_s(cli: Cli) -> None:
    assert cli("--version").stdout == f"simonides {version('simonides')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["rekall"],
        ["recall"],
        ["recall", "bread", "--colour", "red"],
        ["recall", "bread", "--limit", "three"],
        ["bench"],
        ["models"],
        ["bench", "speed"],
    ],
)
def test_wrong_use_is_exit_2_with_nothing_on_standard_output(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr != ""


def test_a_mistyped_command_is_met_with_the_right_one(cli: Cli) -> None:
    assert "'recall'" in cli("recal", "bread").stderr


def test_start_loads_nothing_heavy() -> None:
    code = (
        "import sys, simonides.surfaces.cli.main;"
        "heavy = {'numpy', 'onnxruntime', 'apsw', 'tokenizers', 'Stemmer', 'rich', 'simonides.store'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def run_process(store_path: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "SIMONIDES_EMBEDDER": "none", "SIMONIDES_STORE": str(store_path)}
    environment |= options.pop("environment", {})
    return subprocess.run(
        [sys.executable, "-c", "from simonides.surfaces.cli.main import main; main()", *arguments],
        env=environment,
        check=False,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def test_the_command_runs_as_a_process(store_path: Path) -> None:
    result = run_process(store_path, "recall", "bread")
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.startswith(b"error: --store: there is no store at ")
    assert result.stderr.count(b"\n") == 1


def test_the_package_runs_as_a_module() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "simonides", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("simonides ")


def test_a_narrow_console_gets_escapes_and_valid_json(cli: Cli, store_path: Path) -> None:
    narrow = {"PYTHONIOENCODING": "ascii"}
    assert cli("retain", "Zoë opens the café").exit_code == 0
    result = run_process(store_path, "recall", "opens", "--profile", "lexical", environment=narrow)
    assert result.returncode == 0
    assert b"Zo\\xeb opens" in result.stdout
    result = run_process(store_path, "recall", "opens", "--profile", "lexical", "--json", environment=narrow)
    assert json.loads(result.stdout)["hits"][0]["text"] == "Zoë opens the café"


@pytest.mark.skipif(os.name == "nt", reason="descriptors are closed by a shell")
def test_closed_streams_are_no_fault(store_path: Path) -> None:
    code = "from simonides.surfaces.cli.main import main; main()"
    environment = {**os.environ, "SIMONIDES_EMBEDDER": "none", "SIMONIDES_STORE": str(store_path)}
    command = ["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c", code]
    assert subprocess.run([*command, "retain", "bread"], env=environment, check=False).returncode == 0
    assert subprocess.run([*command, "recall", "bread"], env=environment, check=False).returncode == 0
    assert subprocess.run([*command, "recall", "zeppelin"], env=environment, check=False).returncode == 1


@pytest.fixture(scope="module", autouse=True)
def _all_commands() -> None:
    """Import the modules of all commands: one imported while a test replaces a function would keep it."""
    for file in sorted(Path(opening.__file__).parent.glob("[!_]*.py")):
        importlib.import_module(f"simonides.surfaces.cli.{file.stem}")


def _raising(error: BaseException) -> Callable[..., None]:
    def open_instead(*_args: object, **_options: object) -> None:
        raise error

    return open_instead


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (DamagedError("bank 'default': page 3 is torn;\nrestore a backup"), 2, "page 3 is torn; restore"),
        (OSError(28, "No space left on device", "/full/disk"), 2, "No space left on device: /full/disk"),
        (MemoryError(), 2, "out of memory"),
        (ZeroDivisionError("oops"), 2, "fault in simonides"),
    ],
)
def test_every_failure_is_one_line_and_a_code(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    monkeypatch.setattr(opening, "store_path", _raising(error))
    result = cli("stats")
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


def test_an_interruption_is_exit_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "store_path", _raising(KeyboardInterrupt()))
    result = cli("stats")
    assert result.exit_code == 130
    assert result.output == "interrupted\n"


def test_the_place_of_a_failure_can_be_asked_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "store_path", _raising(ZeroDivisionError("oops")))
    monkeypatch.setenv("SIMONIDES_TRACEBACK", "1")
    assert isinstance(CliRunner().invoke(app, ["stats"]).exception, ZeroDivisionError)


def test_a_reader_that_leaves_early_is_no_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "store_path", _raising(BrokenPipeError(32, "Broken pipe")))
    result = cli("stats")
    assert result.exit_code == 0
    assert result.output == ""


@pytest.mark.parametrize(
    "command", [["recall", "bread"], ["get-memory", "x"], ["forget", "x", "-y"], ["stats"], ["verify"]]
)
def test_reading_a_store_that_is_not_there_makes_none(cli: Cli, store_path: Path, command: list[str]) -> None:
    result = cli(*command)
    assert result.exit_code == 2
    assert str(store_path) in result.stderr
    assert "retain something" in result.stderr
    assert not store_path.exists()


@pytest.mark.parametrize(
    "command", [["recall", "bread"], ["get-memory", "x"], ["forget", "x", "-y"], ["stats"], ["verify"]]
)
def test_reading_a_bank_that_is_not_there_makes_none(cli: Cli, store_path: Path, command: list[str]) -> None:
    cli("retain", "Mira bakes bread on Sundays")
    before = sorted(store_path.iterdir())
    result = cli(*command, "--bank", "work")
    assert result.exit_code == 2
    assert "'work'" in result.stderr
    assert "'default'" in result.stderr
    assert sorted(store_path.iterdir()) == before


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_a_store_s_path_that_is_none_is_refused(cli: Cli, path: str) -> None:
    result = cli("retain", "Mira bakes bread", "--store", path)
    assert result.exit_code == 2
    assert "--store" in result.stderr


def test_a_file_is_no_store(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for command in (["retain", "Mira bakes bread"], ["stats"]):
        result = cli(*command, "--store", str(tmp_path / "file"))
        assert result.exit_code == 2
        assert "file" in result.stderr


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the XDG rule is for other systems")
def test_the_default_store_follows_the_xdg_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data" / "simonides"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert data_folder() == tmp_path / ".local" / "share" / "simonides"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_folder() == tmp_path / ".local" / "share" / "simonides"
