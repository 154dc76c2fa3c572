"""Vector search against plain Python: integers for dot products, a loop for distances."""

from __future__ import annotations

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from simonides.index.vectors import (
    BlockVectors,
    VectorBlock,
    exact_dot,
    quantise,
    sign_bits,
    split_query,
    survivors,
)

Codes = list[list[int]]

DIMENSIONS = st.sampled_from([1, 3, 8, 20, 65])
FLOATS = st.floats(-1, 1, width=32)


@st.composite
def banks(draw: st.DrawFn) -> tuple[Codes, list[float], list[bool], list[float], list[int]]:
    """Codes, scales, mask, query, and the rows where blocks end."""
    dimension = draw(DIMENSIONS)
    rows = draw(st.integers(0, 60))
    # Few distinct values, so that distances and cosines tie.
    number = st.sampled_from([-127, -3, 0, 0, 2, 127])
    codes = draw(
        st.lists(st.lists(number, min_size=dimension, max_size=dimension), min_size=rows, max_size=rows)
    )
    scales = draw(st.lists(st.sampled_from([0.0, 0.0078125, 0.00390625]), min_size=rows, max_size=rows))
    dense = draw(st.booleans())
    flags = st.booleans() if dense else st.sampled_from([False] * 12 + [True])
    eligible = draw(st.lists(flags, min_size=rows, max_size=rows))
    query = draw(st.lists(FLOATS, min_size=dimension, max_size=dimension).filter(any))
    cuts = draw(st.lists(st.integers(0, rows), max_size=4).map(sorted))
    return codes, scales, eligible, query, cuts


def bank_of(codes: Codes, scales: list[float], cuts: list[int], dimension: int) -> BlockVectors:
    blocks = []
    edges = [0, *cuts, len(codes)]
    for start, stop in itertools.pairwise(edges):
        part = np.array(codes[start:stop], np.int8).reshape(stop - start, dimension)
        blocks.append((start, VectorBlock(part, np.array(scales[start:stop], np.float32), sign_bits(part))))
    return BlockVectors(tuple(blocks), dimension)


def twin_score(codes: list[int], scale: float, query: list[float]) -> float:
    peak = max(abs(x) for x in query)
    whole = [round(x / (peak / 32_767)) for x in query]
    dot = sum(c * w for c, w in zip(codes, whole, strict=True))
    return round(dot * (scale * (peak / 32_767)) * 1e9) / 1e9


def twin_distance(codes: list[int], query: list[float]) -> int:
    return sum((c > 0) != (q > 0) for c, q in zip(codes, query, strict=True))


def pairs(
    bank: BlockVectors, query: list[float], eligible: list[bool], wanted: int
) -> list[tuple[int, float]]:
    ordinals, scores = bank.nearest(
        np.array(query, np.float32), np.array(eligible, np.bool_), depth=1, rescore=wanted
    )
    return sorted(zip(ordinals.tolist(), scores.tolist(), strict=True))


@pytest.mark.spec("EN-11")
@given(banks())
def test_few_eligible_rows_are_all_scored_exactly(
    bank: tuple[Codes, list[float], list[bool], list[float], list[int]],
) -> None:
    codes, scales, eligible, query, cuts = bank
    twin = [
        (row, twin_score(codes[row], scales[row], query))
        for row in range(len(codes))
        if eligible[row] and scales[row] > 0
    ]
    assert pairs(bank_of(codes, scales, cuts, len(query)), query, eligible, 1) == twin


@pytest.mark.spec("EN-11")
@given(banks(), st.integers(1, 20))
def test_the_scan_keeps_every_row_within_the_smallest_sufficient_distance(
    bank: tuple[Codes, list[float], list[bool], list[float], list[int]], wanted: int
) -> None:
    codes, scales, eligible, query, cuts = bank
    rows = [row for row in range(len(codes)) if eligible[row] and scales[row] > 0]
    distances = {row: twin_distance(codes[row], query) for row in rows}
    threshold = sorted(distances.values())[wanted - 1] if len(rows) > wanted else len(query)
    twin = [(row, twin_score(codes[row], scales[row], query)) for row in rows if distances[row] <= threshold]
    vectors = "simonides.index.vectors"
    with patch(f"{vectors}.ALL_SCORED", 0), patch(f"{vectors}.FULL_SIZE", 1):
        found = pairs(bank_of(codes, scales, cuts, len(query)), query, eligible, wanted)
        whole = pairs(bank_of(codes, scales, [], len(query)), query, eligible, wanted)
    assert found == twin
    assert repr(found) == repr(whole), "where blocks end changes no bit"


@pytest.mark.spec("EN-11")
@given(st.integers(1, 10_000), st.integers(1, 3_000_000))
def test_fewer_are_rescored_of_fewer_rows(rescore: int, rows: int) -> None:
    kept = survivors(rescore, rows)
    assert 1 <= kept <= min(rescore, rows)
    assert kept == min(rescore, rows) or rescore < rows < 1_000_000
    if rows > rescore:
        assert kept <= survivors(rescore, rows + 1), "never fewer of more rows"
        assert kept**3 >= rescore**3 * min(rows, 1_000_000) // 1_000_000


@pytest.mark.spec("EN-11")
@given(banks(), st.integers(1, 20), st.data())
def test_rows_outside_the_mask_change_nothing(
    bank: tuple[Codes, list[float], list[bool], list[float], list[int]], wanted: int, data: st.DataObject
) -> None:
    codes, scales, eligible, query, cuts = bank
    changed = [
        row if keep else data.draw(st.lists(st.integers(-127, 127), min_size=len(row), max_size=len(row)))
        for row, keep in zip(codes, eligible, strict=True)
    ]
    with patch("simonides.index.vectors.ALL_SCORED", 0):
        assert pairs(bank_of(codes, scales, cuts, len(query)), query, eligible, wanted) == pairs(
            bank_of(changed, scales, cuts, len(query)), query, eligible, wanted
        )


@pytest.mark.spec("DF-06")
@given(
    numpy_st.arrays(np.int8, st.tuples(st.integers(1, 20), st.sampled_from([1, 5, 384, 513, 768])),
                    elements=st.integers(-127, 127)),
    st.integers(0, 2**32 - 1),
    st.data(),
)  # fmt: skip
def test_dot_products_are_exact_for_any_rows_in_any_order(
    codes: np.ndarray[tuple[int, int], np.dtype[np.int8]], seed: int, data: st.DataObject
) -> None:
    query = np.random.default_rng(seed).normal(size=codes.shape[1]).astype(np.float32)
    halves, _ = split_query(query)
    integers = [int(high) * 256 + int(low) for high, low in halves.tolist()]
    twin = [sum(c * w for c, w in zip(row, integers, strict=True)) for row in codes.tolist()]
    rows = data.draw(st.lists(st.integers(0, len(codes) - 1)))
    assert exact_dot(codes, halves).tolist() == twin
    assert exact_dot(codes[rows], halves).tolist() == [twin[row] for row in rows]


@given(
    st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=64),
    st.sampled_from([1e-30, 1e-12, 1.0, 1e12, 1e17]),
)
def test_a_cosine_is_off_by_no_more_than_half_a_step_of_each_code(
    numbers: list[tuple[float, float]], length: float
) -> None:
    vector = np.array([x * length for x, _ in numbers], np.float32)
    query = np.array([y for _, y in numbers], np.float32)
    stored = quantise(vector)
    halves, query_scale = split_query(query)
    norm = math.hypot(*map(float, vector))
    if norm == 0.0 or not query.any():
        assert stored is None or query_scale == 0.0
        return
    assert stored is not None
    codes, scale = stored
    found = float(exact_dot(codes[np.newaxis, :], halves)[0]) * (scale * query_scale)
    exact = math.fsum(float(x) / norm * float(y) for x, y in zip(vector, query, strict=True))
    # |Σ u·q − u'·q'| ≤ |u − u'|·|q| + |u'|·|q − q'|, each component of a difference at most half a step.
    root = math.sqrt(len(numbers))
    query_norm = math.hypot(*map(float, query))
    stored_norm = math.hypot(*(float(code) * scale for code in codes))
    bound = root * scale / 2 * query_norm + root * query_scale / 2 * stored_norm
    assert abs(found - exact) <= bound * (1 + 1e-6) + 1e-7 * query_norm
