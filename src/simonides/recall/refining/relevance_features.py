"""Signals from which ``relevance`` judges how likely each hit, and anything at all, answers the query."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.occurred import meets
from simonides.recall.refining.late_interaction import SIGNAL as MAX_SIM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query

FIELDS = ("text", "context", "relation", "expansion")
_SPECIAL = re.compile(r"\S+")


def collect(view, query, pool, tools, head=10, rest=100):
    ordinals = np.array([c.ordinal for c in pool[:rest]], np.int64)
    top = ordinals[:head]
    k = len(top)
    terms = [t for t, _ in query.terms]
    n = int(np.count_nonzero(view.visible))
    out = {}
    if terms:
        freq, held = view.snapshot.postings.held(terms, view.visible, top, fields=FIELDS)
        _, held_text = view.snapshot.postings.held(terms, view.visible, top, fields=("text",))
        idf = np.log(1.0 + (n - freq + 0.5) / (freq + 0.5))
        tot = idf.sum()
        cov = (idf[:, None] * held).sum(0) / tot
        covt = (idf[:, None] * held_text).sum(0) / tot
        seen = freq > 0
        seen_tot = idf[seen].sum()
        cov_seen = (idf[:, None] * held)[seen].sum(0) / seen_tot if seen_tot > 0 else np.zeros(k)
        count = held.sum(0)
        share = count / len(terms)
        unseen = (~seen).mean()
        unseen_w = idf[~seen].sum() / tot
        # rarest term held by hit: 1 - ln df / ln N
        rarity = np.where(freq > 0, 1 - np.log(np.maximum(freq, 1)) / math.log(max(2, n)), 0)
        rare = np.array([max([rarity[t] for t in range(len(terms)) if held[t, j]], default=0.0) for j in range(k)])
    else:
        freq = np.zeros(0)
        cov = covt = cov_seen = share = count = rare = np.zeros(k); unseen = unseen_w = 0.0
    scores = np.array([c.score for c in pool[: head + 1]])
    s = scores[:k]
    nxt = np.append(scores[1:k], scores[k] if len(scores) > k else 0.0)
    cos = None
    if query.vector is not None and view.snapshot.vectors.dimension == len(query.vector):
        cos = view.cosines(query.vector, ordinals)
    ms = np.array([c.signals.get(MAX_SIM, np.nan) for c in pool[:rest]])
    memories = view.memories(top.tolist())
    sims = None
    if query.token_vectors is not None:
        counts, codes = view.token_codes(top.tolist())
        if counts.all() and len(counts):
            signs = np.unpackbits(codes, axis=1)[:, : query.token_vectors.shape[1]].astype(np.float32) * 2 - 1
            prod = (signs @ query.token_vectors.T) / np.sqrt(query.token_vectors.shape[1])
            starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
            sims = np.maximum.reduceat(prod, starts, axis=0)
    return dict(
        terms=terms, n=n, freq=freq.tolist() if len(terms) else [], cov=cov, covt=covt, cov_seen=cov_seen, share=share, count=count, rare=rare,
        unseen=unseen, unseen_w=unseen_w, s=s, nxt=nxt, cos=cos, ms=ms, pool=len(pool), tokens=0 if query.token_vectors is None else len(query.token_vectors),
        texts=[m.text for m in memories], contexts=[m.context for m in memories], asks=view.column("asks", top), words=view.column("words", top),
        lex=np.array([c.channel_scores.get("lexical", 0.0) for c in pool[:head]]), lexrank=np.array([c.ranks.get("lexical", 0) for c in pool[:head]]),
        denserank=np.array([c.ranks.get("dense", 0) for c in pool[:head]]), graph=np.array([c.signals.get("graph_rank", 0.0) for c in pool[:head]]),
        prior=np.array([c.signals.get("prior", 1.0) for c in pool[:head]]), speaker=np.array([c.signals.get("asked_speaker", 0.0) for c in pool[:head]]),
        entities=len(query.entities), time=query.time is not None,
        in_time=(meets(view.column("occurred_from", top), view.column("occurred_to", top), query.time) if query.time is not None else np.zeros(k, bool)),
        ids=[m.id for m in memories], query=query.text, rewritten=query.rewritten, no_match=None, sims=sims, nonstop=terms,
    )
