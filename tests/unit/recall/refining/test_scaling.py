from __future__ import annotations

import numpy as np
import pytest

from simonides.recall.refining.pool import min_max


@pytest.mark.spec("HX-07")
def test_the_least_is_zero_and_the_greatest_one() -> None:
    assert min_max(np.array([3.0, 1.0, 2.0])).tolist() == [1.0, 0.0, 0.5]


@pytest.mark.spec("HX-07")
@pytest.mark.parametrize("values", [[], [4.0], [2.5, 2.5, 2.5], [0.0, 0.0]])
def test_a_constant_column_is_all_zero(values: list[float]) -> None:
    assert min_max(np.array(values, np.float64)).tolist() == [0.0] * len(values)


def test_the_order_of_the_values_stays() -> None:
    values = np.array([0.3, -2.0, 0.30000001, 7.0])
    assert np.argsort(min_max(values)).tolist() == np.argsort(values).tolist()


def test_huge_values_stay_finite() -> None:
    assert min_max(np.array([-1.7e308, 0.0, 1.7e308])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.spec("HX-07")
def test_several_columns_are_scaled_each_by_its_own() -> None:
    columns = np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 5.0], [-1e9, 1 / 3, 0.1]])
    assert min_max(columns).tolist() == [min_max(column).tolist() for column in columns]
