from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simonides.recall.refining.mlp import features_of, impression_of
from simonides.records.impression import MOST_SHOWN
from simonides.testing.fakes import FakeView, fake_memory, fake_query


def impression(count: int, **changes: Any) -> tuple[Any, FakeView, Any]:
    memories = [fake_memory(f"m{n}", path=str(n)) for n in range(count)]
    view = FakeView.of(memories, vectors=[(1.0, float(n)) for n in range(count)])
    query = fake_query("a question in words", **changes)
    hits = tuple(SimpleNamespace(memory=memory) for memory in reversed(view.stored))
    answer: Any = SimpleNamespace(id="r1", hits=hits)
    return impression_of(view, query, answer, "ilse", 9, "model:1", counted=True), view, query


def test_it_holds_what_was_returned_and_no_words() -> None:
    vector = np.array([0.6, 0.8], np.float32)
    found, view, query = impression(3, vector=vector)
    assert (found.recall, found.principal, found.made_at, found.counted) == ("r1", "ilse", 9, True)
    assert found.roots == (2, 1, 0)
    rows = np.array([2, 1, 0], np.int64)
    assert found.features.tolist() == features_of(view, query, rows).astype(np.float32).tolist()
    assert found.features.dtype == np.float32
    codes = np.frombuffer(found.codes, np.int8).astype(np.float64) * found.scale
    assert codes == pytest.approx(vector, abs=0.01)
    assert found.embedder == "model:1"
    assert "question" not in repr(found)


def test_without_a_vector_there_are_no_codes_and_no_embedder() -> None:
    found, *_ = impression(2)
    assert (found.codes, found.scale, found.embedder) == (b"", 0.0, "")
    assert found.features[:, 0].tolist() == [0.0, 0.0]


def test_only_the_first_are_kept_and_none_is_no_fault() -> None:
    assert len(impression(MOST_SHOWN + 3)[0].roots) == MOST_SHOWN
    found, *_ = impression(0)
    assert found.roots == ()
    assert found.features.shape == (0, 10)
