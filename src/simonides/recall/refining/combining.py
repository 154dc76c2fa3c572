"""Refiners that combine several signals into one score.

Multiplies scores by what a question asks for and what a memory is, in English only (JB-10).

A question for preferences ("what do I prefer?", "any tips?", "my favourite tea") and one for a fact ("how
many …", "did I buy …", "what's the version of …", "when did … happen?") may be one question; then both apply,
and all factors of a memory multiply.

    preference   ×preference_note   a preference of the user
                 ×preference_verb   else a note of the user's own in which someone prefers, likes, avoids, …
                 ×generic           advice, guides, checklists that are not the user's own
                 ×roll_up           summaries and totals
                 ×document_chunk    a piece of a document
    fact         ×concrete          a fact or milestone of the user; or no roll-up, and dated by a tag or told
                                    in the first person ("I bought", "we visited")
                 ×fact_roll_up      summaries and totals, also concrete ones
                 ×fact_generic      advice that is not the user's own, unless concrete
                 ×short_dated       a dated memory of at most *short_tokens*
                 ×long_prose        more than *prose_tokens*

The user's own are episodes and preferences that come from no document. Equal scores keep the order they had.
Cost: the records of the pool and a few regular expressions each. Weakness: word lists; a question in other
words, or another language, passes unweighted.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.columns import NEUTRAL, proximity
from simonides.protocols import Refined
from simonides.recall.refining.pool import by_score, first_recorded, min_max, split
from simonides.recall.rounding import rounded_sums
from simonides.records.candidate import FUSED
from simonides.records.interval import BEGINNING, DAY_MICROS, FOREVER
from simonides.records.kind import KIND_CODES, RECALLED, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query


BLEND_SCORED_BY = "blend"
SIGNALS = ("sim", "recency", "salience", "confidence", "graphprox")
GRAPH = "graph_proximity"
"""The signal that a graph stage left."""

_MICROS_PER_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Blend:
    """Scores a pool by a weighted sum of five signals, with weights per kind of memory.

    score(m) = Σ over signals s of weight[kind(m)][s] · s(m), each s in [0, 1]

        sim         max(min-max cosine, min-max fused score); the cosine is computed for the whole pool
        recency     min-max of decay_per_hour ** whole hours since the last access (HX-09)
        salience    min-max of the salience set when the memory was stored
        confidence  min-max of the confidence set when the memory was stored
        graphprox   min-max of the signal that a graph stage left, 0 where it left none

    Min-max is over the pool, and a constant column counts as 0: what does not tell candidates apart says
    nothing. The last access is the last one at or before the viewpoint; a memory without one counts from its
    first recording. Hours are whole, so that memories of one import are equally recent and not ordered by
    milliseconds.
    Cost: one exact cosine per member, under 1 ms for 160. Weakness: a weight means a share of the pool's own
    spread, so one outlier squeezes all others together.

    Attributes:
        weights: per kind of ``RECALLED`` and per signal of ``SIGNALS`` a weight from 0; all are stated.
        decay_per_hour: what is left of recency after each hour, above 0 and at most 1.
    """

    weights: Mapping[str, Mapping[str, float]]
    decay_per_hour: float

    def __post_init__(self) -> None:
        if not 0 < self.decay_per_hour <= 1:
            raise InputError(
                "decay_per_hour", f"{self.decay_per_hour} is not above 0 and at most 1; 0.995 is usual"
            )
        _check_names("weights", self.weights, [kind.value for kind in RECALLED])
        for kind, weights in self.weights.items():
            _check_names(f"weights.{kind}", weights, SIGNALS)
            for signal, weight in weights.items():
                if not 0 <= weight < math.inf:
                    raise InputError(f"weights.{kind}.{signal}", f"{weight} is not a number from 0")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by blended score; each candidate carries the five scaled signals."""
        if not pool:
            return Refined(pool)
        ordinals = np.array([candidate.ordinal for candidate in pool], np.int64)
        signals = self._signals(view, query, pool, ordinals)
        # What is in quarantine and asked for counts as a plain fact.
        rows = [self.weights.get(kind, self.weights[Kind.SEMANTIC]) for kind in Kind]
        table = np.array([[row[signal] for signal in SIGNALS] for row in rows])
        scores = rounded_sums(table[view.column("kind", ordinals)] * signals.T)
        scored = [
            candidate.with_signals(
                score,
                BLEND_SCORED_BY,
                # Written out: a third of the time of a dictionary made of two lists.
                {"sim": sim, "recency": used, "salience": salience, "confidence": sure, "graphprox": near},
            )
            for candidate, score, sim, used, salience, sure, near in zip(
                pool, scores, *signals.tolist(), strict=True
            )
        ]
        return Refined(by_score(view, scored))

    def _signals(
        self, view: View, query: Query, pool: tuple[Candidate, ...], ordinals: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Each of ``SIGNALS``, in that order, shape (len(SIGNALS), len(pool))."""
        columns = np.zeros((len(SIGNALS) + 1, len(pool)))
        if query.vector is not None:
            columns[0] = view.cosines(query.vector, ordinals)
        columns[1] = recency(view, ordinals, self.decay_per_hour)
        columns[2], columns[3] = view.column("salience", ordinals), view.column("confidence", ordinals)
        # float32 columns are rounded to what was stored: 0.1 is not 0.10000000149.
        columns[2:4].round(6, out=columns[2:4])
        columns[4] = [candidate.signals.get(GRAPH, 0.0) for candidate in pool]
        columns[5] = [candidate.signals.get(FUSED, 0.0) for candidate in pool]
        scaled = min_max(columns)
        np.maximum(scaled[0], scaled[5], out=scaled[0])
        return scaled[:5]


def recency(view: View, ordinals: NDArray[np.int64], decay_per_hour: float) -> NDArray[np.float64]:
    """``decay_per_hour`` to the power of the whole hours since each memory was last used, in [0, 1].

    What lies after the viewpoint counts as now.
    """
    used = view.column("last_access", ordinals)
    known = (used != BEGINNING) & (used <= view.as_of)
    since = np.where(known, used.astype(np.float64), first_recorded(view, ordinals))
    # In float64: the difference of two far moments would overflow int64.
    hours = np.floor(np.maximum(0.0, (float(view.as_of) - since) / _MICROS_PER_HOUR))
    decayed: NDArray[np.float64] = np.power(decay_per_hour, hours)
    return decayed


def _check_names(field: str, given: Mapping[str, object], wanted: list[str] | tuple[str, ...]) -> None:
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    if missing or unknown:
        problem = f"lacks {', '.join(missing)}" if missing else f"knows no {', '.join(map(repr, unknown))}"
        raise InputError(field, f"{problem}; give a number or table for each of {', '.join(wanted)}")


COMBINED_SCORE_SCORED_BY = "combined_score"


@dataclass(frozen=True, slots=True)
class CombinedScore:
    """Multiplies relevance by three small boosts: how recent, how near the asked time, how well proved.

    final = score × recency boost × temporal boost × proof boost,  each boost = 1 + alpha · (signal − 0.5)

        recency   clamp(1 − days / recency_days, recency_floor, 1); the future is 1, an undated memory 0.5
        temporal  1 − min(days from its centre / half the length of the asked time, 1); 0.5 without one
        proof     observations only: clamp(0.5 + ln(proofs) / proof_scale, 0, 1); anything else 0.5

    A signal of 0.5 changes nothing. Multiplied, not added: a boost stays in proportion to the relevance, so a
    barely relevant memory never passes a relevant one by being new. The age counts from the start of when it
    happened; where that is not known from when it became valid, if that was stated; else from when it ended.
    What was merely written down then is undated. For the asked time the middle of when it happened counts.
    Cost: four columns of the pool. Weakness: "recent" is the same for a birthday and for a lunch.

    Attributes:
        recency_alpha, temporal_alpha, proof_alpha: how far each boost swings, 0 to 2.
        recency_days: age in days at which recency would be 0, above 0.
        recency_floor: the least recency, 0 to 1.
        proof_scale: ln(proofs) that would raise the proof signal by 1, above 0.
    """

    recency_alpha: float
    temporal_alpha: float
    proof_alpha: float
    recency_days: float
    recency_floor: float
    proof_scale: float

    def __post_init__(self) -> None:
        for name in ("recency_alpha", "temporal_alpha", "proof_alpha"):
            # Above 2 a boost could turn negative, and the order with it.
            if not 0 <= getattr(self, name) <= 2:
                raise InputError(name, f"{getattr(self, name)} is not between 0 and 2")
        for name in ("recency_days", "proof_scale"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(name, f"{getattr(self, name)} is not a number above 0")
        if not 0 <= self.recency_floor <= 1:
            raise InputError("recency_floor", f"{self.recency_floor} is not between 0 and 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by combined score; each candidate carries its signals and boosts."""
        head, tail = split(pool)
        rows = np.array([candidate.ordinal for candidate in head], np.int64)
        first, last = view.column("occurred_from", rows), view.column("occurred_to", rows)
        signals = {
            "recency": self._recency(_moments(view, rows, first, last), query.as_of),
            "temporal": proximity(first, last, query.time),
            "proof": self._proof(view.column("kind", rows), view.column("proof_count", rows)),
        }
        alphas = {"recency": self.recency_alpha, "temporal": self.temporal_alpha, "proof": self.proof_alpha}
        scored = []
        for place, candidate in enumerate(head):
            named = {name: float(values[place]) for name, values in signals.items()}
            boosts = {name: 1 + alphas[name] * (signal - NEUTRAL) for name, signal in named.items()}
            scored.append(
                candidate.rescored(
                    round(candidate.score * math.prod(boosts.values()), 9),
                    COMBINED_SCORE_SCORED_BY,
                    **named,
                    **{f"{name}_boost": round(boost, 9) for name, boost in boosts.items()},
                )
            )
        return Refined(by_score(view, scored) + tail)

    def _recency(self, moments: NDArray[np.float64], as_of: int) -> NDArray[np.float64]:
        days = (float(as_of) - moments) / DAY_MICROS
        left = np.clip(1 - days / self.recency_days, self.recency_floor, 1.0)
        signal: NDArray[np.float64] = np.where(np.isnan(moments), NEUTRAL, left).round(9)
        return signal

    def _proof(self, kinds: NDArray[np.uint8], proofs: NDArray[np.int32]) -> NDArray[np.float64]:
        counted = (kinds == KIND_CODES[Kind.OBSERVATION]) & (proofs >= 1)
        raised = np.clip(NEUTRAL + np.log(np.maximum(proofs, 1)) / self.proof_scale, 0.0, 1.0)
        signal: NDArray[np.float64] = np.where(counted, raised, NEUTRAL).round(9)
        return signal


def _moments(
    view: View, rows: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.float64]:
    """When each memory was: start of when it happened, else when it was told to hold from, else its end.

    Microseconds as float64; NaN where undated.
    """
    dated = first <= last
    starts = np.where(dated & (first != BEGINNING), first.astype(np.float64), np.nan)
    ends = np.where(dated & (last != FOREVER), last.astype(np.float64), np.nan)
    valid = view.column("valid_from", rows)
    # By default a memory holds from when it was first written, which says nothing of when it happened.
    written = view.column("ingested_at", view.column("root", rows).astype(np.int64))
    stated = np.where((valid != written) & (valid != BEGINNING), valid.astype(np.float64), np.nan)
    moments: NDArray[np.float64] = np.where(np.isnan(starts), stated, starts)
    return np.where(np.isnan(moments), ends, moments)


SIGNAL = "intent_reweight"


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_PREFERENCE_QUESTION = _words(
    r"recommend(?:ation)?", r"suggest(?:ion)?", "tips?", "advice", "ideas?", r"(?:what|which) should i",
    "prefer(?:s|red|ence|ences)?", "favou?rites?",
)  # fmt: skip
_COUNT_QUESTION = _words("how many", "count", "(?:in )?total", "sum", "add up", "list", "what are all")
_FIRST_PERSON_QUESTION = _words("(?:did|have|was|were) i")
_DONE = (
    "picked up", "bought", "ordered", "spent", "earned", "sold", "drove", "travell?ed", "watched", "visited",
    "completed", "finished", "submitted", "booked",
)  # fmt: skip
_DONE_IN_QUESTION = _words(
    *_DONE, "pick up", "buy", "order", "spend", "earn", "sell", "drive", "travel", "watch", "visit",
    "complete", "finish", "submit", "book",
)  # fmt: skip
_PROPERTY_QUESTION = re.compile(
    r"\bwhat(?:['\u2019]?s| is| was) (?:the|my|our) [^?]{1,60}? of\b|\bwhen (?:did|was|were) \S",
    re.IGNORECASE,
)

_PREFERENCE_VERB = _words(
    "prefer(?:s|red)?", "like[sd]?", "love[sd]?", "want(?:s|ed)?", "need(?:s|ed)?", "avoid(?:s|ed)?",
    "dislike[sd]?", "hate[sd]?", "enjoy(?:s|ed)?", "interested in", "looking for",
)  # fmt: skip
_GENERIC = _words(
    "tips?", "advice", "suggest(?:s|ed|ions?)?", "recommend(?:s|ed|ations?)?", "ideas?", "options?", "guide",
    "track(?:ing|er)", "checklist",
)  # fmt: skip
_ROLL_UP = _words(
    "roll-?up", "summary", "recap", "overview", "aggregate", "combined", "overall", "in total",
    "totall?ed", "totall?ing",
)  # fmt: skip
_DONE_IN_NOTE = _words(rf"(?:i|we)\s+(?:{'|'.join((*_DONE, 'went', 'started', 'got', 'took'))})")
_DATE_TAG = re.compile(r"\[(?:date|observed on):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IntentReweight:
    """Refiner; every factor is above 0.

    Attributes:
        preference_note, preference_verb, generic, roll_up, document_chunk: for questions for preferences.
        concrete, fact_roll_up, fact_generic, short_dated, long_prose: for questions for facts.
        short_tokens, prose_tokens: up to how many a memory is short, beyond how many it is prose.
    """

    preference_note: float
    preference_verb: float
    generic: float
    roll_up: float
    document_chunk: float
    concrete: float
    fact_roll_up: float
    fact_generic: float
    short_dated: float
    long_prose: float
    short_tokens: int
    prose_tokens: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < math.inf:
                raise InputError(field.name, f"{value} is not a number above 0; 1 changes nothing")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The pool with its scores multiplied."""
        prefers, asks_fact = asks_preference(query.text), asks_concrete_fact(query.text)
        head, tail = split(pool)
        if not head or not (prefers or asks_fact):
            return Refined(pool)
        scored = []
        for candidate, memory in zip(head, view.memories([each.ordinal for each in head]), strict=True):
            note = _Note.of(memory, tools)
            factor = (self._for_preference(note) if prefers else 1.0) * (
                self._for_fact(note) if asks_fact else 1.0
            )
            scored.append(
                candidate.rescored(
                    round(candidate.score * factor, 9), candidate.scored_by, **{SIGNAL: round(factor, 9)}
                )
            )
        # Stable: the published order of equal scores is the fused one.
        scored.sort(key=lambda candidate: -candidate.score)
        return Refined(tuple(scored) + tail)

    def _for_preference(self, note: _Note) -> float:
        factor = 1.0
        if note.preference:
            factor = self.preference_note
        elif note.own and note.prefers:
            factor = self.preference_verb
        if note.generic and not note.own:
            factor *= self.generic
        if note.roll_up:
            factor *= self.roll_up
        if note.chunk:
            factor *= self.document_chunk
        return factor

    def _for_fact(self, note: _Note) -> float:
        concrete = note.fact or (not note.roll_up and note.event)
        factor = self.concrete if concrete else 1.0
        if note.roll_up:
            factor *= self.fact_roll_up
        if note.generic and not note.own and not concrete:
            factor *= self.fact_generic
        if note.dated and note.tokens <= self.short_tokens:
            factor *= self.short_dated
        if note.tokens > self.prose_tokens:
            factor *= self.long_prose
        return factor


@dataclass(frozen=True, slots=True)
class _Note:
    """What matters of a memory."""

    own: bool
    chunk: bool
    preference: bool
    prefers: bool
    generic: bool
    roll_up: bool
    fact: bool
    event: bool
    dated: bool
    tokens: int

    @classmethod
    def of(cls, memory: Memory, tools: Tools) -> _Note:
        text = "\n".join((memory.path, *memory.tags, memory.context, memory.text))
        own = memory.kind in {Kind.EPISODIC, Kind.PREFERENCE} and not memory.document
        dated = bool(_DATE_TAG.search(text))
        return cls(
            own=own,
            chunk=bool(memory.document),
            preference=own and (memory.kind is Kind.PREFERENCE or "user-preference-" in memory.path.lower()),
            prefers=bool(_PREFERENCE_VERB.search(text)),
            generic=bool(_GENERIC.search(text)),
            roll_up=bool(_ROLL_UP.search(text)),
            fact=any(slug in memory.path.lower() for slug in ("user-fact-", "milestone-")),
            event=dated or bool(_DONE_IN_NOTE.search(text)),
            dated=dated or memory.occurred is not None,
            tokens=tools.tokens.count(memory.text),
        )


def asks_preference(question: str) -> bool:
    """Whether it asks for what someone likes, or for advice."""
    return bool(_PREFERENCE_QUESTION.search(question))


def asks_concrete_fact(question: str) -> bool:
    """Whether it asks for a number, a property, a date or something the asker did."""
    if _COUNT_QUESTION.search(question) or _PROPERTY_QUESTION.search(question):
        return True
    return bool(_FIRST_PERSON_QUESTION.search(question) and _DONE_IN_QUESTION.search(question))
