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


REMEDY = "in the child process"


@pytest.mark.fault("N64")
def test_a_fork_beside_a_thread_that_writes_is_refused_and_hangs_nothing(
    forked: Callable[[str], Any],
) -> None:
    said = forked("writing")
    endings = {name: ending for name, _, ending in (each.partition(": ") for each in said["calls"])}
    assert {"retain", "get", "bank", "banks"} <= set(endings)
    assert all(REMEDY in ending for name, ending in endings.items() if name != "open")
    assert said["ok"]


@pytest.mark.fault("N64")
def test_a_child_is_refused_the_jobs_of_its_parent(forked: Callable[[str], Any]) -> None:
    said = forked("jobs")
    assert set(said["calls"]) == {"recall", "job", "another", "embedder"}
    assert all(REMEDY in end for end in said["calls"].values())
    assert said["ok"]


@pytest.mark.fault("N64")
def test_a_child_is_refused_an_async_bank(forked: Callable[[str], Any]) -> None:
    said = forked("asynchronous")
    assert set(said["calls"]) == {"get", "stats"}
    assert all(REMEDY in end for end in said["calls"].values())


@pytest.mark.fault("N64")
def test_a_child_is_refused_a_bank_of_a_server_and_sends_nothing(forked: Callable[[str], Any]) -> None:
    said = forked("remote")
    assert set(said["calls"]) == {"banks", "get", "reflect", "export"}
    assert all("connect again in the child process" in end for end in said["calls"].values())


@pytest.mark.fault("N64")
def test_what_a_child_drops_leaves_the_log_of_others_alone(forked: Callable[[str], Any]) -> None:
    said = forked("left")
    assert said["texts"] == ["retained before the fork", "retained by another"]
    assert said["ok"]


@pytest.mark.fault("N64")
def test_a_child_asks_models_anew(forked: Callable[[str], Any]) -> None:
    said = forked("models")
    assert said["calls"]["server"] == "may be asked"
    assert "ask the model again in the child process" in said["calls"]["words"]
