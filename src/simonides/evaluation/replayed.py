"""An embedder that knows the vectors of some texts and encodes nothing: recall without the model's cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.evaluation.scale_base import RealVectors


@dataclass(frozen=True)
class ReplayedEmbedder:
    """Answers with what was made before (``protocols.Embedder``, ``protocols.TokenEmbedder``).

    Attributes:
        name, fingerprint, dimension: of the embedder that made the vectors.
        vectors: by text, unit.
        tokens: by text, unit vectors of its tokens.
    """

    name: str
    fingerprint: str
    dimension: int
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    tokens: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts that are known."""
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a text that is known."""
        if text not in self.vectors:
            raise InputError("text", "is none whose vector was kept; open the bank with the embedder itself")
        return self.vectors[text]

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Sequence[NDArray[np.float32]]]:
        """Vectors of texts and of their tokens."""
        return self.encode(texts), [self.tokens[text] for text in texts]

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vectors of a text and of its tokens."""
        return self.encode_query(text), self.tokens[text]


def replayed(real: RealVectors) -> ReplayedEmbedder:
    """One that stands in for the encoder of *real* where vectors are handed in."""
    return ReplayedEmbedder(real.name, real.fingerprint, real.vectors.shape[1])
