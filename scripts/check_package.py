"""Build the sdist and the wheel, install the wheel without extras in a clean environment, and use it there.

    python scripts/check_package.py [--json]

The wheel is built from the sdist, so that a file which the sdist lacks is noticed. Every CPython from 3.11 on
that is on the path gets an environment of its own outside the checkout. Needs the package index.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
MINORS = range(11, 20)

_USED = """
import json, sys, time
begun = time.perf_counter()
import simonides
imported = time.perf_counter() - begun
assert "onnxruntime" not in sys.modules
with simonides.open("store", embedder=None) as store:
    bank = store.bank()
    bank.retain("The spare key hangs behind the fridge.")
    answer = bank.recall("Where is the spare key?")
    assert answer.context.endswith("The spare key hangs behind the fridge."), answer.context
    assert bank.verify().ok
try:
    simonides.connect("http://127.0.0.1:9", token="smn_x")
    refused = ""
except simonides.SimonidesError as error:
    refused = str(error)
print(json.dumps({"version": simonides.__version__, "from": simonides.__file__, "refused": refused,
                  "import_ms": round(imported * 1_000, 1)}))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="simonides-package-") as place:
        folder = Path(place)
        sdist, wheel = build(folder)
        found = [_install_and_use(python, wheel, folder) for python in _pythons()]
        sizes = {"sdist_bytes": sdist.stat().st_size, "wheel_bytes": wheel.stat().st_size}
        figures = {**sizes, "installed": found}
    if asked.json:
        print(json.dumps(figures, indent=2))
    else:
        print(f"{sdist.name} {figures['sdist_bytes']:,} bytes; {wheel.name} {figures['wheel_bytes']:,} bytes")
        for each in found:
            print(
                f"{each['python']}: installed in {each['seconds']:.0f} s, {each['megabytes']:.0f} MB in all, "
                f"{each['own_megabytes']:.1f} MB of it simonides; import {each['import_ms']} ms"
            )
    return 0


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist of this checkout, and the wheel that is built from it."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder), at=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), at=source)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def _pythons() -> list[str]:
    found = [shutil.which(f"python3.{minor}") for minor in MINORS]
    # A version manager's command of that name may only say where the version would be.
    return [path for path in found if path and _starts(path)] or [sys.executable]


def _starts(python: str) -> bool:
    # Some systems part the modules that make an environment from the interpreter.
    tried = subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, check=False)
    return tried.returncode == 0


def _install_and_use(python: str, wheel: Path, folder: Path) -> dict[str, Any]:
    environment = folder / Path(python).name
    begun = time.monotonic()
    run(python, "-m", "venv", str(environment), at=folder)
    own = str(environment / "bin" / "python")
    run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel), at=folder)
    seconds = time.monotonic() - begun
    work = environment / "work"
    work.mkdir()
    told = json.loads(run(own, "-W", "error", "-c", _USED, at=work))
    command = str(environment / "bin" / "simonides")
    version = run(command, "--version", at=work).split()
    check(version == ["simonides", told["version"]], f"--version says {version}")
    check(told["from"].startswith(str(environment)), f"imported from {told['from']}, not from the wheel")
    check("simonides[client]" in told["refused"], f"no extra is named: {told['refused']!r}")
    asked = run(command, "recall", "spare key", "--store", "store", at=work, SIMONIDES_OFFLINE="1")
    check("behind the fridge" in asked, f"the command line answers {asked!r}")
    site = next(environment.glob("lib/python*/site-packages"))
    return {
        "python": run(own, "--version", at=work).strip(),
        "seconds": round(seconds, 1),
        "megabytes": round(_size(site) / 1e6, 1),
        "own_megabytes": round(_size(site / "simonides") / 1e6, 1),
        "import_ms": told["import_ms"],
    }


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run(*command: str, at: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=at, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    check(done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds: object, problem: str) -> None:
    if not holds:
        raise SystemExit(problem)


if __name__ == "__main__":
    sys.exit(main())
