"""A virtual environment for each peer, under the cache folder, with the versions that are pinned.

    python -m bench.peers.environments        make all, one line each

An environment is made anew when its requirements change.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

from bench.peers.catalogue import REQUIREMENTS, SYSTEMS, OwnProcess

from simonides.models.cache import models_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

INSTALL_SECONDS = 900
MARK = "requirements.sha256"


class PeerUnavailableError(Exception):
    """A peer cannot be measured; the message says why."""


def environments_folder() -> Path:
    """``peers`` beside the folder of models."""
    return models_folder().parent / "peers"


def requirements_of(name: str) -> Path:
    """The file with the pinned versions of the peer *name*."""
    return REQUIREMENTS / f"{name.replace('-', '_')}.txt"


def pinned_version(name: str, way: OwnProcess) -> str:
    """The version of the peer's own package.

    Raises:
        PeerUnavailableError: it is not pinned.
    """
    pins = requirements_of(name).read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(way.distribution)}==(\S+)$", pins, re.MULTILINE)
    if found is None:
        raise PeerUnavailableError(f"{requirements_of(name).name} does not pin {way.distribution}")
    return found[1]


def make_environment(name: str, way: OwnProcess, base: Path | None = None) -> Path:
    """The Python of the peer's environment, installed first when it is missing or outdated.

    Raises:
        PeerUnavailableError: it cannot be installed.
    """
    folder = (base or environments_folder()) / name
    requirements = requirements_of(name)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    digest = hashlib.sha256(requirements.read_bytes() + " ".join(way.install).encode()).hexdigest()
    mark = folder / MARK
    if mark.is_file() and mark.read_text(encoding="ascii") == digest:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True)
        _install([str(python), "-m", "pip", "install", "--quiet", *way.install, "-r", str(requirements)])
    except (OSError, subprocess.SubprocessError) as error:
        raise PeerUnavailableError(f"cannot be installed: {_reason(error)}") from error
    mark.write_text(digest, encoding="ascii")
    return python


def _install(command: list[str]) -> None:
    environment: Mapping[str, str] = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS, env=environment
    )


def _reason(error: Exception) -> str:
    """The line of pip that says what went wrong, else the error itself."""
    said = getattr(error, "stderr", None) or ""
    lines = [line for line in str(said).splitlines() if line.startswith("ERROR:")]
    return lines[-1] if lines else f"{type(error).__name__}: {error}"


def main() -> int:
    """Make every environment; 1 when one cannot be made."""
    failed = False
    for name, system in SYSTEMS.items():
        if not isinstance(system.way, OwnProcess):
            continue
        try:
            python = make_environment(name, system.way)
        except PeerUnavailableError as error:
            failed = True
            print(f"{name}: {error}")
        else:
            print(f"{name} {pinned_version(name, system.way)}: {python}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
