from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.graph import ascending, distinct


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_distinct_gives_what_numpy_gives(values: list[int]) -> None:
    array = np.array(values, np.int64)
    assert distinct(array).tolist() == np.unique(array).tolist()


@given(st.sets(st.integers(0, 2**32 - 1)), st.integers(0, 2**20))
def test_ascending_gives_what_a_sort_gives(values: set[int], more: int) -> None:
    array = np.array(list(values), np.int64)
    stop = min(2**32, max(values, default=0) + 1 + more)
    assert ascending(array, stop).tolist() == sorted(values)
    few = np.array(list({value % 64 for value in values}), np.int64)
    assert ascending(few, 64).tolist() == sorted(few.tolist())
