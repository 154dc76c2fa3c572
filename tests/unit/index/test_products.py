from __future__ import annotations

import numpy as np
import pytest

from simonides.index.vectors import products_of, rows_at_once


@pytest.mark.parametrize("shape", [(0, 384), (1, 1), (7, 384), (160, 384), (500, 40), (3, 200_000), (2, 0)])
def test_rows_with_one_another(shape: tuple[int, int]) -> None:
    rows = np.random.default_rng(1).integers(-9, 10, shape)
    for dtype in (np.float32, np.float64):
        found = products_of(rows.astype(dtype))
        assert found.dtype == dtype
        assert found.tolist() == (rows @ rows.T).tolist()


def test_a_part_stays_below_what_wakes_threads() -> None:
    assert rows_at_once(384, 14) * 384 * 14 <= 400_000
    assert rows_at_once(100_000, 100_000) == 1
    assert rows_at_once(0, 5) > 0
