from __future__ import annotations

import numpy as np
import pytest

from simonides.index.products import product, rows_at_once


@pytest.mark.parametrize(
    "shape", [(0, 3, 2), (1, 1, 1), (7, 384, 160), (500, 384, 14), (3, 2_000, 400), (2, 0, 3)]
)
def test_parts_make_the_whole(shape: tuple[int, int, int]) -> None:
    rows, terms, columns = shape
    draw = np.random.default_rng(1)
    left = draw.integers(-9, 10, (rows, terms)).astype(np.float32)
    right = draw.integers(-9, 10, (terms, columns)).astype(np.float32)
    found = product(left, right)
    assert found.dtype == np.float32
    assert found.tolist() == (left.astype(np.int64) @ right.astype(np.int64)).tolist()
    assert product(left, np.asfortranarray(right)).tolist() == found.tolist()


def test_a_part_stays_below_what_wakes_threads() -> None:
    assert rows_at_once(384, 14) * 384 * 14 <= 400_000
    assert rows_at_once(100_000, 100_000) == 1
    assert rows_at_once(0, 5) > 0
