"""An embedder without weights, for tests of code that needs vectors but no meaning.

A text's vector counts its character trigrams: each trigram of the case-folded text is hashed to a dimension
and a sign, counts are added, and the sum is scaled to length 1. Texts that share many trigrams get a high
cosine, equal texts get equal vectors, and no text's vector depends on another's.

Cost: linear in the text's length. Weakness: it knows spelling, not meaning; judge no quality with it.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class StubEmbedder:
    """A deterministic embedder that satisfies ``protocols.Embedder``.

    Attributes:
        dimension: length of each vector, at least 1.
        overrides: text → the exact vector to answer for it, *dimension* numbers, returned as they are:
            not scaled, zeros and NaN included. For queries as well as memories.
        name: the name it goes by; part of the fingerprint, so two names are two embedders.

    Raises:
        InputError: *dimension* is below 1, or an override has another length.
    """

    dimension: int = 32
    overrides: Mapping[str, Sequence[float]] = field(default_factory=dict)
    name: str = "stub"

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise InputError("dimension", f"{self.dimension} is below 1; give the length of a vector")
        for text, vector in self.overrides.items():
            if len(vector) != self.dimension:
                raise InputError(
                    f"overrides[{text!r}]",
                    f"has {len(vector)} numbers, but the dimension is {self.dimension}; give that many",
                )

    @property
    def fingerprint(self) -> str:
        """Changes with the name, the dimension and the overrides."""
        overrides = sorted((text, [float(x) for x in vector]) for text, vector in self.overrides.items())
        return f"{self.name}-{self.dimension}-{zlib.crc32(repr(overrides).encode(errors='replace')):08x}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of *texts*: float32, shape (len(texts), dimension), unit length.

        A text without characters has the zero vector, which means "no vector".
        """
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.encode_query(text)
        return vectors

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query: float32, shape (dimension,); the same as the memory of that text."""
        if text in self.overrides:
            return np.asarray(self.overrides[text], np.float32)
        counts = np.zeros(self.dimension, np.float64)
        for trigram in _trigrams(text):
            # crc32 is the same in every process; Python's own hash of a str is not.
            code = zlib.crc32(trigram.encode("utf-8", "surrogatepass"))
            counts[(code >> 1) % self.dimension] += 1.0 if code & 1 else -1.0
        length = math.sqrt(math.fsum(x * x for x in counts))
        return (counts / length if length else counts).astype(np.float32)


@dataclass(frozen=True, slots=True)
class StubTokenEmbedder(StubEmbedder):
    """The same, with a vector for each word of a text, its own (``protocols.TokenEmbedder``)."""

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Vectors of *texts*, and per text those of its words, shape (words, dimension)."""
        return self.encode(texts), [self._words(text) for text in texts]

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vector of a query, and those of its words."""
        return self.encode_query(text), self._words(text)

    def _words(self, text: str) -> NDArray[np.float32]:
        rows = [self.encode_query(word) for word in text.casefold().split()]
        return np.array(rows, np.float32).reshape(-1, self.dimension)


def _trigrams(text: str) -> list[str]:
    """Every run of three characters of the folded text, blanks at both ends included."""
    words = text.casefold().split()
    if not words:
        return []
    padded = f" {' '.join(words)} "
    return [padded[start : start + 3] for start in range(len(padded) - 2)]
