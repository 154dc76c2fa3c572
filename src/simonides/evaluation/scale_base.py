"""Real encoder outputs to grow vectors from: sentences of the public data sets, encoded once and kept."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.evaluation.catalogue import DATASETS, load_dataset
from simonides.evaluation.scale_texts import TextMaker
from simonides.files import SHARED, new_file
from simonides.protocols import TokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.protocols import Embedder

SENTENCES = 12_000
"""Texts that are encoded; where the data sets have fewer sentences, invented texts make up the number."""

_MOST_TOKENS = 24
_AT_ONCE = 200
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SHORTEST = 20


@dataclass(frozen=True, slots=True)
class RealVectors:
    """What an encoder made of real texts.

    Attributes:
        name, fingerprint: of the encoder.
        vectors: unit, float32, shape (texts, dimension).
        tokens: vectors of tokens less the encoder's mean, float16, shape (all tokens, dimension); no rows
            for an encoder that offers none.
        offsets: text t has the tokens from offsets[t] up to offsets[t + 1].
        invented: how many of the texts are invented.
    """

    name: str
    fingerprint: str
    vectors: NDArray[np.float32]
    tokens: NDArray[np.float16]
    offsets: NDArray[np.int64]
    invented: int

    def tokens_of(self, text: int) -> NDArray[np.float32]:
        """Token vectors of one text."""
        part = self.tokens[self.offsets[text] : self.offsets[text + 1]]
        return np.asarray(part, np.float32)


def real_vectors(
    folder: Path,
    data: Path | None,
    embedder: Embedder,
    *,
    seed: int,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> RealVectors:
    """Encode, or read what was encoded before.

    Args:
        folder: where it is kept.
        data: folder of the data sets; ``None`` = invented texts alone.
        embedder: the encoder.
        seed: of the invented texts, and of the order.
        progress: told ("encode", done, all).
    """
    sentences = _sentences(data)
    invented = max(0, SENTENCES - len(sentences))
    maker = TextMaker(max(1, invented), seed + 1)
    made = [item["text"] for number in range(maker.blocks) for item in maker.block(number).items]
    texts = [*sentences, *made][:SENTENCES]
    np.random.default_rng([seed, 5]).shuffle(texts)
    said = hashlib.sha256("\n".join([embedder.fingerprint, *texts]).encode()).hexdigest()[:12]
    path = folder / f"real-{said}.npz"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = _encoded(embedder, texts, progress)
        with new_file(path, mode=SHARED) as file:
            np.savez(file, **arrays)
    with np.load(path, allow_pickle=False) as kept:
        return RealVectors(
            embedder.name,
            embedder.fingerprint,
            kept["vectors"],
            kept["tokens"],
            kept["offsets"],
            min(invented, SENTENCES),
        )


def _sentences(data: Path | None) -> list[str]:
    if data is None:
        return []
    texts = [
        item.text
        for name in DATASETS
        for corpus, _ in load_dataset(name, data).corpora
        for item in corpus.items
    ]
    pieces = (piece.strip() for text in texts for piece in _SENTENCE.split(text))
    return list(dict.fromkeys(piece for piece in pieces if len(piece) >= _SHORTEST))


def _encoded(
    embedder: Embedder, texts: Sequence[str], progress: Callable[[str, int, int | None], None] | None
) -> dict[str, NDArray[Any]]:
    vectors: list[NDArray[np.float32]] = []
    tokens: list[NDArray[np.float16]] = []
    for first in range(0, len(texts), _AT_ONCE):
        part = texts[first : first + _AT_ONCE]
        if isinstance(embedder, TokenEmbedder):
            rows, found = embedder.encode_both(part)
            tokens += [each[:_MOST_TOKENS].astype(np.float16) for each in found]
        else:
            rows = embedder.encode(part)
            tokens += [np.empty((0, embedder.dimension), np.float16)] * len(part)
        vectors.append(np.asarray(rows, np.float32))
        if progress:
            progress("encode", first + len(part), len(texts))
    joined = np.concatenate(vectors)
    norms = np.linalg.norm(joined, axis=1)
    sound = np.isfinite(norms) & (norms > 0)
    kept = [each for each, fits in zip(tokens, sound, strict=True) if fits]
    return {
        "vectors": joined[sound] / norms[sound, None],
        "tokens": np.concatenate(kept),
        "offsets": np.concatenate([np.zeros(1, np.int64), np.cumsum([len(each) for each in kept])]),
    }
