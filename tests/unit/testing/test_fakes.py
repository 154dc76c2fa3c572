from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.testing.fakes import FakeView, WordAnalyser, WordCounter, fake_memory

if TYPE_CHECKING:
    from simonides.protocols import Analyser, TokenCounter, View

VIEW: View = FakeView.of([fake_memory("tea", path="b"), fake_memory("rye", path="a")], visible=[True, False])
ANALYSER: Analyser = WordAnalyser(frozenset({"the"}))
COUNTER: TokenCounter = WordCounter()


def test_rankings_are_in_the_total_order() -> None:
    everything = FakeView.of(
        [fake_memory("b"), fake_memory("a"), fake_memory("c", path="z"), fake_memory("d")]
    )
    scores = np.array([1.0, 1.0, 1.0, 2.0])
    ranking = everything.ranking(np.arange(4), scores, 3, "why")
    assert ranking.ordinals.tolist() == [3, 1, 0]
    assert ranking.reason == "why"


def test_only_visible_rows_are_read() -> None:
    assert [memory.text for memory in VIEW.memories([0])] == ["tea"]
    with pytest.raises(PermissionError, match="row 1"):
        VIEW.memories([0, 1])


def test_eligible_rows_are_visible_ones() -> None:
    view = FakeView.of([fake_memory("a"), fake_memory("b")], visible=[True, False], eligible=[True, True])
    assert view.eligible.tolist() == [True, False]


def test_ordinals_are_positions() -> None:
    assert [memory.ordinal for memory in FakeView.of([fake_memory("a"), fake_memory("b")]).stored] == [0, 1]


def test_cosines_of_eligible_rows_that_have_a_vector() -> None:
    view = FakeView.of(
        [fake_memory(name) for name in "abcd"],
        vectors=[[2.0, 0.0], None, [0.0, 1.0], [-1.0, 0.0]],
        eligible=[True, True, True, False],
    )
    query = np.array([1.0, 0.0], np.float32)
    ordinals, cosines = view.snapshot.vectors.nearest(query, view.eligible, depth=1, rescore=1)
    assert (ordinals.tolist(), cosines.tolist()) == ([0, 2], [1.0, 0.0])


def test_terms_and_tokens_are_words() -> None:
    assert ANALYSER.terms("The Fuse, the lamp") == ["the", "fuse", "the", "lamp"]
    assert ANALYSER.query_terms("The Fuse") == ["fuse"]
    assert ANALYSER.query_terms("the") == ["the"]
    assert ANALYSER.fingerprint != WordAnalyser().fingerprint
    assert COUNTER.count("two  words\n") == 2
