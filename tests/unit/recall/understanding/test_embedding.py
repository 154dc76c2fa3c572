from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import ModelMissingError
from simonides.recall.understanding.question import QueryEmbedding
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Embedder
    from simonides.records.query import Query

NAN, INF = float("nan"), float("inf")


@dataclass
class AnsweringEmbedder:
    """Answers a query with what a function returns, or raises, and counts the calls."""

    answer: Callable[[], NDArray[np.float32]]
    dimension: int = 2
    name: str = "answering"
    fingerprint: str = "answering"
    calls: int = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise NotImplementedError

    def encode_query(self, text: str) -> NDArray[np.float32]:
        self.calls += 1
        return self.answer()


def understood(embedder: Embedder | None, text: str = "tea") -> Query:
    query = fake_query(text, notes=("earlier",))
    return QueryEmbedding().understand(FakeView.of([]), query, fake_tools(embedder=embedder))


def test_the_vector_is_scaled_to_length_one_in_float32() -> None:
    query = understood(StubEmbedder(2, {"tea": [3.0, 4.0]}))
    assert query.vector is not None
    assert query.vector.dtype == np.float32
    assert query.vector.tolist() == pytest.approx([0.6, 0.8])
    assert query.notes == ("earlier",)


@pytest.mark.parametrize("size", [1e-40, 1e38])
def test_tiny_and_huge_vectors_keep_their_direction(size: float) -> None:
    query = understood(StubEmbedder(2, {"tea": [size, -size]}))
    assert query.vector is not None
    assert query.vector.tolist() == pytest.approx([0.5**0.5, -(0.5**0.5)], rel=1e-4)


def test_the_query_is_encoded_once() -> None:
    embedder = AnsweringEmbedder(lambda: np.array([1.0, 0.0], np.float32))
    assert understood(embedder).vector is not None
    assert embedder.calls == 1


def test_without_an_embedder_there_is_a_note_and_no_vector() -> None:
    query = understood(None)
    assert query.vector is None
    assert query.notes == ("earlier", "no embedder")


@pytest.mark.fault("V1")
@pytest.mark.parametrize(
    ("vector", "says"),
    [([0.0, 0.0], "zero vector"), ([1.0, NAN], "not finite"), ([INF, 1.0], "not finite")],
)
def test_a_vector_without_direction_is_no_vector(vector: list[float], says: str) -> None:
    query = understood(StubEmbedder(2, {"tea": vector}))
    assert query.vector is None
    assert says in query.notes[-1]


def test_a_vector_of_the_wrong_shape_is_no_vector() -> None:
    query = understood(AnsweringEmbedder(lambda: np.ones((1, 2), np.float32)))
    assert query.vector is None
    assert "shape (1, 2)" in query.notes[-1]


@pytest.mark.fault("O3")
@pytest.mark.parametrize("error", [ModelMissingError("run the pull command"), RuntimeError("bad weights")])
def test_a_failing_embedder_is_named_and_does_not_end_the_recall(error: Exception) -> None:
    def fail() -> NDArray[np.float32]:
        raise error

    query = understood(AnsweringEmbedder(fail))
    assert query.vector is None
    assert query.notes[-1] == f"the embedder failed: {type(error).__name__}: {error}"


def test_a_stand_in_is_noted() -> None:
    tools = fake_tools(embedder=StubEmbedder(2))
    for designed_for, notes in (("bge", ("stub stands in for bge",)), ("stub", ()), ("", ())):
        query = QueryEmbedding(designed_for).understand(FakeView.of([]), fake_query("tea"), tools)
        assert query.vector is not None
        assert query.notes == notes
