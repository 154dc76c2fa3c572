from __future__ import annotations

import numpy as np
import pytest

from simonides.recall.channels.lexical import Lexical
from simonides.recall.channels.vectors import Dense
from simonides.recall.understanding.question import QueryEmbedding, RetrievalMode
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

VIEW = FakeView.of([fake_memory("fuse")], vectors=[[1.0, 0.0]])
VECTOR = np.array([1.0, 0.0], np.float32)


@pytest.mark.spec("JB-05")
@pytest.mark.parametrize(
    ("asked", "vector", "settled", "fell_back", "skip"),
    [
        ("auto", True, "hybrid", False, ""),
        ("auto", False, "bm25", False, ""),
        ("bm25", True, "bm25", False, "mode_off"),
        ("bm25", False, "bm25", False, "mode_off"),
        ("semantic", True, "semantic", False, "mode_off"),
        ("semantic", False, "bm25", True, "mode_off"),
        ("hybrid", True, "hybrid", False, ""),
        ("hybrid", False, "bm25", True, ""),
        ("hybrid-rerank", True, "hybrid-rerank", False, ""),
        ("hybrid-rerank", False, "bm25", True, ""),
    ],
)
def test_the_mode_that_a_query_can_have(
    asked: str, vector: bool, settled: str, fell_back: bool, skip: str
) -> None:
    query = fake_query("fuse", mode=asked, vector=VECTOR if vector else None)
    found = RetrievalMode().understand(VIEW, query, fake_tools())
    assert (found.mode, found.fell_back_to_bm25, found.skip_rerank) == (settled, fell_back, skip)
    assert found.notes == (("fell_back_to_bm25",) if fell_back else ())


@pytest.mark.spec("JB-05")
def test_auto_falls_back_where_the_embedder_is_there_and_gave_no_vector() -> None:
    tools = fake_tools(embedder=StubEmbedder(2))
    assert RetrievalMode().understand(VIEW, fake_query("fuse"), tools).fell_back_to_bm25


@pytest.mark.spec("JB-05")
def test_channels_leave_the_modes_alone_that_are_not_theirs() -> None:
    query = fake_query("fuse", vector=VECTOR, terms=(("fuse", 1),))
    dense, lexical = Dense(depth=5, rescore=5), Lexical(depth=5, k1=1.2, b=0.75, fields={"text": 1.0})
    found = {
        mode: [
            len(
                channel.search(
                    VIEW, fake_query("fuse", vector=VECTOR, terms=query.terms, mode=mode), fake_tools()
                )
            )
            for channel in (dense, lexical)
        ]
        for mode in ("bm25", "semantic", "hybrid", "auto")
    }
    assert found == {"bm25": [0, 1], "semantic": [1, 0], "hybrid": [1, 1], "auto": [1, 1]}


@pytest.mark.spec("JB-05")
def test_no_vector_is_computed_for_words_alone() -> None:
    tools = fake_tools(embedder=StubEmbedder(2))
    assert QueryEmbedding().understand(VIEW, fake_query("fuse", mode="bm25"), tools).vector is None
    assert QueryEmbedding().understand(VIEW, fake_query("fuse"), tools).vector is not None
