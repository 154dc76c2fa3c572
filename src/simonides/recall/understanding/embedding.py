"""The query's vector, encoded once for every channel that asks for it.

Fills ``query.vector`` with encode_query(text) / ‖encode_query(text)‖₂, the norm taken in float64. Whatever
goes wrong with a model leaves the vector ``None`` and a note: recall answers with the channels that need
none. A query that asks for words alone (mode bm25) gets none.
Vectors of the query's tokens come from the same pass, where the embedder offers them.
Cost: one forward pass of the model; nothing else in the default pipeline costs as much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.protocols import TokenEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import Embedder, Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """Understander.

    Attributes:
        designed_for: name of the embedder that the profile was made with; another one is noted.
    """

    designed_for: str = ""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with a unit vector, float32, or with a note that says why it has none."""
        if query.mode == "bm25":
            return query
        if tools.embedder is None:
            return _without_vector(query, "no embedder")
        tokens = None
        try:
            if isinstance(tools.embedder, TokenEmbedder):
                both = tools.embedder.encode_query_both(query.rewritten or query.text)
                raw, tokens = np.asarray(both[0], np.float64), np.asarray(both[1], np.float32)
            else:
                raw = np.asarray(tools.embedder.encode_query(query.rewritten or query.text), np.float64)
        except Exception as error:  # noqa: BLE001 - any fault of a plugged-in model must leave lexical recall alive
            return _without_vector(query, f"the embedder failed: {type(error).__name__}: {error}")
        problem = _problem(raw, tools.embedder)
        if problem:
            return _without_vector(query, problem)
        # Scaled by its largest component first: the squares of huge ones would overflow.
        scaled = raw / np.abs(raw).max()
        vector = (scaled / np.linalg.norm(scaled)).astype(np.float32)
        notes = query.notes
        if self.designed_for and tools.embedder.name != self.designed_for:
            notes = (*notes, f"{tools.embedder.name} stands in for {self.designed_for}")
        return replace(query, vector=vector, token_vectors=_usable(tokens, tools.embedder), notes=notes)


def _usable(tokens: NDArray[np.float32] | None, embedder: Embedder) -> NDArray[np.float32] | None:
    """The token vectors where they are such; late interaction is done without where they are not."""
    if tokens is None or tokens.ndim != 2 or not len(tokens) or tokens.shape[1] != embedder.dimension:
        return None
    return tokens if np.isfinite(tokens).all() else None


def _problem(vector: NDArray[np.float64], embedder: Embedder) -> str:
    if vector.shape != (embedder.dimension,):
        return f"the embedder gave shape {vector.shape} for the query, not ({embedder.dimension},)"
    if not np.isfinite(vector).all():
        return "the embedder gave a vector for the query that is not finite"
    if not vector.any():
        return "the embedder gave a zero vector for the query: it knows no word of it"
    return ""


def _without_vector(query: Query, note: str) -> Query:
    return replace(query, vector=None, notes=(*query.notes, note))
