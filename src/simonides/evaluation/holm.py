"""Adjusts p-values for the number of comparisons made, so that one in twenty is not found by trying twenty.

The i-th smallest of n becomes p · (n − i + 1), never below the one before it and at most 1. Rejecting where
the adjusted value is below 0.05 errs with any rejection at most 5 % of the time, however the tests depend.

Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given, each at least its original and at most 1."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for passed, place in enumerate(sorted(range(len(p_values)), key=lambda place: (p_values[place], place))):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - passed)))
        adjusted[place] = largest
    return adjusted
