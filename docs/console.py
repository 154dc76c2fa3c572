"""Run the commands that guide pages show, and keep what they print in the pages.

In a ``console`` block each line ``$ command`` is run, in order, in one folder that is empty at first; the
lines below it are what it prints: standard output, then standard error. ``$ export NAME=value`` holds for the
page. Ids are given anew by every bank, times depend on the machine, and ages on the day, so none of these
makes a page stale.
``--check`` only tells whether the pages are current.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import simonides

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = tuple(Path(__file__).parent / "guide" / f"{name}.md" for name in ("viewpoints", "maintenance"))
WIDTH = 100

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b[0-9a-f]{16}\b")
_WORD = re.compile(r"[^\W\d]+")
_AGE = re.compile(r"\b\d+ days without use\b")
_MILLISECONDS = re.compile(r"(?<=\s)\d+\.\d(?=\s)")


def main() -> int:
    """Write the pages that are stale, or with ``--check`` name them; 1 means that one is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a page is stale")
    check = parser.parse_args().check
    stale = False
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = rerun(text)
        if steady(fresh) == steady(text):
            continue
        stale = True
        if check:
            print(f"{page.name} shows what is no longer printed; run `make docs`", file=sys.stderr)
        else:
            page.write_text(fresh, encoding="utf-8")
    return 1 if stale and check else 0


def rerun(page: str) -> str:
    """*page* with the output of every command as it is now, and the ids of this run in the commands."""
    with TemporaryDirectory(prefix="simonides-docs-") as folder:
        session = _Session(Path(folder))
        return _BLOCK.sub(lambda block: session.block(block[0]), page)


def steady(page: str) -> str:
    """*page* without what differs from run to run: ids by their order, no times or ages, single blanks."""
    order: dict[str, str] = {}
    text = _ID.sub(lambda found: order.setdefault(found[0], f"ID{len(order)}"), page)
    return " ".join(_AGE.sub("0 days without use", _MILLISECONDS.sub("0.0", text)).split())


class _Session:
    """One page's commands, and what its ids have become."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids: dict[str, str] = {}
        # The page says `simonides`; what runs is the package that this interpreter imports.
        program = folder / "bin" / "simonides"
        program.parent.mkdir()
        start = "from simonides.surfaces.cli.main import main; main()"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{start}" "$@"\n', "utf-8")
        program.chmod(0o700)
        self._environment = {
            **os.environ,
            "PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "COLUMNS": str(WIDTH),
            "SIMONIDES_OFFLINE": "1",
            "PYTHONUTF8": "1",
            "PYTHONPATH": str(Path(simonides.__file__).parents[1]),
        }

    def block(self, text: str) -> str:
        """The block with fresh output."""
        lines: list[str] = []
        for written, shown in commands(text):
            command = _ID.sub(lambda found: self._ids.get(found[0], found[0]), written)
            printed = self._run(command)
            now = _by_words(printed)
            self._ids |= {old: now[words] for words, old in _by_words(shown).items() if words in now}
            lines += [f"$ {command}\n", printed]
        return "".join(lines)

    def _run(self, command: str) -> str:
        if command.startswith("export "):
            self._environment |= _assignments(command)
            return ""
        answer = subprocess.run(  # noqa: S603 -- the commands are those of our own pages
            ["/bin/sh", "-c", command],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return "".join(f"{line.rstrip()}\n" for line in (answer.stdout + answer.stderr).splitlines())


def commands(block: str) -> list[tuple[str, str]]:
    """Each command with the output that the page shows below it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        elif found:
            command, shown = found[-1]
            found[-1] = (command, shown + line)
    return found


def _by_words(printed: str) -> dict[str, str]:
    """Each id by the words before it, which tell the same memory in another bank and at another rank."""
    texts = _ID.split(printed)
    return {
        " ".join(_WORD.findall(text)): found for text, found in zip(texts, _ID.findall(printed), strict=False)
    }


def _assignments(command: str) -> Mapping[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(command)[1:])


if __name__ == "__main__":
    sys.exit(main())
