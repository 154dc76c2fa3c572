"""A bank that tests of maintenance share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=None) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    return store.bank("diary")
