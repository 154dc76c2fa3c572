"""N94: text from anywhere cannot steer a terminal; a program reads what is stored."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.surfaces.test_argument_sweep import STEERING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson

pytestmark = pytest.mark.fault("N94")

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\x85\u202edcba\u2066\u2028\u200e\U000e0041"
TEXT = f"The oven of Odalys Brandt{ESCAPES} is red."
SHOWN = "\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\x7f\\x85\\u202edcba\\u2066\\u2028\\u200e\\U000e0041"


@pytest.fixture
def memory(cli_json: CliJson, tmp_path: Path) -> str:
    line = {
        "text": TEXT, "source": TEXT, "tags": ["a"], "project": "p", "speaker": f"Ana{ESCAPES}", "session": f"s{ESCAPES}",
        "path": f"p{ESCAPES}", "context": TEXT, "metadata": {ESCAPES: TEXT}, "kind": "decision",
    }  # fmt: skip
    (tmp_path / "line.jsonl").write_text(json.dumps(line), encoding="utf-8")
    [first] = cli_json("retain", str(tmp_path / "line.jsonl"))["ids"]
    cli_json("update-memory", first, "--tag", "b")
    return str(first)


@pytest.mark.parametrize(
    "command",
    [
        ("recall", "oven"),
        ("recall", "oven", "--context"),
        ("recall", "oven", "--trace", "--include-chunks", "--include-sources"),
        ("recall", f"oven {ESCAPES}", "--trace", "--profile", "jeffs_brain"),
        ("reflect", "oven"),
        ("brief", "oven"),
        ("show", "MEMORY"),
        ("source", "MEMORY"),
        ("history", "MEMORY"),
        ("list-memories",),
        ("diff", "2026-01-01"),
        ("entities",),
        ("why-not", "MEMORY", "kettle"),
        ("moves",),
        ("forget", "--all", "--dry-run"),
        ("when", f"yesterday {ESCAPES}"),
        ("invalidate", "MEMORY"),
        # Errors that show what was given.
        ("show", ESCAPES),
        ("recall", "oven", "--profile", ESCAPES),
        ("recall", "oven", "--as-of", ESCAPES),
        ("recall", "oven", "--limit", ESCAPES),
        ("recall", "oven", f"--{ESCAPES}"),
        ("recall", "oven", ESCAPES),
        ("recall", "oven", "--store", f"/nowhere/{ESCAPES}"),
        ("retain", "oven", "--kind", ESCAPES),
        ("import", ESCAPES),
        ("import", "x", "--format", ESCAPES),
        (ESCAPES,),
        ("jobs", ESCAPES),
        ("profiles", ESCAPES),
        ("models", "pull", ESCAPES),
        ("create-bank", f"b{ESCAPES}"),
        ("delete-bank", f"b{ESCAPES}", "--confirm", ESCAPES),
    ],
    ids=lambda command: ascii(command)[:60],
)
def test_what_is_printed_for_people_steers_nothing(cli: Cli, memory: str, command: tuple[str, ...]) -> None:
    told = cli(*(memory if word == "MEMORY" else word for word in command)).output
    assert told
    assert STEERING.search(told) is None, ascii(told)


@pytest.mark.parametrize("command", [("show", "MEMORY"), ("list-memories",), ("source", "MEMORY")])
def test_what_was_stored_can_be_read_all_the_same(cli: Cli, memory: str, command: tuple[str, ...]) -> None:
    told = cli(*(memory if word == "MEMORY" else word for word in command)).stdout
    assert SHOWN in told.replace("\n", "")


def test_a_program_reads_what_is_stored(cli: Cli, cli_json: CliJson, memory: str) -> None:
    assert cli_json("show", memory)["text"] == TEXT
    written = cli("show", memory, "--json").stdout
    assert "\x9b31m\x7f\x85\u202e" in written
    assert "\u202e" in cli("export", "-").stdout


def _on_a_terminal(store: Path, *command: str) -> str:
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "simonides", *command],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env={**os.environ, "SIMONIDES_STORE": str(store), "SIMONIDES_EMBEDDER": "none"},
        ) as process:
            os.close(theirs)
            parts = []
            # Reading fails once the other end is closed.
            try:
                while part := os.read(ours, 65_536):
                    parts.append(part)
            except OSError:
                pass
            assert process.wait(60) == 0
    finally:
        os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_json_on_a_terminal_is_the_same_value_in_escapes(
    cli_json: CliJson, memory: str, store_path: Path
) -> None:
    shown = _on_a_terminal(store_path, "show", memory, "--json")
    assert STEERING.search(shown) is None
    assert json.loads(shown) == cli_json("show", memory)
    exported = _on_a_terminal(store_path, "export", "-")
    assert STEERING.search(exported) is None
    assert TEXT in [json.loads(line).get("text") for line in exported.splitlines()]
