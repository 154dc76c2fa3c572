from __future__ import annotations

import numpy as np
import pytest

from simonides.index.graph import among, ascending, distinct


@pytest.mark.parametrize("values", [[], [3], [3, 1, 3, 2, 1], [-5, 9, -5]])
def test_each_once_and_ascending(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@pytest.mark.parametrize("held", [[], [2], [1, 4, 9], [-7, 0, 3, 3]])
def test_what_is_among_others(held: list[int]) -> None:
    values = [9, 0, 3, -7, 2, 2, 10, -8]
    found = among(np.array(values, np.int64), np.array(held, np.int64))
    assert found.tolist() == [value in held for value in values]
    assert among(np.array([], np.int64), np.array(held, np.int64)).tolist() == []


@pytest.mark.parametrize("stop", [8, 2**32])
@pytest.mark.parametrize("values", [[], [5], [7, 0, 3], [6, 5, 4, 3, 2, 1]])
def test_in_order_by_marks_or_by_halves(values: list[int], stop: int) -> None:
    assert ascending(np.array(values, np.int64), stop).tolist() == sorted(values)
