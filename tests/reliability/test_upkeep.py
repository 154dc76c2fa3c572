"""Restoring, repairing, purging, maintaining, importing and backing up, cut short at any call of the disk."""

from __future__ import annotations

import errno
import math
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.embedded_rows import embedded
from tests.reliability.disk import Disk, FaultyFiles, faulty_system
from tests.reliability.upkeep import OPERATIONS, judge, look_at, open_scene, set_scene

from simonides.errors import SimonidesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.reliability.conftest import Record, Share, Start

MODES = [(errno.EIO, False), (errno.EIO, True), (errno.ENOSPC, False), (errno.ENOSPC, True)]
"""Error, and whether it stays."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("scene")
    set_scene(place)
    return place


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.fault("W3")
def test_an_operation_that_is_killed_is_done_or_can_be_done_again(
    template: Path, tmp_path: Path, start: Start, operation: str
) -> None:
    _kill(template, tmp_path, start, operation, first=3, step=293)


@pytest.mark.soak
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.fault("W3")
def test_an_operation_that_is_killed_at_each_call(
    template: Path, tmp_path: Path, start: Start, operation: str, record: Record, share: Share
) -> None:
    kills = _kill(template, tmp_path, start, operation, first=1 + 3 * share.number, step=3 * share.of)
    record("P1", {"operation": operation, "trials": kills, "harm": 0})


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.fault("W3")
def test_an_operation_whose_disk_fails_is_done_or_can_be_done_again(
    template: Path, tmp_path: Path, operation: str
) -> None:
    _fail(template, tmp_path, operation, MODES[::3], first=5, step=251)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.fault("W3")
def test_an_operation_whose_disk_fails_at_once_is_refused_in_words(
    template: Path, tmp_path: Path, operation: str
) -> None:
    """Files are opened at the beginning, where every other call is too far apart to meet them.

    Of three calls one fails, another for the next operation; the soak fails each.
    """
    first = 1 + list(OPERATIONS).index(operation) % 3
    _fail(template, tmp_path, operation, MODES[:1], first=first, step=3, last=12)


@pytest.mark.soak
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.fault("W3")
def test_an_operation_whose_disk_fails_at_each_call(
    template: Path, tmp_path: Path, operation: str, record: Record, share: Share
) -> None:
    trials = _fail(template, tmp_path, operation, MODES, first=1 + share.number, step=share.of)
    record("P3", {"operation": operation, "trials": trials, "harm": 0})


def _copies(template: Path, place: Path, first: int, step: int) -> Iterator[tuple[int, Path]]:
    """A fresh scene per call, until the caller stops asking."""
    at, scene = first, place / "scene"
    while True:
        shutil.rmtree(scene, ignore_errors=True)
        shutil.copytree(template, scene)
        yield at, scene
        at += step


def _kill(template: Path, place: Path, start: Start, operation: str, *, first: int, step: int) -> int:
    shutil.copytree(template, place / "twin")
    twin = look_at(place / "twin", operation)
    kills = 0
    for at, scene in _copies(template, place, first, step):
        process = start("operator_killed.py", scene, operation, at, stdout=subprocess.PIPE)
        said, _ = process.communicate()
        problems = judge(scene, operation, twin, acknowledged=said.startswith("done"))
        assert not problems, f"killed at call {at}: {problems}"
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        kills += 1
    assert kills
    return kills


def _fail(
    template: Path,
    place: Path,
    operation: str,
    modes: Sequence[tuple[int, bool]],
    *,
    first: int,
    step: int,
    last: float = math.inf,
) -> int:
    shutil.copytree(template, place / "twin")
    twin = look_at(place / "twin", operation)
    trials = 0
    for code, for_good in modes:
        for at, scene in _copies(template, place, first, step):
            reached, acknowledged = _try(scene, operation, at, code, for_good=for_good)
            problems = judge(scene, operation, twin, acknowledged=acknowledged)
            where = f"call {at}, {errno.errorcode[code]}{' for good' * for_good}"
            assert not problems, f"{where}: {problems}"
            if not reached or at >= last:
                break
            trials += 1
    assert trials
    return trials


def _try(scene: Path, operation: str, at: int, code: int, *, for_good: bool) -> tuple[bool, bool]:
    """Whether the call was reached, and whether the operation was acknowledged."""
    disk = Disk()
    acknowledged = True
    with faulty_system() as system:
        system.disk = disk
        with open_scene(scene) as store:
            bank = store.bank()
            bank.stats()
            disk.calls, disk.fail_at, disk.code, disk.for_good = 0, at, code, for_good
            embedded(bank._rows).cache.files = FaultyFiles(disk)
            try:
                answer = OPERATIONS[operation](bank, scene)
                if operation == "purge":
                    acknowledged = getattr(answer, "status", "") == "complete"
                if operation == "repair":
                    acknowledged = bool(getattr(answer, "ok", False))
            except (SimonidesError, OSError):
                acknowledged = False
            reached = disk.failed
            disk.fail_at = 0
    disk.forget_all()
    return reached, acknowledged
