"""Trace of a recall, and why a memory was returned or not (DF-02)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from collections.abc import Mapping


Unit = Literal["", "score", "places", "tokens", "seconds"]
"""What ``WhyNot.short_by`` counts."""


@dataclass(frozen=True, slots=True)
class StageVerdict(JsonReady):
    """What one stage made of one memory.

    Attributes:
        stage, shape: the stage's name in the profile, and its shape.
        verdict: found, not found, kept, added, dropped, absent (it was not there), skipped, packed or
            not packed.
        rank: the memory's place after the stage, from 1; ``None`` when it is not there.
        score: its score after the stage, on the stage's own scale.
        note: in words, where there is more to say.
    """

    stage: str
    shape: str
    verdict: str
    rank: int | None = None
    score: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explanation(JsonReady):
    """Why one hit stands where it does.

    Attributes:
        id, rank: of the hit.
        tokens: what it took of the budget.
        ranks, channel_scores: per channel, its rank (from 1) and score there.
        fused_score: after fusion; ``None`` for a memory that a later stage brought in.
        signals: every signal and boost by name.
        score, scored_by: the last score, and the stage that gave it.
        relevance: as in ``Hit``.
        verdicts: one per stage that is named in the trace, in its order.
    """

    id: str
    rank: int
    tokens: int
    ranks: Mapping[str, int]
    channel_scores: Mapping[str, float]
    fused_score: float | None
    signals: Mapping[str, float]
    score: float
    scored_by: str
    verdicts: tuple[StageVerdict, ...]
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class WhyNot(JsonReady):
    """Where a memory was lost.

    Attributes:
        id: of the memory.
        returned: whether it was not lost at all.
        stage: the stage that lost it; ``visible`` or ``eligible`` = it was never looked at; empty = none.
        reason: in words.
        short_by, unit: by how much it was lost; ``None`` where that is no amount.
        remedy: what would have kept it.
        verdicts: what every stage made of it, as far as it came.
    """

    id: str
    returned: bool
    stage: str
    reason: str
    short_by: float | None = None
    unit: Unit = ""
    remedy: str = ""
    verdicts: tuple[StageVerdict, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rung of a retry ladder (JB-11).

    Attributes:
        strategy: the rung's name.
        query: what it searched for; empty where it was passed over.
        hits: how many memories that found.
        status: hit, zero, skipped (an earlier rung had hits, or there was nothing to try), no_op (kept for
            its place in the order).
    """

    strategy: str
    query: str
    hits: int
    status: Literal["hit", "zero", "skipped", "no_op"]

    def to_dict(self) -> dict[str, Any]:
        """The published form, JSON-ready."""
        return {"strategy": self.strategy, "query": self.query, "hits": self.hits}


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage's line.

    Attributes:
        name: the stage's name in the profile.
        shape: understander, channel, fuser, refiner or packer.
        technique: the registered technique that ran.
        milliseconds: wall time of the stage.
        count: memories that came out (terms, for an understander that produced terms).
        reason: why the stage did less than asked; empty when it ran in full.
        attempts: of a channel that retries, each rung in order, tried or not.
        no_match: why, in the stage's judgement, nothing that was found answers the query; empty = it may.
        evidence: the named numbers by which it judged.
    """

    name: str
    shape: str
    technique: str
    milliseconds: float
    count: int
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    no_match: tuple[str, ...] = ()
    evidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """The whole story of one recall.

    Attributes:
        as_of, known_at: the viewpoint, microseconds UTC.
        degraded: what did less than asked, and why.
        fell_back_to_bm25: the mode that was asked for needs vectors, and there were none.
        token_counter: name of what counted tokens for budgets.
        settings: ``NAME=value`` of each environment variable that changed the profile for this recall.
        skipped: why nothing was looked for, as the router saw it; empty when it was.
    """

    query: str
    profile: str
    seed: int
    as_of: int
    known_at: int
    sequence: int
    rows: int
    visible: int
    eligible: int
    stages: tuple[StageTrace, ...]
    milliseconds: float
    degraded: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    fell_back_to_bm25: bool = False
    token_counter: str = ""
    settings: tuple[str, ...] = ()
    skipped: str = ""

    @property
    def ladder(self) -> tuple[Attempt, ...]:
        """Every rung of the lexical channels that retry, in order, tried or not."""
        return tuple(attempt for stage in self.stages for attempt in stage.attempts)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The rungs that searched."""
        return tuple(attempt for attempt in self.ladder if attempt.status in {"hit", "zero"})

    def to_dict(self) -> Mapping[str, Any]:
        """A JSON-ready description."""
        return {
            "query": self.query,
            "profile": self.profile,
            "seed": self.seed,
            "as_of_micros": self.as_of,
            "known_at_micros": self.known_at,
            "sequence": self.sequence,
            "rows": self.rows,
            "visible": self.visible,
            "eligible": self.eligible,
            "degraded": list(self.degraded),
            "counters": dict(self.counters),
            "ladder": [{**attempt.to_dict(), "status": attempt.status} for attempt in self.ladder],
            "attempts": [attempt.to_dict() for attempt in self.attempts],
            "fell_back_to_bm25": self.fell_back_to_bm25,
            "token_counter": self.token_counter,
            "settings": list(self.settings),
            "skipped": self.skipped,
            "milliseconds": round(self.milliseconds, 3),
            "stages": [
                {
                    "name": stage.name,
                    "shape": stage.shape,
                    "technique": stage.technique,
                    "milliseconds": round(stage.milliseconds, 3),
                    "count": stage.count,
                    "reason": stage.reason,
                    **({"no_match": list(stage.no_match)} if stage.no_match else {}),
                    **({"evidence": dict(stage.evidence)} if stage.evidence else {}),
                }
                for stage in self.stages
            ],
        }
