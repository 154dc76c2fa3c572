"""Could luck alone have made a mean difference this large? A paired test by flipping signs.

Were two systems alike, each question's difference could as well have the other sign. The p-value, two-sided,
is the share of all sign patterns whose |mean| reaches the one seen.
Questions that do not differ change no mean
and are left out, so all 2^n patterns are counted up to n = 16 differing questions; beyond, patterns
are drawn: p = (1 + #{reached}) / (draws + 1).

Source: Fisher 1935, "The Design of Experiments", §21; for retrieval, Smucker, Allan & Carterette 2007.
Weakness: questions about one conversation are not independent, so the true p-value is somewhat larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_EXACT = 16
"""Differing questions up to which every pattern is counted."""

# Sums of the same numbers in another order differ in the last bits; they count as equal.
_TOLERANCE = 1e-9
_DRAWS_AT_ONCE = 500


def sign_flip_p(differences: NDArray[np.float64], generator: np.random.Generator, draws: int) -> float:
    """The two-sided p-value of a mean difference.

    Args:
        differences: second minus first of each question, float64, shape (n,).
        generator: seeded by the caller; unused where all patterns are counted.
        draws: sign patterns drawn where there are too many to count, from 1.

    Returns:
        in (0, 1]; 1 when nothing differs.
    """
    # Sorted, so that the order of the questions changes nothing.
    sizes = np.sort(np.abs(differences[differences != 0]))
    seen = abs(float(differences.sum())) - _TOLERANCE
    if not len(sizes):
        return 1.0
    if len(sizes) <= MOST_EXACT:
        sums = np.zeros(1, np.float64)
        for size in sizes:
            sums = np.concatenate((sums - size, sums + size))
        return float(np.count_nonzero(np.abs(sums) >= seen)) / len(sums)
    reached = 0
    for start in range(0, draws, _DRAWS_AT_ONCE):
        rows = min(_DRAWS_AT_ONCE, draws - start)
        signs = generator.integers(2, size=(rows, len(sizes)), dtype=np.int8) * 2 - 1
        reached += int(np.count_nonzero(np.abs(signs @ sizes) >= seen))
    return (1 + reached) / (draws + 1)
