"""What `simonides --help` loads and costs: nothing that a command needs only when it runs."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys

import pytest
import typer.main
from typer.testing import CliRunner

from simonides.surfaces.cli.commands import COMMANDS
from simonides.surfaces.cli.main import app

_HEAVY = {
    "numpy", "onnxruntime", "apsw", "rich", "fastapi", "pydantic", "uvicorn", "mcp", "openai", "httpx",
    "tokenizers", "Stemmer", "asyncio", "ssl", "tomllib",
}  # fmt: skip
_ASK = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["simonides", "--help"]
from simonides.surfaces.cli.main import main
main()
"""


@pytest.mark.spec("ME-11")
def test_help_loads_nothing_heavy() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _ASK], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(answer.stderr)
    assert "retain" in answer.stdout
    assert not _HEAVY & {name.partition(".")[0] for name in loaded}
    # An interpreter alone has about 60 and Typer about 120; a library more would show here.
    assert len(loaded) < 340


def test_help_builds_no_command_and_a_command_only_itself() -> None:
    for arguments, built in ((["--help"], set()), (["when", "yesterday"], {"when"})):
        ask = _ASK.replace('["simonides", "--help"]', repr(["simonides", *arguments]))
        answer = subprocess.run(
            [sys.executable, "-c", ask], capture_output=True, text=True, check=True, timeout=60
        )
        homes = {f"simonides.surfaces.cli.{where.partition(':')[0]}" for where, _ in COMMANDS.values()}
        loaded = {name.rpartition(".")[2] for name in homes & set(json.loads(answer.stderr))}
        assert loaded == built


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert list(commands) == list(COMMANDS)
    for name, (_, sentence) in COMMANDS.items():
        assert commands[name].name == name
        paragraph, *_ = inspect.cleandoc(commands[name].help).split("\n\n")
        assert " ".join(paragraph.split()) == sentence
    listed = CliRunner().invoke(app, ["--help"], terminal_width=100).stdout
    flat = " ".join(listed.split())
    for name, (_, sentence) in COMMANDS.items():
        # The first clause, whole.
        assert f" {name} {re.split('[.;:] |[.]$', sentence, maxsplit=1)[0]} " in flat


def test_a_misspelt_command_is_told_which_one_was_meant() -> None:
    result = CliRunner().invoke(app, ["reclal"])
    assert result.exit_code == 2
    assert "Did you mean" in result.stderr
    assert "'recall'" in result.stderr


def test_help_is_soon_there() -> None:
    """Processor time, with room for a slow and busy machine; `bench/run_cold_start.py` measures it."""
    start = "import sys; sys.argv[:] = ['simonides', '--help']; from simonides.surfaces.cli.main import main; main()"
    times = []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        times.append(usage.ru_utime + usage.ru_stime)
    assert min(times) < 1.0


def test_options_that_nobody_gave_load_no_converter() -> None:
    asked = ["recall", "tea", "--store", "nowhere", "--profile", "helix"]
    ask = _ASK.replace('["simonides", "--help"]', repr(["simonides", *asked]))
    answer = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=False, timeout=60
    )
    said, loaded = answer.stderr.strip().splitlines()
    assert answer.returncode == 2
    assert "there is no store at nowhere" in said
    assert "pydantic" not in {name.partition(".")[0] for name in json.loads(loaded)}
