"""Refiners that raise or lower scores by one signal each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.protocols import Refined
from simonides.recall.refining.pool import (
    age_days,
    boosted,
    by_score,
    first_recorded,
    ordinals_of,
    split,
)
from simonides.recall.refining.rerankers import CROSS_ENCODER_SCORED_BY
from simonides.recall.rounding import rounded
from simonides.records.interval import BEGINNING, DAY_MICROS
from simonides.records.kind import LAYER_CODES, Layer
from simonides.text.speech import name_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query


ACCESS_FREQUENCY_SIGNAL = "access_frequency"


@dataclass(frozen=True, slots=True)
class AccessFrequency:
    """Raises what was used often: score × (1 + weight · ln(1 + accesses)) (EN-06).

    Cost: one column of the pool. Weakness: what is found is used and so is found again; the logarithm slows
    that and does not end it.

    Attributes:
        weight: of the logarithm, from 0.
    """

    weight: float

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            raise InputError("weight", f"{self.weight} is not a number from 0; 0.1 is usual")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with often used memories raised."""
        if not pool:
            return Refined(pool)
        accesses = view.column("access_count", ordinals_of(pool)).astype(np.float64)
        return Refined(boosted(view, pool, 1.0 + self.weight * np.log1p(accesses), ACCESS_FREQUENCY_SIGNAL))


DATE_MATCH_SIGNAL = "date_match"


@dataclass(frozen=True, slots=True)
class DateMatch:
    """Raises what happened when the query says: score × *factor* where the times overlap (EN-04).

    Times are half-open intervals (``query.time``, found in the words; the memory's occurred range). An
    undated memory matches no time, and without a time in the query nothing changes.
    Cost: two columns of the pool. Weakness: a time told by the way is boosted like one that is asked for.

    Attributes:
        factor: what the score of a match is multiplied by, above 0.
    """

    factor: float

    def __post_init__(self) -> None:
        if not 0 < self.factor < math.inf:
            raise InputError("factor", f"{self.factor} is not a number above 0; 2 is usual")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with matches raised."""
        if query.time is None or not pool:
            return Refined(pool)
        ordinals = ordinals_of(pool)
        starts, ends = view.column("occurred_from", ordinals), view.column("occurred_to", ordinals)
        matches = [
            query.time.overlaps(start, max(end, start + 1)) and start <= end
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return Refined(boosted(view, pool, np.where(matches, self.factor, 1.0), DATE_MATCH_SIGNAL))


REPEAT_BOOSTS_SIGNAL = "boost"


@dataclass(frozen=True, slots=True)
class RepeatBoosts:
    """Multiplies a cross-encoder's scores by boosts that the fused scores had (EN, order of the stages).

    score(m) = score(m) · Π over the named signals of signal(m)

    A reranker replaces the score, and with it the boosts that earlier refiners left as signals; here they
    count again. Where no cross-encoder has scored the pool, its scores still hold the boosts and nothing is
    done.
    Cost: nothing. Weakness: a factor above 1 lifts a score out of [0, 1].

    Attributes:
        signals: names of the boosts; one that a candidate has not counts as 1.
    """

    signals: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.signals:
            raise InputError("signals", "is empty; name the boosts that count again")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with the boosts in its scores."""
        head, _ = split(pool)
        if not head or any(candidate.scored_by != CROSS_ENCODER_SCORED_BY for candidate in head):
            return Refined(pool)
        factors = [
            float(np.prod([candidate.signals.get(name, 1.0) for name in self.signals])) for candidate in pool
        ]
        return Refined(boosted(view, pool, np.array(factors), REPEAT_BOOSTS_SIGNAL))


RETENTION_SIGNAL = "retention"


@dataclass(frozen=True, slots=True)
class Retention:
    """Lowers what was long ago: score × max(floor, e^(−rate · age / half_life)).

    Rule EN-05, for episodic memories. Episodic is a matter of the layer: what was promoted to lasting
    knowledge does not fade. The age counts from the first version's recording to the viewpoint. Cost: three
    columns of the pool.
    Weakness: an old episode that is asked for by its date pays as well, at most down to the floor.

    Attributes:
        rate: of the decay in one half-life, from 0; 0.693 halves.
        half_life_days: above 0.
        floor: the least that is left, 0 to 1.
    """

    rate: float
    half_life_days: float
    floor: float

    def __post_init__(self) -> None:
        if not 0 <= self.rate < math.inf:
            raise InputError("rate", f"{self.rate} is not a number from 0; 0.693 halves in a half-life")
        if not 0 < self.half_life_days < math.inf:
            raise InputError("half_life_days", f"{self.half_life_days} is not a number above 0")
        if not 0 <= self.floor <= 1:
            raise InputError("floor", f"{self.floor} is not between 0 and 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with old episodes lowered."""
        if not pool:
            return Refined(pool)
        ordinals = ordinals_of(pool)
        left = np.exp(-self.rate * age_days(view, ordinals) / self.half_life_days)
        episodic = view.column("layer", ordinals) == LAYER_CODES[Layer.EPISODIC]
        factors = np.where(episodic, np.maximum(self.floor, left), 1.0)
        return Refined(boosted(view, pool, factors, RETENTION_SIGNAL))


ROUTED_BOOST_SCORED_BY = ROUTED_BOOST_SIGNAL = "routed_boost"


@dataclass(frozen=True, slots=True)
class RoutedBoost:
    """Raises candidates of the kinds and the project that the router took the query to ask for.

    score(m) = score(m) × factor if m is of a routed kind and of the routed project, as far as each was routed

    For a router in the mode "boost": what the words suggest may raise, and excludes nothing (HX-03).
    Cost: nothing. Weakness: one factor for a sure guess and for an unsure one.

    Attributes:
        factor: from 1; 1 changes nothing.
    """

    factor: float

    def __post_init__(self) -> None:
        if not 1 <= self.factor < math.inf:
            raise InputError("factor", f"{self.factor} is not a number from 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by raised scores; unchanged when nothing was routed."""
        if not query.routed_kinds and query.routed_project is None:
            return Refined(pool)
        memories = view.memories([candidate.ordinal for candidate in pool])
        raised = []
        for candidate, memory in zip(pool, memories, strict=True):
            factor = self.factor if _is_meant(memory, query) else 1.0
            raised.append(
                candidate.rescored(
                    round(candidate.score * factor, 9),
                    ROUTED_BOOST_SCORED_BY,
                    **{ROUTED_BOOST_SIGNAL: factor},
                )
            )
        return Refined(by_score(view, raised))


def _is_meant(memory: Memory, query: Query) -> bool:
    return (not query.routed_kinds or memory.kind in query.routed_kinds) and (
        query.routed_project in {None, memory.project}
    )


ASKED_SPEAKER_SCORED_BY = ASKED_SPEAKER_SIGNAL = "asked_speaker"


@dataclass(frozen=True, slots=True)
class AskedSpeaker:
    """Raises what is said by the one whom the query names.

    score(m) = score(m) + weight   if the query names m's speaker and nobody else who speaks in the pool

    "What did Ines plant?" is answered by Ines, and by her friend only in passing; both share all words with
    the question. Who speaks is what ``retain`` was told, else the label in front of the text ("Ines: …").
    Where the query names several of those who speak, or none, nothing changes.
    Cost: one column of the pool. Weakness: a speaker is known by the whole name that was given: "Ines" in a
    query does not mean the speaker "Ines Moreau".

    Attributes:
        weight: added to the score of what the asked one says, above 0.
    """

    weight: float

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise InputError("weight", f"{self.weight} is not a number above 0; to drop it, leave it out")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by its new scores; what is raised carries *weight* as ``asked_speaker``."""
        if not pool:
            return Refined(pool)
        speakers = view.column(
            "speaker", np.array([candidate.ordinal for candidate in pool], np.int64)
        ).tolist()
        asked = name_keys(query.text) & set(speakers)
        if len(asked) != 1:
            return Refined(pool)
        (one,) = asked
        scored = [
            candidate.rescored(
                round(candidate.score + self.weight, 9),
                ASKED_SPEAKER_SCORED_BY,
                **{ASKED_SPEAKER_SIGNAL: self.weight},
            )
            if speaker == one
            else candidate.rescored(candidate.score, ASKED_SPEAKER_SCORED_BY)
            for candidate, speaker in zip(pool, speakers, strict=True)
        ]
        return Refined(by_score(view, scored))


BOUNDED_PRIORS_SCORED_BY = "bounded_priors"
BOUNDED_PRIORS_SIGNAL = "prior"
SIGNALS = ("recency", "salience", "confidence", "usage", "statement", "length")

_LONG = 5.0  # ln(1 + 147 words)


@dataclass(frozen=True, slots=True)
class BoundedPriors:
    """Multiplies relevance by what is known of a memory whatever is asked, within a declared band (DF-05).

    score(m) = score(m) × prior(m),   prior(m) = band ^ Σ over signals of weight · (signal(m) − ½)

        recency     ½ ^ (whole days since the last access, else since the first recording, / half_life_days)
        salience    as set when the memory was stored
        confidence  as set when the memory was stored
        usage       1 − 1 / (1 + ln(1 + accesses))
        statement   0 for a text that ends with a question, which answers none; else 1
        length      ln(1 + words) / 5, 1 at most: a longer text has more room for an answer

    Every signal lies in [0, 1] and the weights sum to 1 at most, so every prior lies between band^−½ and
    band^½: two memories whose scores differ by a factor above the band never change places, whatever their
    priors.
    Cost: six columns of the pool. Weakness: within the band, an important old answer may still lose to a
    trivial new one.

    Attributes:
        band: from 1; the largest factor between two priors. 1 changes nothing.
        weights: per signal from 0, 1 in sum at most; a signal left out has none.
        half_life_days: after so many days half of recency is left, above 0.
    """

    band: float
    weights: Mapping[str, float]
    half_life_days: float

    def __post_init__(self) -> None:
        if not 1 <= self.band < math.inf:
            raise InputError("band", f"{self.band} is not a number from 1; 1.2 lets priors decide near ties")
        if not 0 < self.half_life_days < math.inf:
            raise InputError("half_life_days", f"{self.half_life_days} is not a number of days above 0")
        for signal, weight in self.weights.items():
            if signal not in SIGNALS:
                raise UnknownNameError(f"weights.{signal}", signal, SIGNALS)
            if not 0 <= weight <= 1:
                raise InputError(f"weights.{signal}", f"{weight} is not between 0 and 1")
        if math.fsum(self.weights.values()) > 1:
            raise InputError("weights", "sum to more than 1, so the priors could leave the band; lower one")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool by score and prior; each candidate carries its prior."""
        if not pool:
            return Refined(pool)
        priors = self.priors(view, np.array([candidate.ordinal for candidate in pool], np.int64)).tolist()
        scores = rounded(
            [
                # A negative score is raised by dividing it.
                candidate.score * prior if candidate.score >= 0 else candidate.score / prior
                for candidate, prior in zip(pool, priors, strict=True)
            ]
        )
        scored = [
            candidate.with_signals(score, BOUNDED_PRIORS_SCORED_BY, {BOUNDED_PRIORS_SIGNAL: prior})
            for candidate, score, prior in zip(pool, scores, priors, strict=True)
        ]
        return Refined(by_score(view, scored))

    def priors(self, view: View, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """One factor per memory, between band^−½ and band^½, rounded to 1e-9."""
        signals = np.empty((len(SIGNALS), len(ordinals)))
        signals[0] = self._recency(view, ordinals)
        signals[1], signals[2] = view.column("salience", ordinals), view.column("confidence", ordinals)
        signals[3] = 1 - 1 / (1 + np.log1p(view.column("access_count", ordinals).astype(np.float64)))
        signals[4] = 1.0 - view.column("asks", ordinals).astype(np.float64)
        signals[5] = np.log1p(view.column("words", ordinals).astype(np.float64)) / _LONG
        signals.clip(0, 1, out=signals)
        signals -= 0.5
        power = np.zeros(len(ordinals))
        # One after the other, in this order: the last bit of a sum depends on it.
        for name, signal in zip(SIGNALS, signals, strict=True):
            power += self.weights.get(name, 0.0) * signal
        priors: NDArray[np.float64] = np.power(self.band, power)
        return priors.round(9)

    def _recency(self, view: View, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        used = view.column("last_access", ordinals)
        known = (used != BEGINNING) & (used <= view.as_of)
        since = np.where(known, used.astype(np.float64), first_recorded(view, ordinals))
        days = np.floor(np.maximum(0.0, (float(view.as_of) - since) / DAY_MICROS))
        left: NDArray[np.float64] = np.power(0.5, days / self.half_life_days)
        return left
