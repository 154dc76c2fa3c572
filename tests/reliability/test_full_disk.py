"""A disk that fills up during retains: refused with the reason, nothing acknowledged lost, well again with room."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import Record, Say, Start

REASON = {
    "disk": "the disk is full; nothing was stored, free some space and retry",
    "limit": (
        "the disk failed (disk I/O error); nothing was stored; check its health, its free space and "
        "the limit on file size (ulimit -f)"
    ),
}
REFUSALS_PER_TRIAL = 3


@pytest.mark.parametrize("means", ["disk", "limit"])
def test_a_full_disk_loses_nothing(fill: Callable[..., str], means: str, say: Say) -> None:
    say(fill(means, trials=3, seed=4))


@pytest.mark.soak
@pytest.mark.parametrize("means", ["disk", "limit"])
def test_200_full_disks_lose_nothing(fill: Callable[..., str], means: str, record: Record) -> None:
    # The trials end at the first loss, so whoever gets here lost nothing.
    record("P4", {"trials": 200, "lost": 0, "found": fill(means, trials=200, seed=5)})


@pytest.fixture
def fill(tmp_path: Path, start: Start, request: pytest.FixtureRequest) -> Callable[..., str]:
    def run(means: str, *, trials: int, seed: int) -> str:
        prefix = []
        if means == "disk":
            script = f"mount -t tmpfs -o size=8m tmpfs '{tmp_path}' && exec \"$@\""
            prefix = [*request.getfixturevalue("mounting"), "sh", "-c", script, "sh"]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options = ("--trials", trials, "--seed", seed)
        process = start("full_disk.py", tmp_path, means, *options, prefix=prefix, **pipes)
        output, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
        said = json.loads(output)
        assert said["refusals"] == {REASON[means]: trials * REFUSALS_PER_TRIAL}
        return (
            f"{trials} times a full {means}: {said['acknowledged']} memories acknowledged, 0 lost, "
            f"{sum(said['refusals'].values())} retains refused, recall and later retains worked"
        )

    return run
