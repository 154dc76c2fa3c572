"""What conformance tests have at hand: a store per test, and profiles of one channel."""

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
    from simonides.testing.embedder import StubEmbedder


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder) -> Iterator[Store]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=stub_embedder) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    """The owner's view of an empty bank with the stub embedder."""
    return store.bank("diary")


@pytest.fixture
def dense_only(tmp_path: Path) -> Path:
    """A profile of the dense channel alone."""
    profile = tmp_path / "dense.toml"
    profile.write_text(
        'extends = "default"\norder = ["embedding", "dense", "reciprocal_rank", "token_budget"]\n',
        encoding="utf-8",
    )
    return profile
