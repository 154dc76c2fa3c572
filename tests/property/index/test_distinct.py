from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.distinct import distinct


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_distinct_gives_what_numpy_gives(values: list[int]) -> None:
    array = np.array(values, np.int64)
    assert distinct(array).tolist() == np.unique(array).tolist()
