"""What a recall returned, with the inputs of the learned reranker (EN-08); kept in memory, never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.index.quantise import quantise
from simonides.recall.refining.mlp import features_of
from simonides.records.impression import MOST_SHOWN, Impression

if TYPE_CHECKING:
    from simonides.protocols import View
    from simonides.records.query import Query
    from simonides.records.recall import Recall


def impression_of(
    view: View, query: Query, answer: Recall, principal: str, now: int, embedder: str, *, counted: bool
) -> Impression:
    """The impression of one answer; no words of the query are kept."""
    hits = answer.hits[:MOST_SHOWN]
    ordinals = np.array([hit.memory.ordinal for hit in hits], np.int64)
    codes = None if query.vector is None else quantise(query.vector)
    return Impression(
        recall=answer.id,
        principal=principal,
        made_at=now,
        embedder="" if codes is None else embedder,
        codes=b"" if codes is None else codes[0].tobytes(),
        scale=0.0 if codes is None else codes[1],
        roots=tuple(view.column("root", ordinals).tolist()),
        features=features_of(view, query, ordinals).astype(np.float32),
        counted=counted,
    )
