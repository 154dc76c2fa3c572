"""Refiners that score by a model which reads query and memory, and what bounds their cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.vectors import max_similarities
from simonides.protocols import Refined
from simonides.recall.refining.pool import by_score, min_max, split
from simonides.text.analyser import tokenise

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Reranker, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


def best_passage(text: str, words: Collection[str], longest: int) -> str:
    """The part of a long text that a reranker reads, where it reads no more than so many characters.

    windows overlap by half; chosen is the first one that holds most different words of the query

    A model that cuts off what is too long for it would judge a long memory by its beginning. Cost: linear in
    the text, and one pair for the model, as for a short text. Weakness: where the answer shares no word with
    the query, the beginning is read.
    Source: MaxP over passages (Dai and Callan 2019), with the passage chosen by words, so that one is read.

    The window of *text* that holds most of *words*.

    Args:
        text: of a memory.
        words: of the query, as ``tokenise`` gives them.
        longest: characters of a window, from 2; a text that is not longer is its own best passage.
    """
    if len(text) <= longest:
        return text
    wanted = frozenset(words)
    half = longest // 2
    starts = range(0, len(text) - half, half)
    # max gives the first of equals.
    return max(
        (text[start : start + longest] for start in starts),
        key=lambda window: len(wanted.intersection(tokenise(window))),
    )


CROSS_ENCODER_SCORED_BY = CROSS_ENCODER_SIGNAL = "cross_encoder"
_ORDER_KEPT = "the fused order stands"


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """Rescores the head of the pool by a model that reads the query and each memory together.

    score(m) = 1 / (1 + e^−x) where the reranker gives logits, x where it gives probabilities

    Where it does not say what it gives, probabilities are assumed unless a score lies outside [0, 1]. A score
    that is no number becomes 0 and is reported, so that one bad score costs no other memory its place. The
    head is then in the order of these scores; the rest follows unchanged, marked as unreranked. No reranker,
    an error, another count of scores than of texts, or not one number among them leaves the order as it was,
    and the trace says why. Batches and their sizes are the reranker's business (HI-05). Of a text that is
    longer than it reads, it gets one passage (see ``best_passage``); the trace counts these.
    Cost: one forward pass per memory, 5 to 20 ms each on a CPU; by far the dearest stage where it runs.
    Source: Nogueira and Cho, Passage Re-ranking with BERT (2019).
    Weakness: it reads the text alone and knows nothing of when it was said or by whom.

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
            return Refined(pool, f"no reranker; {_ORDER_KEPT}")
        head, tail = split(pool, self.depth)
        whole = [memory.text for memory in view.memories([candidate.ordinal for candidate in head])]
        longest = getattr(tools.reranker, "longest_text", None)
        texts = whole if longest is None else _passages(whole, query.text, longest)
        try:
            raw = np.asarray(tools.reranker.score(query.text, texts), np.float64)
        except Exception as error:  # noqa: BLE001 - any fault of a plugged-in model must leave the fused order
            return Refined(pool, f"the reranker failed: {type(error).__name__}: {error}; {_ORDER_KEPT}")
        if raw.shape != (len(head),):
            return Refined(
                pool,
                f"the reranker gave scores of shape {raw.shape} for {len(head)} texts; {_ORDER_KEPT}",
            )
        if np.isnan(raw).all():
            return Refined(pool, f"the reranker gave no number for any of {len(head)} texts; {_ORDER_KEPT}")
        scores = relevances(raw, tools.reranker.gives).tolist()
        scored = [
            candidate.rescored(score, CROSS_ENCODER_SCORED_BY, **{CROSS_ENCODER_SIGNAL: score})
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


def agreements(pool: Sequence[Candidate], one: str, other: str, window: int) -> int:
    """At how many of the first *window* places two channels have the same memory.

    Args:
        pool: every candidate, in any order; each knows its ranks.
        one: name of a channel.
        other: name of another.
        window: places that are compared.

    Returns:
        0 as well when either channel has fewer than *window* hits: then there is no head to agree on.
    """
    ranks = [(candidate.ranks.get(one), candidate.ranks.get(other)) for candidate in pool]
    if not any(rank == window for rank, _ in ranks) or not any(rank == window for _, rank in ranks):
        return 0
    return sum(rank is not None and rank == same and rank <= window for rank, same in ranks)


@dataclass(frozen=True, slots=True)
class HeadRerank:
    """Rescores the head of the pool unless that would change nothing worth the wait (JB-08, JB-09).

    The first *depth* candidates are read by the reranker and put in its order; the rest follows unchanged. It
    is left out, with one of these reasons in the trace:

        empty_candidates   there is nothing to read
        mode_off           who asks for bm25 or semantic gets no reranker
        no_reranker        there is none
        unanimity          lexical and dense agree, place by place, on *agree* of their first *window*

    Cost: that of ``cross_encoder``, or nothing. Weakness: two channels can agree and both be wrong.

    Attributes:
        depth: candidates that are read, best first, from 1.
        channels: names of the two channels that may agree.
        window: places that are compared, from 1.
        agree: equal places from which on the reranker is left out, from 1 to *window*.
        designed_for: name of the reranker that the profile was made with; another one is named in the trace.
    """

    depth: int
    channels: tuple[str, ...]
    window: int
    agree: int
    designed_for: str = ""

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many candidates are read")
        if len(set(self.channels)) != 2:
            raise InputError("channels", f"{list(self.channels)} does not name two channels")
        if self.window < 1:
            raise InputError("window", f"{self.window} is below 1; 3 is usual")
        if not 1 <= self.agree <= self.window:
            raise InputError("agree", f"{self.agree} is not between 1 and the window of {self.window}")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The head by the reranker's scores, then the tail; or the pool as it is, and why."""
        reason = self._reason(query, pool, tools)
        if reason:
            return Refined(pool, reason)
        return CrossEncoder(self.depth, self.designed_for).refine(view, query, pool, tools)

    def _reason(self, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> str:
        if not pool:
            return "empty_candidates"
        if query.skip_rerank:
            return query.skip_rerank
        if tools.reranker is None:
            return "no_reranker"
        one, other = self.channels
        return "unanimity" if agreements(pool, one, other, self.window) >= self.agree else ""


@dataclass(frozen=True, slots=True)
class RerankPrefilter:
    """Keeps the head of the fused list, so that a reranker's cost does not grow with the search.

    The first *most* candidates stay, whatever the search budget was (HI-04); the others leave the pool. Where
    the caller asks for more hits than that, the others stay instead, marked as unreranked: they follow in
    their fused order behind all that is reranked (SPEC, general settlement 7).
    Cost: nothing. Weakness: what fusion ranked below the cut is lost, whatever a reranker would have said.

    Attributes:
        most: candidates that may be reranked, from 1.
    """

    most: int

    def __post_init__(self) -> None:
        if self.most < 1:
            raise InputError("most", f"{self.most} is below 1; give how many candidates may be reranked")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The first *most*, best first, and the marked rest where the caller wants more hits."""
        head, tail = split(pool, self.most)
        if query.limit is not None and query.limit > self.most:
            return Refined(head + tail)
        first_out = self.most + 1
        return Refined(
            head,
            dropped={
                candidate.ordinal: f"was at place {place} after fusion, and only {self.most} are reranked"
                for place, candidate in enumerate(tail, start=first_out)
            },
        )


LLM_JUDGE_SCORED_BY = LLM_JUDGE_SIGNAL = "llm_judge"


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """Reorders the head of the pool by a language model's judgement of how well each memory answers.

    score(m) = the judge's number in [0, 1], rounded to 1e-9

    The head is then in the order of these numbers; the rest follows unchanged, marked as unreranked. No
    judge, an error, another count of numbers than of texts, or a number that is none or outside [0, 1] leaves
    the order as it was, and the trace says why: half a judgement is not used. Only eligible memories are
    sent.
    Cost: one call of a language model, a second or more, and money where the server is paid; in no built-in
    profile. Source: Sun et al., Is ChatGPT Good at Search? (2023); here each text is scored by itself.
    Weakness: a model need not say the same twice, so a recall with a judge is not repeatable; a memory may
    talk the model into a better score; what is asked and what is judged leaves this process.

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
            return Refined(pool, f"{error}; {_ORDER_KEPT}")
        judged = [
            candidate.rescored(score, LLM_JUDGE_SCORED_BY, **{LLM_JUDGE_SIGNAL: score})
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


LATE_INTERACTION_SCORED_BY = "late_interaction"
LATE_INTERACTION_SIGNAL = "maxsim"


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Raises in the head of the pool what answers the query word by word.

    score(m) = kept · minmax(score so far) + weight · minmax(MaxSim)      over the first ``depth`` candidates

    MaxSim sets each token of the query against its nearest token of the memory (``index.token_codes``), so a
    memory that answers one part of the query well is not averaged away as in a single vector. The rest of the
    pool follows unchanged, below the head. Without tokens of the query or of any memory of the head nothing
    changes, and the trace says why.
    Cost: under 5 ms for 100 candidates, and one read of their codes.
    Source: Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search (2020).
    Weakness: reads only the first ``MOST_TOKENS`` tokens of a memory.

    Attributes:
        depth: candidates that are rescored, best first, from 1.
        weight: of MaxSim, above 0.
        kept: weight of the score so far, from 0; 0 = MaxSim alone orders the head.
        silent: whether a query or a pool without tokens goes without a reason in the trace.
    """

    depth: int
    weight: float
    kept: float
    silent: bool = False

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; 100 is usual")
        if not 0 <= self.kept < math.inf:
            raise InputError("kept", f"{self.kept} is not a number from 0; 1 is usual")
        if not 0 < self.weight < math.inf:
            raise InputError("weight", f"{self.weight} is not a number above 0; to drop it, leave it out")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The head by its new scores, then the tail as it was."""
        if not pool:
            return Refined(pool)
        if query.token_vectors is None:
            return Refined(pool, "" if self.silent else "the query has no token vectors")
        head, tail = split(pool, self.depth)
        counts, codes = view.token_codes([candidate.ordinal for candidate in head])
        if not counts.any():
            return Refined(pool, "" if self.silent else "no candidate has token codes")
        similar = max_similarities(query.token_vectors, codes, counts)
        before = min_max(np.array([candidate.score for candidate in head], np.float64))
        # What has no codes is neither raised nor lowered against the rest: it counts as the mean.
        similar[counts == 0] = similar[counts > 0].mean()
        scores = (self.kept * before + self.weight * min_max(similar)).round(9)
        scored = [
            candidate.with_signals(score, LATE_INTERACTION_SCORED_BY, {LATE_INTERACTION_SIGNAL: signal})
            for candidate, score, signal in zip(head, scores.tolist(), similar.round(9).tolist(), strict=True)
        ]
        return Refined(by_score(view, scored) + tail)


SYNTHETIC_SCORES_SCORED_BY = "synthetic_scores"


@dataclass(frozen=True, slots=True)
class SyntheticScores:
    """Scores by rank alone, for a pool that no cross-encoder has read.

    score at rank r of n = highest − (highest − lowest) · (r − 1) / (n − 1);  highest for a single candidate

    So what multiplies scores afterwards (recency, time, proof) works on the scale that it was made for, also
    without a reranker or when the reranker failed (HI-06). Where one has scored the pool, nothing is done.
    The order stays as it is; candidates marked as unreranked keep their scores.
    Cost: nothing. Weakness: a rank says how many were better, not how much better.

    Attributes:
        highest, lowest: scores of the first and the last rank, highest above lowest.
    """

    highest: float
    lowest: float

    def __post_init__(self) -> None:
        if not -math.inf < self.lowest < self.highest < math.inf:
            raise InputError("lowest", f"{self.lowest} is not below highest, which is {self.highest}")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The same order with scores by rank, unless a cross-encoder has scored it."""
        head, tail = split(pool)
        if any(candidate.scored_by == CROSS_ENCODER_SCORED_BY for candidate in head):
            return Refined(pool)
        step = (self.highest - self.lowest) / max(1, len(head) - 1)
        scored = tuple(
            candidate.rescored(round(self.highest - step * place, 9), SYNTHETIC_SCORES_SCORED_BY)
            for place, candidate in enumerate(head)
        )
        return Refined(scored + tail)
