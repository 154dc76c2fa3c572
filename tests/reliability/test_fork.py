"""A store that was open when its process forked: refused in the child, safe for both."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import Start

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


@pytest.fixture
def forked(tmp_path: Path, start: Start) -> Callable[[str], Any]:
    def run(what: str) -> Any:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # Newer versions of Python warn of any fork beside threads, those of numpy included.
        pipes["env"] = os.environ | {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
        process = start("forking.py", tmp_path / "store", what, **pipes)
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
        return json.loads(output)

    return run


def test_a_child_is_refused_and_its_parent_goes_on(forked: Callable[[str], Any]) -> None:
    said = forked("used")
    assert set(said["calls"]) == {"retain", "recall", "get", "forget", "stats", "verify", "bank"}
    assert all("open the store again in the child process" in end for end in said["calls"].values())
    assert said["texts"] == ["retained before the fork", "retained by the parent afterwards"]
    assert said["ok"]


def test_a_child_that_opens_the_store_anew_loses_nothing(forked: Callable[[str], Any]) -> None:
    said = forked("reopened")
    assert said["texts"] == [
        "retained before the fork",
        "retained by another",
        "retained by the parent afterwards",
        "retained in the child",
        "retained in the child after its parent closed",
    ]
    assert said["ok"]


def test_a_fork_inside_a_transaction_cannot_open_the_store(forked: Callable[[str], Any]) -> None:
    said = forked("busy")
    assert "start the process by 'spawn'" in said["calls"]["open"]
    assert said["texts"] == ["retained before the fork"]
    assert said["ok"]
