"""Says how likely each hit answers the query, and how likely anything does; drops the unlikely (DF-04).

    confidence     the calibrated probability that anything in the pool answers: ``anything``, on ten hits
    relevance(m)   confidence × the probability that m answers, if anything does: ``hit``
    band           none below *weak*, weak below *match*, else match

Both are logistic models (``chance``) over signals that other stages left or that cost little: coverage of
the query's words by idf, cosine, MaxSim, their best, their lead over the rest, words that no visible memory
holds. They were fitted for one embedder; with any other, or none, models over words alone are used.

What is kept, by the caller's ``precision``:
    wide            everything: for benchmarks, and for rerankers of one's own
    high            the first hit, and each whose chance is at least *share* times the best one's
    balanced        the same with a smaller share where the best hit stands out (its chance from *sure* on);
                    else the first *unsure* hits
In the band none everything stays as it was found, for the caller to look at. The order never changes.
A row that only asks or greets, or that a tool recalled before, answers nothing: it is not judged, its
relevance is 0, and it is kept where everything is. Where the query is about questions it is a row like any
other.
Statistics are those of the visible rows.
Cost: the postings of the query's terms, and one dot product per memory of the pool.
Source: logistic calibration after Platt (1999); the signals are near Shtok et al., Predicting Query
Performance by Query-Drift Estimation (2012). Numbers and data: docs/guide/relevance.md.
Weakness: a question about things that the bank speaks of, but whose answer it does not hold, looks like one
that it answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.columns import meets
from simonides.options import PRECISIONS
from simonides.protocols import Refined
from simonides.recall.fusion import covered, held_terms
from simonides.recall.refining.answers_first import REPEATED
from simonides.recall.refining.chance import chance_models
from simonides.recall.refining.newer_first import SIGNAL as NEWER
from simonides.recall.refining.rerankers import LATE_INTERACTION_SIGNAL as MAX_SIM
from simonides.records.kind import ANSWER_NOTHING
from simonides.records.recall import Judgement
from simonides.text.analyser import small_talk, tokenise
from simonides.text.speech import is_about_questions, unlabelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.recall import Band

WORDS = "words"
"""Name of the models that use no vector."""

HEAD, REST = 10, 100
"""How many of the pool are judged together, and how many tell what is usual in it; so in fitting, too."""

_SAY_THE_SAME = frozenset({REPEATED, NEWER})
"""Signals of what was moved before a row of the same matter, directly behind it."""


ONLY_QUESTIONS = "only questions and greetings were found, and what was recalled before"
ONLY_ASKS = "only asks or greets, or is what was recalled before"
_LONGEST_GREETING = 4
"""Words."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """Refiner; stands last.

    Attributes:
        weak, match: confidence from which on something may match, and from which on it likely does.
        share: by precision, the least chance of a kept hit, as a share of the best one's; 0 keeps all.
        sure: chance of the best hit from which on it stands out.
        unsure: how many of the first hits are kept where none stands out, from 1.
        unsure_share: their least chance, as a share of the best one's.
    """

    weak: float
    match: float
    share: Mapping[str, float]
    sure: float
    unsure: int
    unsure_share: float

    def __post_init__(self) -> None:
        if not 0 <= self.weak <= self.match <= 1:
            raise InputError("weak", f"{self.weak} and match {self.match} must satisfy 0 ≤ weak ≤ match ≤ 1")
        for name, share in self.share.items():
            if name not in PRECISIONS:
                raise UnknownNameError(f"share.{name}", name, PRECISIONS)
            if not 0 <= share <= 1:
                raise InputError(f"share.{name}", f"{share} is not between 0 and 1")
        for name in ("sure", "unsure_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(name, f"{getattr(self, name)} is not between 0 and 1")
        if self.unsure < 1:
            raise InputError("unsure", f"{self.unsure} is below 1; give how many hits")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The likely hits in their order, with the judgement; where nothing is likely, the pool as it is."""
        if not pool:
            return Refined(pool)
        answers = pool if is_about_questions(query.text) else answering(view, pool)
        if not answers:
            return Refined(pool, no_match=(ONLY_QUESTIONS,), judgement=Judgement(0.0, "none", {}))
        signals = collect_signals(view, query, answers)
        name = tools.embedder.name if tools.embedder else WORDS
        models = chance_models(name) if signals.has_vectors else None
        problem = ""
        if models is None:
            models = chance_models(WORDS)
            if signals.has_vectors:
                problem = f"relevance was not calibrated for {name}; judged by keywords only"
        assert models is not None
        confidence = float(models[0].chances(signals.anything)[0])
        if is_small_talk(query.text):
            confidence = 0.0
        elif query.time is not None and _happened_then(view, query, signals.ordinals[:HEAD]):
            # What happened in the time that the query states is an answer to it, whatever its words.
            confidence = max(confidence, self.match)
        chances = _as_likely_as_behind(answers, models[1].chances(signals.hits))
        relevance = (confidence * chances).round(6)
        band: Band = "match" if confidence >= self.match else "weak" if confidence >= self.weak else "none"
        found = dict(zip(signals.ordinals.tolist(), relevance.tolist(), strict=True))
        kept, why = self._likely(query, chances, relevance, band)
        rows = set(signals.ordinals[kept].tolist())
        whole = bool(kept.all()) and not why
        likely = pool if whole else tuple(each for each in pool if each.ordinal in rows)
        states = {each.ordinal for each in answers}
        dropped = (
            {}
            if whole
            else {
                each.ordinal: why if each.ordinal in states else ONLY_ASKS
                for each in pool
                if each.ordinal not in rows
            }
        )
        reasons: tuple[str, ...] = ()
        if band == "none":
            reasons = (
                f"the chance that anything answers is {confidence:.2f}, below {self.weak:g}",
                *signals.told(),
            )
        elif not likely:
            reasons = (f"no memory reaches min_relevance {query.min_relevance:g}",)
        return Refined(
            likely,
            problem,
            dropped=dropped,
            no_match=reasons,
            evidence=signals.evidence(),
            judgement=Judgement(confidence, band, found),
        )

    def _likely(
        self, query: Query, chances: NDArray[np.float64], relevance: NDArray[np.float64], band: Band
    ) -> tuple[NDArray[np.bool_], str]:
        """Which of the judged hits are kept, and why all others are not; empty = they are."""
        kept, why = np.ones(len(chances), np.bool_), ""
        share = 0.0 if band == "none" else self.share.get(query.precision, 0.0)
        if share:
            best = float(chances[:HEAD].max())
            if best >= self.sure or query.precision == "high":
                kept = chances >= share * best
                kept[HEAD if best >= self.sure else self.unsure :] = False
                why = f"is less than {share:g} times as likely to answer as the best hit"
            else:
                kept = chances >= self.unsure_share * best
                kept[self.unsure :] = False
                why = f"stands behind the first {self.unsure}, and no hit stands out"
            kept[0] = True
        if query.min_relevance is not None:
            kept &= relevance >= query.min_relevance
            why = f"{why}, or " * bool(why) + f"has a relevance below {query.min_relevance:g}"
        return kept, why


@dataclass(frozen=True, slots=True)
class Signals:
    """What the models go by.

    Attributes:
        ordinals: of the judged hits, best first, int64.
        anything: by name, float64, shape (1,): of the query and its first hits together.
        hits: by name, float64, shape (hits,): of each hit.
        has_vectors: whether the query and the bank have vectors that can be compared.
    """

    ordinals: NDArray[np.int64]
    anything: Mapping[str, NDArray[np.float64]]
    hits: Mapping[str, NDArray[np.float64]]
    has_vectors: bool

    def evidence(self) -> dict[str, float]:
        """The numbers for the trace."""
        return {name: round(float(values[0]), 6) for name, values in self.anything.items()}

    def told(self) -> tuple[str, ...]:
        """The two strongest signals, for people."""
        covered = (
            f"the words of the best memory cover {self.anything['coverage'][0]:.2f} of the query's weight"
        )
        if not self.has_vectors:
            return (covered,)
        return (covered, f"the nearest memory has a cosine of {self.anything['cosine'][0]:.2f}")


def _as_likely_as_behind(answers: tuple[Candidate, ...], chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chances where a row that was moved before one that says the same is at least as likely as that one."""
    likely = chances.copy()
    for place in range(len(likely) - 2, -1, -1):
        if not _SAY_THE_SAME.isdisjoint(answers[place].signals):
            likely[place] = max(likely[place], likely[place + 1])
    return likely


def answering(view: View, pool: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """What of *pool* neither asks or greets only, nor is an echo of memories."""
    ordinals = np.array([candidate.ordinal for candidate in pool], np.int64)
    nothing = np.isin(view.column("utterance", ordinals), [int(each) for each in ANSWER_NOTHING])
    # Texts are read of the few that are short enough to be a greeting.
    short = np.flatnonzero(~nothing & (view.column("words", ordinals) <= _LONGEST_GREETING))
    for place, memory in zip(short.tolist(), view.memories(ordinals[short].tolist()), strict=True):
        nothing[place] = is_small_talk(unlabelled(memory.text, memory.speaker))
    if not nothing.any():
        return pool
    return tuple(each for each, only in zip(pool, nothing.tolist(), strict=True) if not only)


def is_small_talk(text: str) -> bool:
    """Whether *text* greets, thanks or acknowledges, and says nothing else."""
    words = tokenise(text)
    return bool(words) and all(word in small_talk() for word in words)


def collect_signals(view: View, query: Query, pool: tuple[Candidate, ...]) -> Signals:
    """The signals of the first hits of *pool*, which is not empty."""
    some = pool[:REST]
    ordinals = np.array([candidate.ordinal for candidate in some], np.int64)
    head = min(HEAD, len(some))
    words = word_signals(view, query, ordinals)
    scores = np.array([max(0.0, candidate.score) for candidate in pool[: REST + 1]], np.float64)
    after = np.append(scores[1 : len(some)], scores[len(some)] if len(scores) > len(some) else 0.0)
    scores = scores[: len(some)]
    rows = math.log(max(1, int(np.count_nonzero(view.visible))))
    anything = {
        "coverage": words["coverage"][:head].max(),
        "coverage_first": words["coverage"][0],
        "coverage_seen": words["coverage_seen"][:head].max(),
        "held_terms": words["held_terms"][:head].max(),
        "rare": words["rare"][:head].max(),
        "rare_first": words["rare"][0],
        "unseen": words["unseen"][0],
        "unseen_weight": words["unseen_weight"][0],
        "score_lead": scores[0] - after[0],
        "rows": rows,
        "terms": math.log1p(len(query.terms)),
        "tokens": math.log1p(0 if query.token_vectors is None else len(query.token_vectors)),
    }
    hits = {
        "rank": np.log(np.arange(1, len(some) + 1, dtype=np.float64)),
        "gap_after": scores - after,
        "gap_before": np.append(0.0, scores[:-1] - scores[1:]),
        "ratio": np.log((scores + 0.05) / (scores[0] + 0.05)),
        "coverage_short": anything["coverage"] - words["coverage"],
        "coverage": words["coverage"],
        "rows": np.full(len(some), rows),
    }
    vectors = has_vectors(view, query)
    if vectors:
        assert query.vector is not None
        cosines = view.cosines(query.vector, ordinals)
        best = int(cosines[:head].argmax())
        others = np.delete(cosines, best)
        similar = np.array([candidate.signals.get(MAX_SIM, np.nan) for candidate in some], np.float64)
        known = ~np.isnan(similar)
        similar[~known] = similar[known].mean() if known.any() else 0.0
        highest = np.sort(cosines)[::-1]
        anything |= {
            "cosine": cosines[best],
            "cosine_first": cosines[0],
            "cosine_gap": cosines[best] - (others.mean() if len(others) else 0.0),
            "cosine_lead": highest[0] - (highest[1] if len(highest) > 1 else 0.0),
            "max_sim": similar[:head].max(),
            "max_sim_first": similar[0],
            "max_sim_gap": similar[:head].max() - np.median(similar),
        }
        hits |= {
            "cosine_short": cosines[:head].max() - cosines,
            "max_sim_short": similar[:head].max() - similar,
            "max_sim_z": (similar - similar.mean()) / (similar.std() + 1e-6),
        }
    return Signals(
        ordinals,
        {name: np.array([value], np.float64) for name, value in anything.items()},
        hits,
        vectors,
    )


def has_vectors(view: View, query: Query) -> bool:
    """Whether the query and the bank have vectors that can be compared."""
    return query.vector is not None and view.snapshot.vectors.dimension == len(query.vector)


def word_signals(view: View, query: Query, ordinals: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """By name, of each row: how much of the query it covers, and how much of it no visible row holds.

    Returns:
        float64, shape (len(ordinals),), each; in [0, 1] but for ``held_terms``, which counts.
    """
    count = len(ordinals)
    if not query.terms:
        names = ("coverage", "coverage_seen", "held_terms", "rare", "unseen", "unseen_weight")
        return {name: np.zeros(count) for name in names}
    frequencies, idf, held = held_terms(view, query, ordinals)
    rows = int(np.count_nonzero(view.visible))
    seen = frequencies > 0
    rarity = np.where(seen, 1.0 - np.log(np.maximum(frequencies, 1)) / math.log(max(2, rows)), 0.0)
    total, of_seen = math.fsum(idf.tolist()), math.fsum(idf[seen].tolist())
    return {
        "coverage": covered(idf, held),
        "coverage_seen": covered(idf[seen], held[seen]) if of_seen else np.zeros(count),
        "held_terms": held.sum(axis=0).astype(np.float64),
        "rare": (held * rarity[:, np.newaxis]).max(axis=0).round(9),
        "unseen": np.full(count, float(np.mean(~seen))),
        "unseen_weight": np.full(count, round((total - of_seen) / total, 9)),
    }


def _happened_then(view: View, query: Query, head: NDArray[np.int64]) -> bool:
    """Whether a memory of the head happened in the time that the query states."""
    assert query.time is not None
    first, last = view.column("occurred_from", head), view.column("occurred_to", head)
    return bool(meets(first, last, query.time).any())
