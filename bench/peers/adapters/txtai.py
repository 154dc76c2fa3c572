"""txtai's hybrid index: the shared encoder's vectors beside its own BM25, mixed half and half as it comes.

``method="external"`` hands it the encoder; everything else is its default (``hybrid=True``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text


class Txtai:
    """One index in memory, extended with each ``add``."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        import numpy as np  # noqa: PLC0415 - this peer's own
        from txtai import Embeddings  # noqa: PLC0415 - only there in this peer's own environment

        del folder  # in memory

        def transform(texts: Sequence[str]) -> Any:
            return np.array(encode(list(texts)), dtype=np.float32)

        self._index: Any = Embeddings(method="external", transform=transform, hybrid=True)

    def add(self, texts: Sequence[Text]) -> None:
        """Index *texts*."""
        self._index.upsert([(text.place, text.text, None) for text in texts])

    def ask(self, question: str, depth: int) -> list[int]:
        """Places in the order of its search."""
        hits = self._index.search(question, depth)
        return list(dict.fromkeys(int(place) for place, _ in hits))[:depth]
