"""A load killed at any moment: batches that were reported are there whole, and made again it goes on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

ITEMS, BATCH = 8 * 1_024, 1_024

LOADER = f"""
import sys
import simonides
from simonides.testing.embedder import StubEmbedder

if __name__ == "__main__":
    texts = [f"{{number}} fig trees near Norrhav" for number in range({ITEMS})]
    with simonides.open(sys.argv[1], embedder=StubEmbedder()) as store:
        store.bank().load(
            texts, StubEmbedder().encode(texts), batch={BATCH}, progress=lambda done: print(done, flush=True)
        )
    print("end", flush=True)
"""


@pytest.mark.fault("W3")
@pytest.mark.parametrize("reported", [1, pytest.param(3, marks=pytest.mark.soak), 6])
def test_a_killed_load_loses_nothing_and_goes_on(tmp_path: Path, reported: int) -> None:
    chance = random.Random(reported)
    script, folder = tmp_path / "loader.py", tmp_path / "store"
    script.write_text(LOADER)
    loader = subprocess.Popen([sys.executable, str(script), str(folder)], stdout=subprocess.PIPE, text=True)
    assert loader.stdout is not None
    acknowledged = [int(loader.stdout.readline()) for _ in range(reported)]
    try:
        loader.wait(chance.uniform(0.0, 0.25))
    except subprocess.TimeoutExpired:
        loader.send_signal(signal.SIGKILL)
    left = [line for line in loader.stdout.read().split() if line != "end"]
    loader.stdout.close()
    loader.wait()

    promised = int(left[-1]) if left else acknowledged[-1]
    texts = [f"{number} fig trees near Norrhav" for number in range(ITEMS)]
    with simonides.open(folder, embedder=StubEmbedder()) as store:
        bank = store.bank()
        held = bank.stats()["memories"]
        assert held >= promised
        assert held % BATCH == 0
        assert bank.verify().ok
        assert bank.recall(texts[promised - 1], limit=1).hits[0].text == texts[promised - 1]
        assert len(set(bank.load(texts, StubEmbedder().encode(texts), batch=BATCH))) == ITEMS
        assert bank.stats()["versions"] == ITEMS
        assert bank.verify().ok
