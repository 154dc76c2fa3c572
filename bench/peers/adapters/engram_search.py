"""engram-search: cosine, BM25, names and quoted phrases of the question, fused by reciprocal rank.

The shared encoder takes the place of its own; its cross-encoder is off, because the weights cannot be had
without the network. It searches a list of documents that the caller keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text


class EngramSearch:
    """Documents in memory, searched by its retrieval pipeline."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        from engram.backends.base import Document  # noqa: PLC0415 - only there in this peer's own environment
        from engram.retrieval.pipeline import RetrievalPipeline  # noqa: PLC0415 - same

        del folder  # in memory
        self._encode = encode
        self._document: Any = Document
        self._pipeline: Any = RetrievalPipeline(embedder=_Encoder(encode), use_reranker=False)
        self._documents: list[Any] = []

    def add(self, texts: Sequence[Text]) -> None:
        """Encode and keep *texts*."""
        vectors = self._encode([text.text for text in texts])
        self._documents += [
            self._document(id=str(text.place), text=text.text, embedding=list(vector))
            for text, vector in zip(texts, vectors, strict=True)
        ]

    def ask(self, question: str, depth: int) -> list[int]:
        """Places in the order of its search."""
        hits = self._pipeline.search(question, self._documents, top_k=depth)
        return list(dict.fromkeys(int(hit.id) for hit in hits))[:depth]


class _Encoder:
    """The shared encoder in the form that engram-search calls."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def encode_query(self, text: str) -> array[float]:
        """The vector of a question."""
        return self._encode([text])[0]
