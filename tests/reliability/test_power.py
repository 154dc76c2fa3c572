"""The power goes at any call of the disk: what was acknowledged is there, and no change is there by halves."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.reliability.power import cut_power

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.reliability.conftest import Record, Share


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one: what is synced is the harness's to say, not the disk's."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield Path(folder)


@pytest.mark.fault("M2")
@pytest.mark.fault("W3")
def test_a_power_cut_loses_nothing(place: Path, record: Record) -> None:
    cuts = cut_power(place, trials=60, seed=1)
    record("P2", cuts.counts())
    assert cuts.harm == 0, cuts.problems


@pytest.mark.soak
@pytest.mark.fault("M2")
@pytest.mark.fault("W3")
def test_20_000_power_cuts_lose_nothing(place: Path, record: Record, share: Share) -> None:
    cuts = cut_power(place, trials=share.part(20_000), seed=1_000 + share.number)
    record("P2", cuts.counts())
    assert cuts.harm == 0, cuts.problems


@pytest.mark.fault("M2")
def test_without_syncing_the_harness_sees_loss_and_damage(place: Path, record: Record) -> None:
    cuts = cut_power(place, trials=60, seed=2, synchronous="off", stop_at_harm=True)
    record("P2-control-off", cuts.counts())
    assert cuts.lost > 0
    assert cuts.corrupt > 0


@pytest.mark.fault("M2")
def test_with_rare_syncing_the_harness_sees_loss_without_damage(place: Path, record: Record) -> None:
    cuts = cut_power(place, trials=60, seed=3, synchronous="normal", stop_at_harm=True)
    record("P2-control-normal", cuts.counts())
    assert cuts.lost > 0
    assert cuts.corrupt == 0, cuts.problems
