"""Every command of ours that a page shows is one that the program takes: its name, options and values.

The commands of `docs/guide/viewpoints.md` are run for their output, too (`docs/console.py`). Most others need
files, models or servers that a page can only name.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from simonides.surfaces.cli.main import app

ROOT = Path(__file__).parents[2]
# The reference is generated from the commands themselves.
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.parent.name != "reference"
]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ENDS = {"|", ">", ">>", "<", "&&", ";", "&"}


def commands() -> list[tuple[str, tuple[str, ...]]]:
    """Page and words of each command, without its own name and without what the shell does beside it."""
    found = []
    for page in PAGES:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True) if line.startswith("$ ") else []
                if words[1:3] == ["pip", "install"]:
                    continue
                while "simonides" in words:
                    words = words[words.index("simonides") + 1 :]
                    end = next((place for place, word in enumerate(words) if word in _ENDS), len(words))
                    found.append((page.name, tuple(words[:end])))
    return found


def _parsed(command: Any, name: str, words: list[str], parent: Any = None) -> None:
    context = command.make_context(name, words, parent=parent)
    if hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        inner, found, left = command.resolve_command(context, rest)
        _parsed(found, inner or "", left, context)


@pytest.mark.parametrize(
    ("page", "words"), commands(), ids=lambda value: value if isinstance(value, str) else " ".join(value)[:60]
)
def test_a_command_that_a_page_shows_is_one(page: str, words: tuple[str, ...]) -> None:
    if words in {("--version",), ("--help",), ("--install-completion",)}:
        return
    try:
        _parsed(typer.main.get_command(app), "simonides", list(words))
    except Exception as error:
        raise AssertionError(f"{page}: simonides {' '.join(words)}: {error}") from error


def test_many_are_found() -> None:
    assert len(commands()) > 30
