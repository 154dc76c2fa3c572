"""The order of the forest: what it may move, where it is none, and that it says why."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import pytest

import simonides
from simonides.errors import InputError
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.recall.refining import learned_order
from simonides.recall.refining.learned_order import FILE, SIGNAL, Forest, LearnedOrder, forest_of
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.testing.clock import FrozenClock

WHOLE = "The harbour master of Norrhav sold his blue boat."
PARTS = ("The harbour was empty.", "A blue kite hung there.", "He sold figs.", "The master baker sleeps.")
NONE = ("Tove keeps bees.", "Rain fell all week.", "My shoe size is 44.")
QUERY = "harbour master blue boat sold Norrhav"


@pytest.fixture
def bank(tmp_path: Path, clock: FrozenClock, default_embedder: Embedder) -> Iterator[Bank]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=default_embedder, environ={}) as store:
        bank = store.bank("chat")
        bank.retain([WHOLE, *PARTS, *NONE])
        yield bank


def upside_down(value: float, behind: int = 3) -> Forest:
    """One tree: what stands behind the first *behind* gains *value*."""
    tree = {"column": [0], "threshold": [np.log(behind + 0.5)], "mask": [0b10], "value": [0.0, value]}
    return Forest.read({"features": ["rank"], "start": 1.0, "trees": [tree]})


def order(bank: Bank) -> list[str]:
    return [hit.text for hit in bank.recall(QUERY, precision="wide", limit=20)]


def test_the_forest_decides_the_order(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(0.0))
    before = order(bank)
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(0.5))
    hits = bank.recall(QUERY, precision="wide", limit=20).hits
    assert {hit.text for hit in hits} == set(before)
    assert [hit.text for hit in hits] != before
    factors = {hit.text: hit.signals[SIGNAL] for hit in hits}
    assert [factors[text] for text in before] == [1.0] * 3 + [pytest.approx(np.e**0.5, abs=1e-6)] * (
        len(before) - 3
    )


@pytest.mark.spec("DF-05")
def test_what_holds_no_word_never_passes_what_holds_all(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(50.0))
    found = order(bank)
    assert found[0] in PARTS  # what holds some of them may
    whole = found.index(WHOLE)
    assert all(found.index(text) > whole for text in NONE if text in found)


def test_what_rose_says_by_which_signals(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(3.0, behind=6))
    verdicts = [
        verdict
        for each in bank.recall(QUERY, precision="wide", explain=True).explanations
        for verdict in each.verdicts
        if verdict.stage == "learned_order"
    ]
    notes = [verdict.note for verdict in verdicts if verdict.note]
    assert notes
    assert all(note.startswith("rose from ") and note.endswith(" by rank") for note in notes)


@pytest.mark.parametrize("embedder", [None, StubEmbedder()])
def test_without_the_embedder_that_it_was_trained_for_it_does_nothing(
    embedder: Embedder | None, tmp_path: Path
) -> None:
    with simonides.open(tmp_path / "other", embedder=embedder, environ={}) as store:
        bank = store.bank("chat")
        bank.retain([WHOLE, *PARTS])
        hits = bank.recall(QUERY, precision="wide").hits
    assert hits
    assert not any(SIGNAL in hit.signals for hit in hits)


def test_the_same_query_gives_the_same_bits(bank: Bank) -> None:
    first, again = (bank.recall(QUERY, precision="wide").hits for _ in range(2))
    assert any(SIGNAL in hit.signals for hit in first)
    assert [(hit.id, hit.score) for hit in first] == [(hit.id, hit.score) for hit in again]


def test_what_ships_is_small_and_fits_its_embedder() -> None:
    forest = forest_of(DEFAULT_EMBEDDER)
    assert forest is not None
    assert len(forest.features) <= 32
    assert files(learned_order.__package__).joinpath(FILE).stat().st_size <= 50_000  # type: ignore[attr-defined]
    assert forest_of("another") is None


def test_a_depth_of_one_orders_nothing_and_is_refused() -> None:
    with pytest.raises(InputError, match="depth"):
        LearnedOrder(1)
