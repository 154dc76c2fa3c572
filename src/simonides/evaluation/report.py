"""What a quality run found: per question, per category, in all."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

from simonides.evaluation.measures import mean_measures
from simonides.evaluation.trec import write_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question's answer.

    Attributes:
        qid, category, answerable, gold: as in the dataset.
        ranked: keys found, best first, without repeats.
        top_score: the first hit's score on the profile's own scale, or ``None`` without hits.
        no_match: whether the engine said that nothing relevant was found.
        cpu_ms: milliseconds of CPU that the recall took, encoders and all threads; ``None`` = not measured.
    """

    qid: str
    category: str
    answerable: bool
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    top_score: float | None = None
    no_match: bool = False
    cpu_ms: float | None = None


@dataclass(frozen=True, slots=True)
class QualityReport:
    """A whole run.

    Attributes:
        dataset: the dataset's name.
        profile: the profile asked with.
        window: how many turns on either side were a turn's context.
        embedder: the embedder's name, or ``None`` when there was none.
        version: the version of simonides measured.
        results: every question asked, in order.
        scores: per answerable question id, each measure's value in [0, 1].
        ignored_evidence: gold references of the original dataset that match no item.
        unscored_questions: answerable questions of the original left out for want of gold.
        sparse: the sparse encoder's name, or ``None`` when there was none.
        seconds: time to retain and ask everything.
    """

    dataset: str
    profile: str
    window: int
    embedder: str | None
    version: str
    results: tuple[QuestionResult, ...]
    scores: Mapping[str, Mapping[str, float]] = field(repr=False)
    ignored_evidence: int
    unscored_questions: int
    seconds: float
    sparse: str | None = None

    def metrics(self, category: str | None = None) -> dict[str, float]:
        """Mean of each measure over the answerable questions, of one category or of all.

        Raises:
            InputError: there are none.
        """
        return mean_measures(
            self.scores[result.qid]
            for result in self.results
            if result.answerable and category in {None, result.category}
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready summary; measures rounded to 6 places, seconds to 3."""
        answerable = [result for result in self.results if result.answerable]
        by_category = {
            category: {
                "questions": sum(result.category == category for result in answerable),
                **_rounded(self.metrics(category)),
            }
            for category in sorted({result.category for result in answerable})
        }
        return {
            "dataset": self.dataset,
            "profile": self.profile,
            "window": self.window,
            "embedder": self.embedder,
            "sparse": self.sparse,
            "version": self.version,
            "questions": len(answerable),
            "metrics": _rounded(self.metrics()),
            "by_category": by_category,
            "unanswerable": self._unanswerable(),
            "recall_cpu_ms": self._recall_cpu(),
            "ignored_evidence": self.ignored_evidence,
            "unscored_questions": self.unscored_questions,
            "seconds": round(self.seconds, 3),
        }

    def write_run(self, path: Path) -> None:
        """Write the rankings of the answerable questions as a TREC run (``trec``).

        Raises:
            UnavailableError: the file cannot be written.
        """
        write_run(path, self.results)

    def _recall_cpu(self) -> dict[str, float] | None:
        spent = [result.cpu_ms for result in self.results if result.cpu_ms is not None]
        if len(spent) < 2:
            return None
        shares = quantiles(spent, n=20, method="inclusive")
        return {"p50": round(shares[9], 3), "p95": round(shares[18], 3)}

    def _unanswerable(self) -> dict[str, Any]:
        asked = [result for result in self.results if not result.answerable]
        top_scores = [result.top_score for result in asked if result.top_score is not None]
        return {
            "questions": len(asked),
            "no_match": sum(result.no_match for result in asked),
            "mean_top_score": round(fmean(top_scores), 6) if top_scores else None,
        }


def _rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in metrics.items()}
