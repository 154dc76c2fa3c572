"""Recording of a recall (every ranking and every pool), and what it explains of each hit (DF-02)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simonides.records.candidate import FUSED
from simonides.records.explanation import Explanation, StageVerdict
from simonides.records.recall import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.protocols import View
    from simonides.records.candidate import Candidate, Ranking
    from simonides.records.explanation import StageTrace
    from simonides.records.query import Query
    from simonides.records.recall import Recall


@dataclass(frozen=True, slots=True)
class PoolAfter:
    """The pool as a fuser or refiner left it.

    Attributes:
        stage: the stage's name in the profile.
        pool: best first.
        dropped: by ordinal, why the stage took a memory out, where it says so.
        notes: by ordinal, why the stage moved a memory, where it says so.
    """

    stage: str
    pool: tuple[Candidate, ...]
    dropped: Mapping[int, str] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Recording:
    """Filled by ``pipeline.run``.

    Attributes:
        query: as the understanders left it.
        view: as the channels saw it: narrowed, where the profile's router narrows.
        rankings: by channel, in the order of the plan; a channel that was left out has none.
        pools: after the fuser and after each refiner that ran.
    """

    query: Query | None = None
    view: View | None = None
    rankings: dict[str, Ranking] = field(default_factory=dict)
    pools: list[PoolAfter] = field(default_factory=list)

    def add(self, after: PoolAfter) -> None:
        """Keep the pool as a stage left it."""
        self.pools.append(after)


def explain(recall: Recall, recording: Recording) -> tuple[Explanation, ...]:
    """One explanation per hit, in their order.

    Args:
        recall: the answer.
        recording: filled by the same run.
    """
    return tuple(
        Explanation(
            id=hit.id,
            rank=hit.rank,
            tokens=hit.tokens,
            ranks=hit.ranks,
            channel_scores=hit.channel_scores,
            fused_score=hit.signals.get(FUSED),
            signals={name: value for name, value in hit.signals.items() if name != FUSED},
            score=hit.score,
            scored_by=hit.scored_by,
            verdicts=verdicts(hit.memory.ordinal, recall, recording),
            relevance=hit.relevance,
        )
        for hit in recall
    )


def verdicts(ordinal: int, recall: Recall, recording: Recording) -> tuple[StageVerdict, ...]:
    """What each stage of the trace, understanders aside, made of the memory at *ordinal*."""
    after = {pool.stage: pool for pool in recording.pools}
    found: list[StageVerdict] = []
    there = False
    for line in recall.trace.stages:
        if line.shape == "channel":
            found.append(_of_channel(line, ordinal, recording.rankings.get(line.name)))
        elif line.shape == "packer":
            found.append(_of_packer(line, ordinal, recall))
        elif line.name in after:
            verdict = _of_pool(line, ordinal, after[line.name], there=there)
            there = verdict.rank is not None
            found.append(verdict)
        elif line.shape == "refiner":
            found.append(StageVerdict(line.name, line.shape, "skipped", note=line.reason))
    return tuple(found)


def place_in_pool(ordinal: int, pool: Sequence[Candidate]) -> int | None:
    """The place of a memory in a pool, from 1; ``None`` when it is not there."""
    return next((place for place, each in enumerate(pool, start=1) if each.ordinal == ordinal), None)


def place_in_ranking(ordinal: int, ranking: Ranking) -> int | None:
    """The rank of a memory, from 1; ``None`` when it was not found."""
    places = (ranking.ordinals == ordinal).nonzero()[0]
    return int(places[0]) + 1 if len(places) else None


def _of_channel(line: StageTrace, ordinal: int, ranking: Ranking | None) -> StageVerdict:
    if ranking is None:
        return StageVerdict(line.name, line.shape, "skipped", note=line.reason)
    rank = place_in_ranking(ordinal, ranking)
    if rank is None:
        return StageVerdict(line.name, line.shape, "not found", note=ranking.reason)
    return StageVerdict(line.name, line.shape, "found", rank, float(ranking.scores[rank - 1]))


def _of_pool(line: StageTrace, ordinal: int, after: PoolAfter, *, there: bool) -> StageVerdict:
    place = place_in_pool(ordinal, after.pool)
    if place is not None:
        verdict = "kept" if there or line.shape == "fuser" else "added"
        note = f"no match: {'; '.join(line.no_match)}" if line.no_match else after.notes.get(ordinal, "")
        return StageVerdict(line.name, line.shape, verdict, place, after.pool[place - 1].score, note)
    note = after.dropped.get(ordinal, "")
    return StageVerdict(line.name, line.shape, "dropped" if there else "absent", note=note)


def _of_packer(line: StageTrace, ordinal: int, recall: Recall) -> StageVerdict:
    for hit in recall:
        if hit.memory.ordinal == ordinal:
            relevance = "" if hit.relevance is None else f", relevance {percent(hit.relevance)}"
            note = f"{hit.tokens} tokens{relevance}"
            return StageVerdict(line.name, line.shape, "packed", hit.rank, hit.score, note)
    return StageVerdict(line.name, line.shape, "not packed")
