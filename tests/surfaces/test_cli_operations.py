"""Commands made for the whole table: listing, updating, used, source, conversations, banks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from simonides.surfaces.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson

# They answer over a protocol of their own, or have nothing to say.
_WITHOUT_JSON = {"serve", "ui", "mcp", "hook"}


def _every(commands: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in commands.items():
        if hasattr(command, "commands"):
            yield from _every(command.commands, f"{place}{name} ")
        else:
            yield place + name, command


def test_every_command_prints_json_when_asked() -> None:
    commands = {
        name: command
        for name, command in _every(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
        if not command.hidden
    }
    without = {
        name for name, command in commands.items() if all(each.name != "as_json" for each in command.params)
    }
    assert without == _WITHOUT_JSON


def test_pages_are_listed_until_the_last(cli: Cli, cli_json: CliJson) -> None:
    ids = {
        cli("retain", f"Bed {number} holds leeks.", "--kind", "episodic").stdout.strip()
        for number in range(5)
    }
    first = cli_json("list-memories", "--limit", "3")
    second = cli_json("list-memories", "--limit", "3", "--cursor", first["next"])
    assert {each["id"] for page in (first, second) for each in page["memories"]} == ids
    assert second["next"] is None
    shown = cli("list-memories", "--limit", "3")
    assert first["next"] in shown.stderr
    assert "holds leeks" in shown.stdout
    assert cli("list-memories", "--kind", "decision").exit_code == 1
    assert cli("list-memories", "--as-of", "2001").exit_code == 1
    refused = cli("list-memories", "--types", "wordl")
    assert refused.exit_code == 2
    assert "world" in refused.stderr


def test_what_is_noted_about_a_memory_is_changed(cli: Cli, cli_json: CliJson) -> None:
    memory = cli("retain", "Odalys prefers figs.", "--tag", "fruit").stdout.strip()
    record = cli_json("update-memory", memory, "--kind", "preference", "--metadata", '{"page": 3}')
    assert (record["kind"], record["metadata"], record["version"]) == ("preference", {"page": 3}, 2)
    assert record["tags"] == ["fruit"]
    assert "version 3" in cli("update-memory", memory, "--salience", "0.9").stdout
    assert cli("update-memory", memory, "--metadata", "{").exit_code == 2
    assert cli("update-memory", memory, "--salience", "2").exit_code == 2
    assert cli("update-memory", "absent", "--kind", "code").exit_code == 1


@pytest.mark.fault("N49")
def test_the_text_of_a_memory_is_edited(cli: Cli, cli_json: CliJson) -> None:
    memory = cli("retain", "Odalys prefers figs.").stdout.strip()
    record = cli_json("update-memory", memory, "--text", "Odalys prefers plums.", "--expected-version", "1")
    assert (record["id"], record["version"], record["text"]) == (memory, 2, "Odalys prefers plums.")
    refused = cli("update-memory", memory, "--text", "Odalys prefers pears.", "--expected-version", "1")
    assert refused.exit_code > 1
    assert "changed meanwhile" in refused.stderr
    assert "plums" in cli("recall", "What does Odalys prefer?").stdout


def test_what_was_of_use_is_counted(cli: Cli, cli_json: CliJson) -> None:
    memory = cli("retain", "The pump needs oil.").stdout.strip()
    assert cli_json("used", memory) == {"recorded": 1}
    # A recall that counted its hits has counted this one.
    recall = cli_json("recall", "What needs oil?", "--count-returned")["id"]
    assert cli_json("used", memory, "--recall-id", recall, code=1) == {"recorded": 0}
    assert cli("used", memory, "--recall-id", "unknown").exit_code == 2
    assert cli("used", "absent").exit_code in {1, 2}


def test_a_conversation_is_stored_by_turns(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    turns = [{"speaker": "Ivo", "text": "Where is the key?"}, {"speaker": "Tove", "text": "Under the pot."}]
    lines = "\n".join(map(json.dumps, turns))
    ids = cli_json("retain-conversation", "-", "--session", "shed", stdin=lines)["ids"]
    file = tmp_path / "turns.jsonl"
    file.write_text(lines + '\n{"speaker": "Ivo", "text": "Found it."}\n')
    again = cli("retain-conversation", str(file), "--session", "shed", "--window", "1").stdout.split()
    assert again[:2] == ids
    assert len(again) == 3
    assert cli_json("get-memory", ids[1])["speaker"] == "Tove"
    assert cli("source", ids[1]).stdout.strip() == "Under the pot."
    assert cli_json("source", ids[1])["session"] == "shed"
    assert cli("source", "absent").exit_code == 1
    for wrong in ("", "{", '{"txt": "x"}'):
        refused = cli("retain-conversation", "-", "--session", "shed", stdin=wrong)
        assert refused.exit_code == 2, wrong


def test_banks_are_made_listed_and_deleted(cli: Cli, cli_json: CliJson, store_path: Path) -> None:
    assert cli("list-banks").exit_code == 2
    assert cli_json("create-bank", "garden") == {"bank": "garden", "created": True, "zone": "UTC"}
    assert cli_json("create-bank", "garden")["created"] is False
    assert cli("create-bank", "Möbel").exit_code == 0
    assert cli_json("list-banks") == {"banks": ["Möbel", "garden"]}
    cli("retain", "Figs need water.", "--bank", "garden")

    unsure = cli("delete-bank", "garden")
    assert unsure.exit_code == 2
    assert "--confirm" in unsure.stderr
    assert cli("delete-bank", "garden", "--confirm", "gardne").exit_code == 2
    assert cli_json("delete-bank", "garden", "--confirm", "garden") == {"deleted": "garden"}
    assert cli("delete-bank", "garden", "--confirm", "garden").exit_code == 1
    assert cli("recall", "figs", "--bank", "garden").exit_code == 2
    assert cli("list-banks").stdout == "Möbel\n"
    assert [each.name for each in store_path.iterdir()] == ["bank-_4d_c3_b6bel"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    line = "simonides list-m"
    environment = {
        **os.environ,
        "_SIMONIDES_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": "1",
    }
    environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    answer = subprocess.run(
        [sys.executable, "-c", "from simonides.surfaces.cli.main import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "list-memories" in answer.stdout, answer.stderr
    assert "recall" not in answer.stdout
