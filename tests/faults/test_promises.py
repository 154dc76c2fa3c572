"""Every promise of the guide names a command that shows it, and every such command is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from simonides.surfaces.cli.main import app

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "promises.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^\| (\d+) \| (.+) \| (.+) \|$", GUIDE, re.MULTILINE)
CODE = re.findall(r"`([^`]+)`", GUIDE)


def test_promises_are_numbered_and_each_has_a_command() -> None:
    assert [int(number) for number, _, _ in PROMISES] == list(range(1, len(PROMISES) + 1))
    assert len(PROMISES) >= 15
    for number, _, shown in PROMISES:
        assert re.search(r"`(pytest|simonides) ", shown), number


@pytest.mark.parametrize("command", [each for each in CODE if each.startswith(("pytest ", "python "))])
def test_the_files_of_a_command_are_there(command: str) -> None:
    paths = [word for word in command.split() if "/" in word]
    assert paths
    for path in paths:
        assert (ROOT / path.partition("::")[0]).exists(), path


@pytest.mark.parametrize("command", [each for each in CODE if each.startswith("make ")])
def test_a_target_of_make_is_there(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("command", [each for each in CODE if each.startswith("simonides ")])
def test_a_command_and_its_options_are_there(command: str) -> None:
    found = typer.main.get_command(app)
    words = command.split()[1:]
    while words and hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    options = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options
