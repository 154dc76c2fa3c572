from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.channels.lexical import Sparse
from simonides.records.sparse import SparseTerms
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools
from simonides.testing.sparse import StubSparseEncoder

SPARSE = Sparse(depth=10)
ASKED = SparseTerms(np.array([1, 2], np.int32), np.array([1.0, 0.5], np.float32))


def view(*rows: dict[int, float], eligible: list[bool] | None = None) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(len(rows))], sparse=rows, eligible=eligible)


@pytest.mark.spec("HX-18")
def test_memories_come_by_falling_inner_product() -> None:
    bank = view({2: 1.0}, {1: 2.0, 2: 1.0}, {}, {9: 4.0})
    ranking = SPARSE.search(bank, fake_query("q", sparse=ASKED), fake_tools())
    assert ranking.ordinals.tolist() == [1, 0]
    assert ranking.scores.tolist() == pytest.approx([2.5, 0.5])


def test_the_ranking_is_cut_to_its_depth_with_ties_by_id() -> None:
    bank = view(*({1: 1.0} for _ in range(4)))
    query = fake_query("q", sparse=ASKED)
    assert Sparse(depth=2).search(bank, query, fake_tools()).ordinals.tolist() == [0, 1]
    budgeted = Sparse(depth=2, budgeted=True)
    assert budgeted.search(bank, replace(query, depth=3), fake_tools()).ordinals.tolist() == [0, 1, 2]


def test_only_eligible_memories_are_found() -> None:
    bank = view({1: 1.0}, {1: 1.0}, eligible=[False, True])
    assert SPARSE.search(bank, fake_query("q", sparse=ASKED), fake_tools()).ordinals.tolist() == [1]


def test_what_is_missing_is_a_reason() -> None:
    tools = fake_tools()
    assert SPARSE.search(view({1: 1.0}), fake_query("q"), tools).reason == "no sparse encoder"
    with_encoder = replace(tools, sparse=StubSparseEncoder())
    bare = SPARSE.search(view({1: 1.0}), fake_query("q"), with_encoder)
    assert bare.reason == "the query has no sparse terms"
    none = SPARSE.search(view({}), fake_query("q", sparse=ASKED), with_encoder)
    assert none.reason == "no memory to look at has sparse terms"
    assert SPARSE.search(view(), fake_query("q", sparse=ASKED), with_encoder).reason == ""


def test_words_alone_are_wanted() -> None:
    ranking = SPARSE.search(view({1: 1.0}), fake_query("q", sparse=ASKED, mode="bm25"), fake_tools())
    assert (len(ranking), ranking.reason) == (0, "")


def test_a_depth_below_1_is_refused() -> None:
    with pytest.raises(InputError, match="depth"):
        Sparse(depth=0)
