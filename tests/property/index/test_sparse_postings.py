"""Sparse scores against plain Python over whole numbers, however the rows are cut into blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.sparse_postings import (
    BlockSparse,
    FrozenSparse,
    SealedSparse,
    TailSparse,
    merge_sparse,
    pack_terms,
    unpack_terms,
)
from simonides.records.sparse import SparseTerms

Weights = dict[int, float]

# Few distinct values, so that scores tie.
WEIGHTS = st.dictionaries(st.integers(0, 12), st.sampled_from([0.001, 0.5, 0.75, 1.0, 3.5]), max_size=6)


def terms_of(weights: Weights) -> SparseTerms:
    ids = sorted(weights)
    return SparseTerms(np.array(ids, np.int32), np.array([weights[number] for number in ids], np.float32))


def blocks_of(rows: list[Weights], cuts: list[int], *, sealed: bool) -> BlockSparse:
    blocks: list[tuple[int, SealedSparse | FrozenSparse]] = []
    for start, stop in itertools.pairwise([0, *cuts, len(rows)]):
        tail = TailSparse()
        scales = [tail.append(row, pack_terms(terms_of(held))) for row, held in enumerate(rows[start:stop])]
        part = tail.frozen(np.array(scales, np.float32))
        blocks.append((start, merge_sparse([(0, part)], np.ones(stop - start, bool)) if sealed else part))
    return BlockSparse(tuple(blocks))


def twin(row: Weights, query: Weights) -> tuple[int, float]:
    """The whole-number sum, and the score."""
    ids, codes, scale = unpack_terms(pack_terms(terms_of(row)))
    unit = max(query.values()) / 32_767
    whole = {number: round(weight / unit) for number, weight in query.items()}
    total = sum(
        code * whole.get(number, 0) for number, code in zip(ids.tolist(), codes.tolist(), strict=True)
    )
    return total, total * (scale * unit)


@pytest.mark.spec("HX-18")
@given(
    st.lists(st.tuples(WEIGHTS, st.booleans()), max_size=30),
    WEIGHTS.filter(bool),
    st.lists(st.integers(0, 30), max_size=3),
    st.booleans(),
)
def test_scores_are_exact_whatever_the_blocks(
    rows: list[tuple[Weights, bool]], query: Weights, cuts: list[int], sealed: bool
) -> None:
    held, eligible = [row for row, _ in rows], np.array([flag for _, flag in rows], np.bool_)
    inside = sorted(min(cut, len(held)) for cut in cuts)
    # A query's weights are float32, as an encoder gives them.
    asked = {number: float(np.float32(weight)) for number, weight in query.items()}
    ordinals, scores = blocks_of(held, inside, sealed=sealed).scores(terms_of(asked), eligible)
    expected = [
        (row, twin(weights, asked)[1])
        for row, weights in enumerate(held)
        if eligible[row] and twin(weights, asked)[0] > 0
    ]
    assert ordinals.tolist() == [row for row, _ in expected]
    assert scores.tolist() == pytest.approx([score for _, score in expected], abs=1e-9)
    again = blocks_of(held, [], sealed=not sealed).scores(terms_of(asked), eligible)
    assert scores.tobytes() == again[1].tobytes()
