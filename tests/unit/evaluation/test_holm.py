from __future__ import annotations

import pytest

from simonides.evaluation.comparing import holm


def test_four_by_hand() -> None:
    # Sorted .005 .01 .03 .04: ×4 ×3 ×2 ×1 = .02 .03 .06 .04, and none below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_one_stays_and_none_passes_one() -> None:
    assert holm([0.2]) == [0.2]
    assert holm([0.9, 0.8, 1.0]) == [1.0, 1.0, 1.0]
    assert holm([]) == []
