"""Reorders the head of the pool by a language model's judgement of how well each memory answers.

score(m) = the judge's number in [0, 1], rounded to 1e-9

The head is then in the order of these numbers; the rest follows unchanged, marked as unreranked. No judge, an
error, another count of numbers than of texts, or a number that is none or outside [0, 1] leaves the order as
it was, and the trace says why: half a judgement is not used. Only eligible memories are sent.
Cost: one call of a language model, a second or more, and money where the server is paid; in no built-in
profile. Source: Sun et al., Is ChatGPT Good at Search? (2023); here each text is scored by itself.
Weakness: a model need not say the same twice, so a recall with a judge is not repeatable; a memory may talk
the model into a better score; what is asked and what is judged leaves this process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.order import by_score, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = SIGNAL = "llm_judge"
_STANDS = "the fused order stands"


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """Refiner.

    Attributes:
        depth: candidates that are judged, best first, from 1.
    """

    depth: int

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many candidates are judged")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The head by the judge's numbers, then the tail as it was."""
        if not pool:
            return Refined(pool)
        head, tail = split(pool, self.depth)
        try:
            scores = _judgement(view, query, head, tools)
        except _NoJudgementError as error:
            return Refined(pool, f"{error}; {_STANDS}")
        judged = [
            candidate.rescored(score, SCORED_BY, **{SIGNAL: score})
            for candidate, score in zip(head, scores.round(9).tolist(), strict=True)
        ]
        return Refined(by_score(view, judged) + tail)


class _NoJudgementError(Exception):
    """Why there is none; never leaves this file."""


def _judgement(view: View, query: Query, head: Sequence[Candidate], tools: Tools) -> NDArray[np.float64]:
    """A number in [0, 1] for each candidate, float64, shape (len(head),); ``_NoJudgementError`` without."""
    if query.skip_rerank:
        raise _NoJudgementError(query.skip_rerank)
    if tools.judge is None:
        raise _NoJudgementError("no judge")
    if not all(view.eligible[candidate.ordinal] for candidate in head):
        # No stage hands on such a row; one that did would send a hidden memory away.
        raise _NoJudgementError("not all candidates may be sent")
    texts = [memory.text for memory in view.memories([candidate.ordinal for candidate in head])]
    try:
        scores = np.asarray(tools.judge.judge(query.text, texts), np.float64)
    except Exception as error:
        # Any fault of a plugged-in model must leave the fused order.
        raise _NoJudgementError(f"the judge failed: {type(error).__name__}: {error}") from error
    if scores.shape != (len(head),):
        raise _NoJudgementError(f"the judge gave numbers of shape {scores.shape} for {len(head)} texts")
    wrong = int((~((scores >= 0) & (scores <= 1))).sum())
    if wrong:
        raise _NoJudgementError(f"the judge gave no number from 0 to 1 for {wrong} of {len(head)} texts")
    return scores
