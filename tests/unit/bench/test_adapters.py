"""The adapters that need no peer: dense and fusion; BM25 over a stand-in for its library."""

from __future__ import annotations

import sys
from array import array
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench.peers.adapters.bm25 import Bm25
from bench.peers.adapters.dense import Dense
from bench.peers.adapters.reciprocal_rank import ReciprocalRank
from bench.peers.lines import Text
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path()


def letters(texts: Sequence[str]) -> list[array[float]]:
    return [array("f", (text.count("a"), text.count("b"))) for text in texts]


def texts_of(*texts: str) -> list[Text]:
    return [Text(place, text) for place, text in enumerate(texts)]


class Fixed:
    """A peer that always finds the same."""

    def __init__(self, *places: int) -> None:
        self.places = places
        self.kept: list[Text] = []
        self.depths: list[int] = []

    def add(self, texts: Sequence[Text]) -> None:
        self.kept.extend(texts)

    def ask(self, question: str, depth: int) -> list[int]:
        self.depths.append(depth)
        return list(self.places[:depth])


def test_dense_ranks_by_the_angle_alone_and_breaks_ties_by_place() -> None:
    peer = Dense(letters, HERE)
    peer.add(texts_of("bbbbbb a", "ab", "aabb", "b"))
    peer.add([Text(4, "nothing")])
    # 1 and 2 point the same way; a text without a vector is at right angles to everything.
    assert peer.ask("ab", 5) == [1, 2, 0, 3, 4]
    assert peer.ask("b", 2) == [3, 0]


def test_dense_without_texts_finds_nothing() -> None:
    assert Dense(letters, HERE).ask("a", 3) == []


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=12))
def test_dense_agrees_with_cosines_computed_one_by_one(rows: list[list[int]]) -> None:
    def encode(texts: Sequence[str]) -> list[array[float]]:
        return [array("f", map(float, text.split())) for text in texts]

    peer = Dense(encode, HERE)
    peer.add(texts_of(*(" ".join(map(str, row)) for row in rows)))

    def cosine(row: list[int]) -> float:
        length = float(np.linalg.norm(row)) * float(np.linalg.norm([1, 2, 0]))
        return float(np.dot(row, [1, 2, 0])) / length if length else 0.0

    found = peer.ask("1 2 0", 20)
    assert sorted(found) == list(range(len(rows)))
    similarities = [cosine(rows[place]) for place in found]
    assert all(a >= b - 1e-9 for a, b in pairwise(similarities))


def test_fusion_adds_reciprocal_ranks_from_one() -> None:
    first, second = Fixed(7, 3, 5), Fixed(3, 9)
    peer = ReciprocalRank([first, second])
    peer.add(texts_of("a"))
    # 3: 1/62 + 1/61; 7: 1/61; 9: 1/62; 5: 1/63.
    assert peer.ask("a", 20) == [3, 7, 9, 5]
    assert peer.ask("a", 1) == [3]
    assert first.kept == second.kept == texts_of("a")
    assert first.depths == [100, 100]


def test_fusion_breaks_ties_by_place_and_ignores_the_order_of_its_members() -> None:
    assert ReciprocalRank([Fixed(8, 2), Fixed(2, 8)]).ask("a", 9) == [2, 8]
    one, other = Fixed(4, 1, 6), Fixed(6, 0)
    assert ReciprocalRank([one, other]).ask("a", 9) == ReciprocalRank([other, one]).ask("a", 9)


class StandInIndex:
    """Scores by how many of the question's words a text has; keeps the library's shapes."""

    def index(self, tokens: list[set[str]], show_progress: bool) -> None:
        self.tokens = tokens

    def retrieve(
        self, tokens: list[set[str]], k: int, show_progress: bool, n_threads: int
    ) -> tuple[Any, Any]:
        scores = np.array([len(tokens[0] & text) for text in self.tokens], np.float32)
        # As the library may: equal scores in any order.
        order = np.lexsort((-np.arange(len(scores)), -scores))[:k]
        return order[None], scores[order][None]


@pytest.fixture
def bm25(monkeypatch: pytest.MonkeyPatch) -> Bm25:
    library = ModuleType("bm25s")

    def tokenize(texts: list[str], *, stopwords: str, stemmer: Any, show_progress: bool) -> list[set[str]]:
        assert stopwords == "en"
        return [{stemmer.stemWord(word) for word in text.split()} for text in texts]

    monkeypatch.setattr(library, "BM25", StandInIndex, raising=False)
    monkeypatch.setattr(library, "tokenize", tokenize, raising=False)
    monkeypatch.setitem(sys.modules, "bm25s", library)
    return Bm25(letters, HERE)


def test_bm25_drops_what_shares_no_term_and_breaks_ties_by_place(bm25: Bm25) -> None:
    bm25.add([Text(3, "cats sleep"), Text(4, "dogs run"), Text(5, "the cat runs"), Text(6, "a cat")])
    assert bm25.ask("cats running", 9) == [5, 3, 4, 6]
    assert bm25.ask("cats running", 2) == [5, 3]
    assert bm25.ask("horses", 9) == []


def test_bm25_indexes_anew_after_new_texts(bm25: Bm25) -> None:
    bm25.add(texts_of("cats sleep"))
    assert bm25.ask("dog", 9) == []
    bm25.add([Text(1, "a dog")])
    assert bm25.ask("dog", 9) == [1]
