"""Rounding of whole columns against Python's own."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.rounding import rounded, rounded_sums

HALF = st.integers(-(10**12), 10**12).map(lambda number: (number + 0.5) / 1e9)


@st.composite
def near_a_half(draw: st.DrawFn) -> float:
    """A float at most two steps from what lies in the middle of two decimals."""
    value = draw(HALF)
    for _ in range(draw(st.integers(0, 2))):
        value = math.nextafter(value, draw(st.sampled_from([-math.inf, math.inf])))
    return value


@given(st.lists(st.one_of(near_a_half(), st.floats(-2, 2), st.floats(allow_nan=False)), max_size=6))
def test_each_is_what_round_gives(values: list[float]) -> None:
    assert [value.hex() for value in rounded(values)] == [round(value, 9).hex() for value in values]


@st.composite
def rows_near_a_half(draw: st.DrawFn) -> list[float]:
    """Numbers whose exact sum lies near the middle of two decimals, or anywhere."""
    row = draw(st.lists(st.floats(-8, 8), min_size=4, max_size=4))
    return [*row, draw(st.one_of(near_a_half(), st.floats(-2, 2))) - math.fsum(row)]


@given(st.lists(rows_near_a_half(), max_size=6))
def test_sums_are_rounded_as_if_they_were_exact(rows: list[list[float]]) -> None:
    found = rounded_sums(np.array(rows, np.float64).reshape(len(rows), 5))
    assert found == [round(math.fsum(row), 9) for row in rows]
