from __future__ import annotations

import numpy as np
import pytest

from simonides.index.postings import positions


@pytest.mark.parametrize("runs", [[], [(3, 2)], [(5, 0), (1, 3), (9, 0), (1, 1)]])
def test_runs_follow_one_another(runs: list[tuple[int, int]]) -> None:
    begins, counts = (np.array([run[part] for run in runs], np.int64) for part in (0, 1))
    expected = [place for begin, count in runs for place in range(begin, begin + count)]
    assert positions(begins, counts).tolist() == expected
