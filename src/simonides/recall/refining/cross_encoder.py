"""Rescores the head of the pool by a model that reads the query and each memory together.

score(m) = 1 / (1 + e^−x) where the reranker gives logits, x where it gives probabilities

Where it does not say what it gives, probabilities are assumed unless a score lies outside [0, 1]. A score
that is no number becomes 0 and is reported, so that one bad score costs no other memory its place. The
head is then in the order of these scores; the rest follows unchanged, marked as unreranked. No reranker, an
error, another count of scores than of texts, or not one number among them leaves the order as it was,
and the trace says why. Batches and their sizes are the reranker's business (HI-05).
Of a text that is longer than it reads, it gets one passage (see ``best_passage``); the trace counts these.
Cost: one forward pass per memory, 5 to 20 ms each on a CPU; by far the dearest stage where it runs.
Source: Nogueira and Cho, Passage Re-ranking with BERT (2019).
Weakness: it reads the text alone and knows nothing of when it was said or by whom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.best_passage import best_passage
from simonides.recall.refining.order import by_score, split
from simonides.text.tokenise import tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Reranker, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = SIGNAL = "cross_encoder"
_STANDS = "the fused order stands"


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """Refiner.

    Attributes:
        depth: candidates that are read, best first, from 1.
        designed_for: name of the reranker that the profile was made with; another one is named in the trace.
        most_on_cpu: a depth above it is refused when the profile is loaded; ``None`` = any depth.
        cpu_ms_per_pair: expected cost on a CPU, above 0; the trace warns of it beyond *warned_above* pairs.
        warned_above: pairs, from 0; ``None`` = no warning.
    """

    depth: int
    designed_for: str = ""
    most_on_cpu: int | None = None
    cpu_ms_per_pair: float | None = None
    warned_above: int | None = None

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many candidates are read")
        if self.most_on_cpu is not None and self.depth > self.most_on_cpu:
            raise InputError(
                "depth",
                f"{self.depth} is above {self.most_on_cpu}, the most that a cross-encoder may read on a CPU "
                "here; lower it, or leave out most_on_cpu",
            )
        if self.cpu_ms_per_pair is not None and not 0 < self.cpu_ms_per_pair < math.inf:
            raise InputError("cpu_ms_per_pair", f"{self.cpu_ms_per_pair} is not a number above 0")
        if (self.warned_above is None) != (self.cpu_ms_per_pair is None):
            raise InputError(
                "warned_above", "needs cpu_ms_per_pair, and the other way round; give both or none"
            )

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The head by the reranker's scores, then the tail as it was."""
        if not pool:
            return Refined(pool)
        if tools.reranker is None:
            return Refined(pool, f"no reranker; {_STANDS}")
        head, tail = split(pool, self.depth)
        whole = [memory.text for memory in view.memories([candidate.ordinal for candidate in head])]
        longest = getattr(tools.reranker, "longest_text", None)
        texts = whole if longest is None else _passages(whole, query.text, longest)
        try:
            raw = np.asarray(tools.reranker.score(query.text, texts), np.float64)
        except Exception as error:  # noqa: BLE001 - any fault of a plugged-in model must leave the fused order
            return Refined(pool, f"the reranker failed: {type(error).__name__}: {error}; {_STANDS}")
        if raw.shape != (len(head),):
            return Refined(
                pool,
                f"the reranker gave scores of shape {raw.shape} for {len(head)} texts; {_STANDS}",
            )
        if np.isnan(raw).all():
            return Refined(pool, f"the reranker gave no number for any of {len(head)} texts; {_STANDS}")
        scores = relevances(raw, tools.reranker.gives).tolist()
        scored = [
            candidate.rescored(score, SCORED_BY, **{SIGNAL: score})
            for candidate, score in zip(head, scores, strict=True)
        ]
        cut = sum(len(part) < len(text) for part, text in zip(texts, whole, strict=True))
        return Refined(by_score(view, scored) + tail, "; ".join(self._remarks(tools.reranker, raw, cut)))

    def _remarks(self, reranker: Reranker, raw: NDArray[np.float64], cut: int) -> Sequence[str]:
        remarks = []
        if cut:
            remarks.append(f"{cut} of {len(raw)} texts were truncated to their best passage")
        missing = int(np.isnan(raw).sum())
        if missing:
            remarks.append(f"the reranker gave no number for {missing} of {len(raw)} texts, which count as 0")
        if self.designed_for and reranker.name != self.designed_for:
            remarks.append(f"{reranker.name} stands in for {self.designed_for}")
        if (
            self.cpu_ms_per_pair is not None
            and self.warned_above is not None
            and len(raw) > self.warned_above
        ):
            seconds = self.cpu_ms_per_pair * len(raw) / 1000
            remarks.append(f"{len(raw)} pairs were read, which takes about {seconds:.1f} s on a CPU")
        return remarks


def _passages(texts: Sequence[str], query: str, longest: int) -> list[str]:
    words = frozenset(tokenise(query))
    return [best_passage(text, words, longest) for text in texts]


def relevances(raw: NDArray[np.float64], gives: str) -> NDArray[np.float64]:
    """Scores of a reranker as numbers in [0, 1], rounded to 1e-9; NaN becomes 0.

    Args:
        raw: float64, shape (n,).
        gives: logits, probabilities or unknown, as ``protocols.Reranker`` has it.
    """
    known = raw[~np.isnan(raw)]
    if gives == "logits" or (gives == "unknown" and bool(((known < 0) | (known > 1)).any())):
        # e^−|x| never overflows, and e^x / (1 + e^x) is the same curve.
        small = np.exp(-np.abs(raw))
        raw = np.where(raw >= 0, 1 / (1 + small), small / (1 + small))
    scores: NDArray[np.float64] = np.where(np.isnan(raw), 0.0, np.clip(raw, 0.0, 1.0)).round(9)
    return scores
