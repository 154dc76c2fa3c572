"""G2: an entity that nearly every memory mentions neither drowns nor slows what the graph finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank

CHAIN = (
    "Ines says that Kestrel depends on Osprey",
    "Osprey waits for Ines",
    "Ines pays Osprey from the Borealis budget",
)


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """2,000 memories that mention the user, and three that lead from Kestrel to a budget."""
    folder = tmp_path_factory.mktemp("store")
    with simonides.open(folder, clock=FrozenClock(), embedder=StubEmbedder(dimension=32)) as store:
        opened = store.bank("diary")
        opened.retain([*(f"Ines likes gadget {n}" for n in range(2_000)), *CHAIN], deduplicate=False)
        yield opened


@pytest.mark.fault("G2")
def test_osprey_and_the_budget_are_among_the_first_five(bank: Bank) -> None:
    assert max(entity.mentions for entity in bank.entities()) == 2_003
    recall = bank.recall("What does Kestrel depend on?", profile="memoria")
    assert set(CHAIN) <= {hit.text for hit in recall.hits[:5]}
    assert recall[0].text == CHAIN[0]


@pytest.mark.fault("G2")
def test_the_graph_puts_them_first_also_when_the_hub_is_asked_for(bank: Bank) -> None:
    recall = bank.recall(
        "What does Ines say about Kestrel?", profile="memoria", limit=10_000, max_tokens=None
    )
    by_graph = sorted(
        (hit for hit in recall if "pagerank" in hit.ranks), key=lambda hit: hit.ranks["pagerank"]
    )
    assert by_graph[0].text == CHAIN[0]
    assert {hit.text for hit in by_graph[:3]} == set(CHAIN)
    # All edges fit the budget; the walk's own tests show what is said when they do not.
    assert [line.reason for line in recall.trace.stages if line.name == "pagerank"] == [""]


@pytest.mark.fault("G2")
def test_alone_the_hub_is_no_better_than_its_memories(bank: Bank) -> None:
    recall = bank.recall("Ines", profile="memoria", limit=10_000, max_tokens=None)
    masses = np.array([hit.channel_scores["pagerank"] for hit in recall if "pagerank" in hit.ranks])
    assert len(masses) == 100
    assert masses.max() < 0.01
