"""Follow README.md and docs/start.md to the letter, as somebody who has just arrived.

    python scripts/check_start.py [--no-make] [--tests]

The wheel of this checkout goes into a new environment. The home folder is empty, and so is the folder in
which every command and program of the two pages runs, in order. What a page shows below a command or a
program is compared with what is printed; in the output of commands, ids, times and ages are not compared.
A command without output on the page has to end with 0. It runs three times:

- with the package index and an empty home: the default model is fetched;
- without a network, in the same home;
- without a network, in an empty home: there is no model, so an answer may be marked ``possibly:``.

``make demo`` runs in a copy of the checkout with a home of its own, and ``make test`` only with ``--tests``.
Needs the package index.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from check_package import ROOT, build, run
from console import commands, steady
from snippets import blocks, program, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = (ROOT / "README.md", ROOT / "docs" / "start.md")
NOBODY = "http://127.0.0.1:9"
"""An address at which nothing answers."""
NO_NETWORK = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), NOBODY),
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": f"{NOBODY}/simple",
    "PIP_RETRIES": "0",
}
_KEPT = ("PIP_", "UV_", "SSL_", "HTTP", "http", "NO_PROXY", "no_proxy", "LANG", "LC_", "TMPDIR")
_MISSING = "simonides models pull"
_POSSIBLY = "possibly: "


@dataclass(frozen=True, slots=True)
class Step:
    """What a reader does next: *command* in a shell, or the page's program where it is empty."""

    command: str
    shown: str


def steps(page: str) -> list[Step]:
    """What a page tells its reader to do, in order; its program is run once, where it begins."""
    found: list[Step] = []
    for language, text in blocks(page):
        if language == "console":
            found += [Step(command, output) for command, output in commands(text)]
        elif language == "python" and Step("", shown(page)) not in found:
            found.append(Step("", shown(page)))
    return found


@dataclass
class Reader:
    """Somebody with an environment, a home and an empty folder."""

    name: str
    folder: Path
    environment: Mapping[str, str]
    checkout: Path
    make: tuple[str, ...]
    has_model: bool = True
    problems: list[str] = field(default_factory=list)
    answered: dict[str, float] = field(default_factory=dict)
    """Page → seconds from its first step, ``make`` aside, to the first line of its program."""

    def follow(self, page: Path) -> None:
        text = page.read_text(encoding="utf-8")
        spent = 0.0
        for step in steps(text):
            if step.command.startswith("make ") and not step.command.startswith(self.make):
                self._say(page, step, "not run", "")
                continue
            begun = time.monotonic()
            if step.command:
                output, errors, problem = self._command(step.command)
                same = not step.shown or steady(output + errors) == steady(step.shown)
            else:
                first, output, errors, problem = self._program(program(text))
                same = self._as_shown(output, errors, step.shown)
                self.answered[page.name] = spent + first
            seconds = time.monotonic() - begun
            if not step.command.startswith("make "):
                spent += seconds
            if not same:
                problem += f"\nshown:\n{step.shown}\nprinted:\n{output}{errors}"
            outcome = "differs" if problem else "as shown" if step.shown else "exit 0"
            self._say(page, step, outcome, f"{seconds:.1f} s", problem)

    def _command(self, command: str) -> tuple[str, str, str]:
        made = command.startswith("make ")
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.checkout if made else self.folder,
            env={**self.environment, "HOME": f"{self.environment['HOME']}-of-make"}
            if made
            else self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        problem = f"exit {done.returncode}\n{done.stdout}{done.stderr}" if done.returncode else ""
        return done.stdout, done.stderr, problem

    def _program(self, text: str) -> tuple[float, str, str, str]:
        begun = time.monotonic()
        with TemporaryFile("w+", encoding="utf-8") as log:
            with subprocess.Popen(
                [Path(self.environment["PATH"].split(os.pathsep)[0]) / "python", "-u", "-c", text],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process:
                assert process.stdout
                line = process.stdout.readline()
                first = time.monotonic() - begun
                output = line + process.stdout.read()
            log.seek(0)
            errors = log.read()
        return first, output, errors, f"exit {process.returncode}" if process.returncode else ""

    def _as_shown(self, output: str, errors: str, expected: str) -> bool:
        if self.has_model or not errors:
            return output == expected and not errors
        return output.replace(_POSSIBLY, "") == expected and _MISSING in errors

    def _say(self, page: Path, step: Step, outcome: str, seconds: str, problem: str = "") -> None:
        what = f"$ {step.command.partition('#')[0].strip()}" if step.command else "the program"
        print(f"  {outcome:<8} {seconds:>8}  {page.name}: {what}", flush=True)
        if problem:
            self.problems.append(f"{self.name}: {page.name}: {what}: {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--no-make", action="store_true", help="leave out `make demo`, which sets up .venv")
    parser.add_argument("--tests", action="store_true", help="also run `make test`: all tests")
    asked = parser.parse_args()
    targets = () if asked.no_make else ("make demo", "make test") if asked.tests else ("make demo",)
    problems: list[str] = []
    with TemporaryDirectory(prefix="simonides-start-") as place:
        for reader in _readers(Path(place), targets):
            print(f"{reader.name}:", flush=True)
            for page in PAGES:
                reader.follow(page)
            for name, seconds in reader.answered.items():
                print(f"  {seconds:.1f} s to the first answer of {name}", flush=True)
            problems += reader.problems
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _readers(place: Path, targets: tuple[str, ...]) -> list[Reader]:
    packages = place / "packages"
    packages.mkdir()
    _, wheel = build(packages)
    (checkout,) = (packages / "source").iterdir()
    run(sys.executable, "-m", "venv", str(place / "venv"), at=place)
    kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
    links = f"{wheel.parent} {kept.get('PIP_FIND_LINKS', '')}".strip()

    def reader(name: str, home: str, make: tuple[str, ...], more: Mapping[str, str]) -> Reader:
        folder = place / name.replace(" ", "-").replace(",", "")
        for each in (folder, place / home):
            each.mkdir(exist_ok=True)
        path = os.pathsep.join((str(place / "venv" / "bin"), os.environ.get("PATH", os.defpath)))
        environment = {**kept, "HOME": str(place / home), "PATH": path, "PIP_FIND_LINKS": links, **more}
        return Reader(name, folder, environment, checkout, make)

    online = reader("empty home", "home", targets, {})
    offline = reader("no network, same home", "home", (), NO_NETWORK)
    bare = reader("no network, empty home", "other", (), NO_NETWORK)
    bare.has_model = False
    return [online, offline, bare]


if __name__ == "__main__":
    sys.exit(main())
