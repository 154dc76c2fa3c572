"""The order of the forest: what it may move, where it is none, and that it says why."""

from __future__ import annotations

import itertools
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Literal
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simonides
from simonides.errors import InputError
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.recall.refining import learned_order
from simonides.recall.refining.learned_order import (
    FILE,
    SIGNAL,
    Forest,
    LearnedOrder,
    bounded_order,
    forest_of,
    turns_beside,
)
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import Embedder, View
    from simonides.testing.clock import FrozenClock

WHOLE = "The harbour master of Norrhav sold his blue boat."
PARTS = ("The harbour was empty.", "A blue kite hung there.", "He sold figs.", "The master baker sleeps.")
NONE = ("Tove keeps bees.", "Rain fell all week.", "My shoe size is 44.", "Figs need light.")
QUERY = "harbour master blue boat sold Norrhav"


@pytest.fixture
def bank(tmp_path: Path, clock: FrozenClock, default_embedder: Embedder) -> Iterator[Bank]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=default_embedder, environ={}) as store:
        bank = store.bank("chat")
        bank.retain_conversation([{"text": text} for text in (WHOLE, *PARTS, *NONE)], session="s")
        yield bank


def upside_down(value: float, behind: int = 3) -> Forest:
    """One tree: what stands behind the first *behind* gains *value*."""
    tree = {"column": [0], "threshold": [np.log(behind + 0.5)], "mask": [0b10], "value": [0.0, value]}
    return Forest.read({"features": ["rank"], "start": 1.0, "trees": [tree]})


def order(bank: Bank) -> list[str]:
    return [hit.text for hit in bank.recall(QUERY, precision="wide", limit=20)]


def test_the_forest_decides_the_order_and_scores_fall(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(0.0))
    before = order(bank)
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(0.5))
    hits = bank.recall(QUERY, precision="wide", limit=20).hits
    assert {hit.text for hit in hits} == set(before)
    assert [hit.text for hit in hits] != before
    factors = {hit.text: hit.signals[SIGNAL] for hit in hits}
    # The median of the head counts as nothing gained.
    behind = [factors[text] for text in before[3:]]
    assert behind == [1.0] * len(behind)
    assert [factors[text] for text in before[:3]] == pytest.approx([np.e**-0.5] * 3, abs=1e-6)
    assert all(one.score > other.score for one, other in itertools.pairwise(hits))


def test_what_is_no_conversation_stays_as_it_is(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, default_embedder: Embedder, tmp_path: Path
) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(0.5))
    with simonides.open(tmp_path / "facts", embedder=default_embedder, environ={}) as store:
        facts = store.bank("facts")
        facts.retain([WHOLE, *PARTS, *NONE])
        assert not any(SIGNAL in hit.signals for hit in facts.recall(QUERY, precision="wide").hits)
    assert all(SIGNAL in hit.signals for hit in bank.recall(QUERY, precision="wide").hits)


class ByLength:
    """A reranker that prefers short texts."""

    name = "by-length"
    gives: Literal["probabilities"] = "probabilities"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [1 / len(text) for text in texts]


def test_what_a_reranker_has_read_keeps_its_order(
    bank: Bank,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    clock: FrozenClock,
    default_embedder: Embedder,
) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(5.0))
    assert any(SIGNAL in hit.signals for hit in bank.recall(QUERY, precision="wide").hits)
    profile = tmp_path / "read.toml"
    stages = ["terms", "embedding", "dense", "lexical", "score_sum"]
    order = json.dumps([*stages, "cross_encoder", "learned_order", "token_budget"])
    profile.write_text(
        f'extends = "default"\norder = {order}\noptional = []\n[stages.cross_encoder]\ndepth = 3\n',
        encoding="utf-8",
    )
    with simonides.open(
        tmp_path / "other", clock=clock, embedder=default_embedder, reranker=ByLength(), environ={}
    ) as store:
        other = store.bank("chat")
        other.retain_conversation([{"text": text} for text in (WHOLE, *PARTS, *NONE)], session="s")
        hits = other.recall(QUERY, profile=str(profile), limit=20).hits
    assert hits
    assert not any(SIGNAL in hit.signals for hit in hits)


@given(st.data())
def test_the_bound_holds_for_any_scores(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    shares = st.sampled_from([0.0, 0.3, 1.0])
    scores = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1e11]), min_size=count, max_size=count))
    )
    coverage = np.array(data.draw(st.lists(shares, min_size=count, max_size=count)))
    places = bounded_order(scores, coverage)
    assert sorted(places) == list(range(count))
    now = {place: rank for rank, place in enumerate(places)}
    for whole, none in itertools.product(
        np.flatnonzero(coverage == 1).tolist(), np.flatnonzero(coverage == 0).tolist()
    ):
        if whole < none:
            assert now[whole] < now[none]
    if not ((coverage == 1).any() and (coverage == 0).any()):
        assert places == sorted(range(count), key=lambda place: (-scores[place], place))


def test_an_edited_turn_keeps_its_place_in_the_conversation(bank: Bank) -> None:
    rows = bank.list_memories(limit=20)
    middle = next(each for each in rows if each.text == PARTS[0])
    bank.update_memory(middle.id, text="The harbour was quite empty.")
    seen = {}

    def watch(view: View, ordinals: np.ndarray) -> np.ndarray:
        found = turns_beside(view, ordinals)
        texts = {
            each.ordinal: each.text
            for each in view.memories(list({*ordinals.tolist(), *found[found >= 0].tolist()}))
        }
        seen.update(
            {
                texts[row]: [texts.get(other) for other in found[:, at].tolist()]
                for at, row in enumerate(ordinals.tolist())
            }
        )
        return found

    with patch.object(learned_order, "turns_beside", watch):
        bank.recall(QUERY, precision="wide")
    assert seen["The harbour was quite empty."] == [WHOLE, PARTS[1]]
    assert seen[WHOLE] == [None, "The harbour was quite empty."]


@pytest.mark.spec("DF-05")
def test_what_holds_no_word_never_passes_what_holds_all(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_order, "forest_of", lambda _: upside_down(50.0))
    found = order(bank)
    assert found[0] in PARTS  # what holds some of them may
    whole = found.index(WHOLE)
    # The first two have words of the query in their context, the turns before.
    assert all(found.index(text) > whole for text in NONE[2:])


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
