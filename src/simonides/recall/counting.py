"""What one recall costs in calls (ME-09): models are counted where they are called, channels where they ran.

    {"query_embedding": 1, "dense": 1, "lexical": 1, "pagerank": 1, "rerank": 1}

A channel is counted by its technique, and only if it looked: one that had nothing to look for (no entity, no
vector) says so in its reason and costs nothing.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from simonides.protocols import TokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simonides.protocols import Embedder, Judge, Reranker, SparseEncoder, Tools
    from simonides.records.sparse import SparseTerms

QUERY_EMBEDDING = "query_embedding"
RERANK = "rerank"
JUDGE = "judge"
SPARSE_TERMS = "sparse_terms"


class Meter:
    """Counts calls by name; channels may run side by side."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str) -> None:
        """One call more."""
        with self._lock:
            self._counts[name] += 1

    @property
    def counts(self) -> Mapping[str, int]:
        """Calls by name, names sorted."""
        return dict(sorted(self._counts.items()))

    def tools(self, tools: Tools) -> Tools:
        """The same tools, with models whose calls are counted."""
        embedder, reranker, judge = tools.embedder, tools.reranker, tools.judge
        return replace(
            tools,
            embedder=None if embedder is None else _counted(embedder, self),
            sparse=None if tools.sparse is None else _CountedSparse(tools.sparse, self),
            reranker=None if reranker is None else _CountedReranker(reranker, self),
            judge=None if judge is None else _CountedJudge(judge, self),
        )


@dataclass(frozen=True, slots=True)
class _CountedEmbedder:
    """Satisfies ``protocols.Embedder``."""

    embedder: Embedder
    meter: Meter

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    @property
    def fingerprint(self) -> str:
        return self.embedder.fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # What a stage embeds once for all recalls, such as examples, is no cost of this one.
        return self.embedder.encode(texts)

    def encode_query(self, text: str) -> NDArray[np.float32]:
        self.meter.add(QUERY_EMBEDDING)
        return self.embedder.encode_query(text)


@dataclass(frozen=True, slots=True)
class _CountedTokenEmbedder(_CountedEmbedder):
    """Satisfies ``protocols.TokenEmbedder``, too."""

    tokens: TokenEmbedder

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Sequence[NDArray[np.float32]]]:
        return self.tokens.encode_both(texts)

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        self.meter.add(QUERY_EMBEDDING)
        return self.tokens.encode_query_both(text)


def _counted(embedder: Embedder, meter: Meter) -> Embedder:
    """The same embedder, with as many abilities."""
    if isinstance(embedder, TokenEmbedder):
        return _CountedTokenEmbedder(embedder, meter, embedder)
    return _CountedEmbedder(embedder, meter)


@dataclass(frozen=True, slots=True)
class _CountedSparse:
    """Satisfies ``protocols.SparseEncoder``."""

    encoder: SparseEncoder
    meter: Meter

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def fingerprint(self) -> str:
        return self.encoder.fingerprint

    def encode(self, texts: Sequence[str]) -> Sequence[SparseTerms]:
        return self.encoder.encode(texts)

    def encode_query(self, text: str) -> SparseTerms:
        self.meter.add(SPARSE_TERMS)
        return self.encoder.encode_query(text)


@dataclass(frozen=True, slots=True)
class _CountedReranker:
    """Satisfies ``protocols.Reranker``."""

    reranker: Reranker
    meter: Meter

    @property
    def name(self) -> str:
        return self.reranker.name

    @property
    def gives(self) -> Literal["logits", "probabilities", "unknown"]:
        return self.reranker.gives

    @property
    def longest_text(self) -> int | None:
        """Characters of a text that it reads; ``None`` = it does not say."""
        return getattr(self.reranker, "longest_text", None)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.meter.add(RERANK)
        return self.reranker.score(query, texts)


@dataclass(frozen=True, slots=True)
class _CountedJudge:
    """Satisfies ``protocols.Judge``."""

    wrapped: Judge
    meter: Meter

    @property
    def name(self) -> str:
        return self.wrapped.name

    def judge(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.meter.add(JUDGE)
        return self.wrapped.judge(query, texts)
