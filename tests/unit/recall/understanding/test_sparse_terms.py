from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from simonides.recall.understanding.question import QuerySparseTerms
from simonides.records.sparse import SparseTerms
from simonides.testing.fakes import FakeView, fake_query, fake_tools
from simonides.testing.sparse import StubSparseEncoder

UNDERSTANDER = QuerySparseTerms()
VIEW = FakeView.of([])


@dataclass(frozen=True)
class _Answers(StubSparseEncoder):
    """Answers every query with the same, or fails."""

    answer: SparseTerms | Exception = field(default_factory=lambda: RuntimeError("out of memory"))

    def encode_query(self, text: str) -> SparseTerms:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_query_gets_its_terms() -> None:
    encoder = StubSparseEncoder()
    query = UNDERSTANDER.understand(VIEW, fake_query("fuse"), replace(fake_tools(), sparse=encoder))
    assert query.sparse is not None
    assert query.sparse.ids.tolist() == encoder.encode_query("fuse").ids.tolist()
    assert query.notes == ()


def test_without_an_encoder_nothing_is_said() -> None:
    query = fake_query("fuse")
    assert UNDERSTANDER.understand(VIEW, query, fake_tools()) == query


def test_words_alone_need_no_terms() -> None:
    query = fake_query("fuse", mode="bm25")
    assert UNDERSTANDER.understand(VIEW, query, replace(fake_tools(), sparse=StubSparseEncoder())) == query


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RuntimeError("out of memory"), "the sparse encoder failed: RuntimeError: out of memory"),
        (SparseTerms(np.empty(0, np.int32), np.empty(0, np.float32)), "gave no terms"),
        (SparseTerms(np.array([1], np.int32), np.array([np.inf], np.float32)), "not finite"),
        (SparseTerms(np.array([1], np.int32), np.array([0.0], np.float32)), "not above 0"),
    ],
)
def test_a_model_that_fails_leaves_a_note(answer: SparseTerms | Exception, said: str) -> None:
    tools = replace(fake_tools(), sparse=_Answers(answer=answer))
    query = UNDERSTANDER.understand(VIEW, fake_query("fuse"), tools)
    assert query.sparse is None
    assert said in query.notes[0]
