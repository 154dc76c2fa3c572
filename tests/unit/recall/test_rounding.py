from __future__ import annotations

import math

import numpy as np
import pytest

from simonides.recall.rounding import rounded, rounded_sums

HALVES = [0.5e-9, 1.5e-9, -2.5e-9, 0.1234567885, 1023.1234567895]


def bits(values: list[float]) -> list[str]:
    return [value.hex() for value in values]


@pytest.mark.parametrize("values", [[], [0.0], [-0.0, -1e-12], [1 / 3, -2 / 3], HALVES])
def test_it_is_what_round_gives(values: list[float]) -> None:
    assert bits(rounded(values)) == bits([round(value, 9) for value in values])


def test_numpy_would_round_halves_otherwise() -> None:
    near = 0.0100000015  # a little below the half that its product with 1e9 is
    assert rounded([near]) == [0.010000001]
    assert np.round(near, 9) == 0.010000002


@pytest.mark.parametrize("large", [1024.0, 1e17, -1e300, math.inf])
def test_large_values_are_rounded_by_python(large: float) -> None:
    assert bits(rounded([large, 1 / 3])) == bits([large, round(1 / 3, 9)])


def test_what_is_no_number_stays_so() -> None:
    assert math.isnan(rounded([math.nan, 1e300])[0])


def test_any_collection_will_do() -> None:
    assert rounded({1: 0.25, 2: 0.5}.values()) == [0.25, 0.5]


@pytest.mark.parametrize(
    "rows", [[[0.1] * 8, [1 / 3] * 8], [[1e16, 1.0, -1e16]], [[0.5, 0.5e-9]], [[60.0, -60.0, 1.5e-9]]]
)
def test_sums_are_exact(rows: list[list[float]]) -> None:
    assert rounded_sums(np.array(rows)) == [round(math.fsum(row), 9) for row in rows]


def test_no_rows_have_no_sums() -> None:
    assert rounded_sums(np.zeros((0, 5))) == []
