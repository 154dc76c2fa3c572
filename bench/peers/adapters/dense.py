"""Cosine similarity of the shared encoder's vectors, over every text: exact, nothing else.

Cost O(texts x dimensions) a question. Weakness: names, numbers and rare words blur.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text
    from numpy.typing import NDArray


class Dense:
    """Vectors in memory, compared in float64."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        del folder  # in memory
        self._encode = encode
        self._places: list[int] = []
        self._vectors: list[NDArray[np.float64]] = []

    def add(self, texts: Sequence[Text]) -> None:
        """Encode and keep *texts*."""
        self._vectors += map(_unit, self._encode([text.text for text in texts]))
        self._places += [text.place for text in texts]

    def ask(self, question: str, depth: int) -> list[int]:
        """Places by descending similarity, then ascending place."""
        if not self._places:
            return []
        similarities = np.stack(self._vectors) @ _unit(self._encode([question])[0])
        # lexsort: the last key decides first.
        order = np.lexsort((np.array(self._places), -similarities))[:depth]
        return [self._places[row] for row in order.tolist()]


def _unit(vector: Sequence[float]) -> NDArray[np.float64]:
    numbers = np.asarray(vector, np.float64)
    length = np.linalg.norm(numbers)
    return numbers / length if length else numbers
