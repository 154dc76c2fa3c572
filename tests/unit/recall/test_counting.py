from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from simonides.recall.counting import Meter
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import fake_tools
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ByLength:
    """A reranker that likes long texts."""

    name: str = "by-length"
    gives: Literal["logits", "probabilities", "unknown"] = "logits"

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(len(text)) for text in texts]


def test_calls_of_models_are_counted_and_passed_on() -> None:
    stub, meter = StubEmbedder(8), Meter()
    tools = meter.tools(replace(fake_tools(embedder=stub), reranker=ByLength()))
    assert tools.embedder is not None
    assert tools.reranker is not None
    assert (tools.embedder.name, tools.embedder.dimension) == (stub.name, 8)
    assert tools.embedder.fingerprint == stub.fingerprint
    assert (tools.reranker.name, tools.reranker.gives) == ("by-length", "logits")
    assert meter.counts == {}

    assert tools.embedder.encode_query("tea").tolist() == stub.encode_query("tea").tolist()
    assert tools.embedder.encode(["a", "b"]).tolist() == stub.encode(["a", "b"]).tolist()
    assert list(tools.reranker.score("q", ["tea", "cake"])) == [3.0, 4.0]
    tools.reranker.score("q", [])
    meter.add("dense")
    assert meter.counts == {"dense": 1, "query_embedding": 1, "rerank": 2}


def test_a_sparse_encoder_is_counted_and_passed_on() -> None:
    stub, meter = StubSparseEncoder(), Meter()
    tools = meter.tools(replace(fake_tools(), sparse=stub))
    assert tools.sparse is not None
    assert (tools.sparse.name, tools.sparse.fingerprint) == (stub.name, stub.fingerprint)
    assert tools.sparse.encode_query("tea").ids.tolist() == stub.encode_query("tea").ids.tolist()
    assert [len(terms) for terms in tools.sparse.encode(["a", "a b"])] == [1, 2]
    assert meter.counts == {"sparse_terms": 1}


def test_models_that_are_not_there_stay_away() -> None:
    tools = Meter().tools(fake_tools())
    assert (tools.embedder, tools.reranker, tools.sparse) == (None, None, None)
