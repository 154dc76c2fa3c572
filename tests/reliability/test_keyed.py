"""Processes whose threads write the same keys, killed at random: what was acknowledged is there, once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.reliability.keyed import FILE, KEY, NAMESPACE, SESSION

import simonides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.reliability.conftest import Record, Say, Start

    from simonides.bank import Bank

PROCESSES, THREADS = 2, 8
OPERATIONS = int(os.environ.get("RELIABILITY_KEYED_OPERATIONS", "2000"))
"""Of each thread, in the soak."""


@dataclass
class Figures:
    """What the processes did, to be read beside "all passed"."""

    kills: int = 0
    acknowledged: Counter[str] = field(default_factory=Counter)
    in_flight: Counter[str] = field(default_factory=Counter)
    items_left: int = 0
    file_lines: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{PROCESSES} processes of {THREADS} threads, {self.kills} kills: {sum(self.acknowledged.values())} "
            f"calls acknowledged ({dict(self.acknowledged)}), {sum(self.in_flight.values())} in flight at a kill, "
            f"0 items lost, 0 popped twice, 1 value a key, 0 edits lost; {self.items_left} items and "
            f"{self.file_lines} lines left; {self.seconds:.1f} s"
        )


@pytest.mark.fault("N62")
@pytest.mark.fault("N63")
def test_keys_written_by_processes_that_are_killed(crowd: Callable[..., Figures], say: Say) -> None:
    say(str(crowd(operations=15, kills=2, seed=1, pause=(0.1, 0.6))))


@pytest.mark.soak
@pytest.mark.fault("N62")
@pytest.mark.fault("N63")
def test_2_000_operations_a_thread_while_processes_are_killed(
    crowd: Callable[..., Figures], record: Record
) -> None:
    for module in ("agents", "langgraph.store.base", "anthropic.lib.tools"):
        pytest.importorskip(module)
    figures = crowd("--frameworks", operations=OPERATIONS, kills=40, seed=62, pause=(0.5, 15.0))
    # Whoever gets here lost nothing.
    counts = {
        "kills": figures.kills,
        "acknowledged": dict(figures.acknowledged),
        "in_flight": dict(figures.in_flight),
        "items_left": figures.items_left,
        "lost": 0,
        "popped_twice": 0,
        "edits_lost": 0,
    }
    record("N62", counts)


@pytest.fixture
def crowd(tmp_path: Path, start: Start) -> Callable[..., Figures]:
    """Runs the processes and checks what they said against the bank."""

    def run(*how: str, operations: int, kills: int, seed: int, pause: tuple[float, float]) -> Figures:
        store, figures = tmp_path / "store", Figures()
        with simonides.open(store, embedder=None) as opened:
            opened.bank().put_records("anthropic", [{"path": [FILE], "value": "begun", "text": "begun"}])
        began = time.monotonic()
        group = _Group(start, store, tmp_path, how)
        group.run(operations, kills, random.Random(seed), pause)
        figures.kills, figures.seconds = group.kills, time.monotonic() - began
        with simonides.open(store, embedder=None, create=False) as opened:
            _check(group.said(), opened.bank(), figures)
            report = opened.bank().verify()
            assert report.ok, report.problems
        return figures

    return run


class _Group:
    """Processes at one bank; when one is killed, another goes on with what it had left."""

    def __init__(self, start: Start, store: Path, folder: Path, how: Sequence[str]) -> None:
        self._start, self._store, self._folder, self._how = start, store, folder, how
        self._running: list[tuple[subprocess.Popen[str], Path, int]] = []
        self.kills = 0

    def run(self, operations: int, kills: int, chance: random.Random, pause: tuple[float, float]) -> None:
        for _ in range(PROCESSES):
            self._begin(operations)
        while self.kills < kills:
            alive = [each for each in self._running if each[0].poll() is None]
            if not alive:
                break
            process, output, left = chance.choice(alive)
            while not output.stat().st_size and process.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(*pause))
            if process.poll() is None:
                process.kill()
                process.wait()
                self.kills += 1
                ended = sum("end" in line for line in _lines(output))
                self._begin(max(1, left - ended // THREADS))
        for process, _, _ in self._running:
            _, errors = process.communicate()
            assert process.returncode == -signal.SIGKILL or (process.returncode, errors) == (0, ""), errors

    def said(self) -> list[dict[str, Any]]:
        return [line for _, output, _ in self._running for line in _lines(output)]

    def _begin(self, operations: int) -> None:
        name = f"p{len(self._running)}"
        output = self._folder / f"{name}.lines"
        options = ("--threads", THREADS, "--operations", operations, *self._how)
        with output.open("w") as file:
            process = self._start(
                "keyed.py", self._store, name, *options, stdout=file, stderr=subprocess.PIPE
            )
        self._running.append((process, output, operations))


def _lines(output: Path) -> list[dict[str, Any]]:
    """What a process said; a last line that was cut short promised nothing."""
    whole = [line for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [json.loads(line) for line in whole]


def _check(said: list[dict[str, Any]], bank: Bank, figures: Figures) -> None:
    ended = {line["end"]: line for line in said if "end" in line}
    begun = {line["begin"]: line for line in said if "begin" in line}
    lost = [line for call, line in begun.items() if call not in ended]
    figures.acknowledged.update(line["what"] for line in ended.values())
    figures.in_flight.update(line["what"] for line in lost)
    _check_session(ended, lost, bank, figures)

    [record] = bank.list_records("langgraph", NAMESPACE)
    assert record.path == (*NAMESPACE, KEY)
    assert record.value["text"] in {line["value"] for line in begun.values() if line["what"] == "put"}
    assert {line["values"] for line in ended.values() if line["what"] == "read"} <= {0, 1}

    [file] = bank.list_records("anthropic", [FILE])
    # The memory tool ends a file with a line break, as the SDK's own does.
    lines = Counter(file.value.removesuffix("\n").split("\n"))
    edits = {line["value"] for line in ended.values() if line["what"] == "edit"}
    tried = edits | {line["value"] for line in lost if line["what"] == "edit"}
    assert set(lines.values()) == {1}
    assert edits <= set(lines) <= {"begun", *tried}
    figures.file_lines = len(lines)


def _check_session(ended: dict[str, Any], lost: list[dict[str, Any]], bank: Bank, figures: Figures) -> None:
    records = bank.list_records("openai-agents", SESSION)
    left = [record.value["content"] for record in records]
    popped = [line["popped"] for line in ended.values() if line.get("popped")]
    added = {item for line in ended.values() for item in line.get("added", ())}
    maybe = {f"{line['value']} {part}" for line in lost if line["what"] == "add" for part in "ab"}
    counts = Counter([*left, *popped])
    assert set(counts.values()) <= {1}, "an item is there twice, popped twice, or popped and there"
    assert set(counts) <= added | maybe
    # A pop that was in flight at a kill may have taken an item with it, one at most.
    gone = added - set(counts)
    assert len(gone) <= sum(line["what"] == "pop" for line in lost)
    numbers = [record.path[-1] for record in records]
    assert numbers == sorted(set(numbers)), "a number was given twice"
    figures.items_left = len(left)
