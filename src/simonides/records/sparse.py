"""A text as weighted vocabulary entries: what a learned sparse encoder makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SparseTerms:
    """Entries of a vocabulary, each at most once, with their weights.

    Attributes:
        ids: of the entries, int32, shape (n,), ascending, in [0, 65,535].
        weights: float32, shape (n,), above 0 and finite.
    """

    ids: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ids)
