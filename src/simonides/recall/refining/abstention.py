"""Judges whether anything in the pool answers the query; takes nothing out (DF-04).

    coverage = largest share of the query's weight Σ idf(t) whose terms one memory of the head holds
               idf(t) = ln(1 + (N − df + ½) / (df + ½)), N and df counted over the visible rows
    cosine   = best cosine with the query in the head
    gap      = that cosine less the mean of the rest of the pool
    score    = Σ weight · each of the three

There is no match where score < *least*, unless one memory holds nearly all the words (a name or a number that
the encoder does not know) or happened in the time that the query states. Cosines mean something else with
each encoder: with any but the one they were calibrated for, or with none, there is no match where coverage <
*least_coverage*; where a memory of the head has no vector, both must hold. None of it depends on how the pool
was scored.
The numbers stand in the profile and come from ``simonides bench abstention``, which fits a logistic
regression on one half of its questions and reports the other.
Cost: the postings of the query's terms, and one dot product per memory of the pool.
Source: after predictors of query difficulty; the gap is near Shtok et al., Predicting Query Performance by
Query-Drift Estimation (2012).
Weakness: a question about things that the bank does speak of, but whose answer it does not hold, looks like
one that it answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.occurred import meets
from simonides.index.postings import FIELDS
from simonides.protocols import Refined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

COVERAGE, COSINE, GAP, SCORE = "coverage", "cosine", "gap", "score"
SIGNALS = (COVERAGE, COSINE, GAP)
"""What is weighed; with ``SCORE``, the names in the trace's evidence."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """Refiner; stands last.

    Attributes:
        head: how many of the best are looked at, from 1.
        rest: how many of the pool count for the gap, head included, from *head*.
        fields: where a memory may hold a term: text, context, relation, expansion.
        embedder: name of the model by whose cosines *weights* and *least* were chosen.
        weights: per signal (coverage, cosine, gap), from 0; left out = 0, and at least one is above.
        least: score from which there is a match.
        least_coverage: coverage from which there is one by words alone, 0 to 1.
        enough_coverage: coverage from which there is one whatever the vectors say, 0 to 1.
    """

    head: int
    rest: int
    fields: tuple[str, ...]
    embedder: str
    weights: Mapping[str, float]
    least: float
    least_coverage: float
    enough_coverage: float

    def __post_init__(self) -> None:
        if self.head < 1:
            raise InputError("head", f"{self.head} is below 1; give how many memories are looked at")
        if self.rest < self.head:
            raise InputError("rest", f"{self.rest} is below the head of {self.head}; give at least that")
        for field in self.fields:
            if field not in FIELDS:
                raise UnknownNameError("fields", field, FIELDS)
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name, weight in self.weights.items():
            if name not in SIGNALS:
                raise UnknownNameError(f"weights.{name}", name, SIGNALS)
            if not 0 <= weight < math.inf:
                raise InputError(f"weights.{name}", f"{weight} is not a number from 0")
        if not any(self.weights.values()):
            raise InputError("weights", "none is above 0; give one to at least one signal")
        if not math.isfinite(self.least):
            raise InputError("least", f"{self.least} is not a finite number")
        for name in ("least_coverage", "enough_coverage"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(name, f"{getattr(self, name)} is not between 0 and 1")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The pool as it is, with the verdict."""
        if not pool:
            return Refined(pool)
        ordinals = np.array([candidate.ordinal for candidate in pool[: self.rest]], np.int64)
        head = ordinals[: self.head]
        evidence = {COVERAGE: self._coverage(view, query, head)}
        cosines = _cosines(view, query, ordinals)
        if cosines is not None:
            evidence |= self._nearness(cosines)
            evidence[SCORE] = round(math.fsum(w * evidence[name] for name, w in self.weights.items()), 9)
        problem = ""
        if cosines is None or tools.embedder is None or tools.embedder.name != self.embedder:
            reasons = self._by_words(evidence)
            if cosines is not None and tools.embedder is not None:
                problem = f"calibrated for {self.embedder}, not for {tools.embedder.name}; judged by words"
        else:
            reasons = self._by_all(evidence, complete=bool(cosines[: self.head].all()))
        if reasons and _happened_then(view, query, head):
            reasons = ()
        return Refined(pool, problem, no_match=reasons, evidence=evidence)

    def _coverage(self, view: View, query: Query, head: NDArray[np.int64]) -> float:
        terms = [term for term, _ in query.terms]
        if not terms:
            return 0.0
        frequencies, held = view.snapshot.postings.held(terms, view.visible, head, fields=self.fields)
        rows = int(np.count_nonzero(view.visible))
        weights = np.log(1.0 + (rows - frequencies + 0.5) / (frequencies + 0.5))
        # One memory at a time and summed exactly: the order of the terms must not matter.
        most = max(math.fsum(weights[held[:, place]].tolist()) for place in range(len(head)))
        return round(most / math.fsum(weights.tolist()), 9)

    def _nearness(self, cosines: NDArray[np.float64]) -> dict[str, float]:
        best = float(cosines[: self.head].max())
        others = cosines[self.head :].tolist()
        rest = math.fsum(others) / len(others) if others else 0.0
        return {COSINE: round(best, 9), GAP: round(best - rest, 9)}

    def _by_words(self, evidence: Mapping[str, float]) -> tuple[str, ...]:
        """Why nothing matches by words alone; empty = something may."""
        if evidence[COVERAGE] >= self.least_coverage:
            return ()
        return (f"{_covered(evidence)}, below the {self.least_coverage:g} that words alone need",)

    def _by_all(self, evidence: Mapping[str, float], *, complete: bool) -> tuple[str, ...]:
        """Why nothing matches; *complete* = every memory of the head has a vector."""
        enough = self.enough_coverage if complete else self.least_coverage
        if evidence[SCORE] >= self.least or evidence[COVERAGE] >= enough:
            return ()
        return (
            f"the evidence weighs {evidence[SCORE]:.2f}, below the {self.least:g} of an answer",
            _covered(evidence),
            f"the nearest memory has a cosine of {evidence[COSINE]:.2f}, {evidence[GAP]:.2f} above the rest",
        )


def _covered(evidence: Mapping[str, float]) -> str:
    return f"the words of the best memory cover {evidence[COVERAGE]:.2f} of the question's weight"


def _cosines(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Cosines with the query; ``None`` where there is nothing to compare."""
    if query.vector is None or view.snapshot.vectors.dimension != len(query.vector):
        return None
    return view.cosines(query.vector, ordinals)


def _happened_then(view: View, query: Query, head: NDArray[np.int64]) -> bool:
    """Whether a memory of the head happened in the time that the query states."""
    if query.time is None:
        return False
    first, last = view.column("occurred_from", head), view.column("occurred_to", head)
    return bool(meets(first, last, query.time).any())
