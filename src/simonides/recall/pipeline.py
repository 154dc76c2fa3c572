"""One recall, top to bottom: understand, search, fuse, refine, pack.

A plan says which stages run; everything they work on is handed in. Channels run side by side when an executor
is given; rankings are gathered by name in the plan's order, so the answer is the same without one. For the
same reason a channel draws nothing from ``tools.random``, which its neighbours share.

A stage that has to do less than asked says so (a note, a ranking's reason), and the trace lists it under
``degraded``. An error is never swallowed: what a stage raises ends the recall, once no channel runs any more.
"""

from __future__ import annotations

from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Channel, Fuser, Packer, Refiner, Understander
from simonides.records.recall import Recall
from simonides.records.trace import StageTrace, Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from simonides.protocols import Tools, View
    from simonides.records.query import Query
    from simonides.records.ranking import Ranking

Stage = TypeVar("Stage", Understander, Channel, Fuser, Refiner, Packer)


@dataclass(frozen=True, slots=True)
class Step(Generic[Stage]):
    """A stage at its place: its name in the profile, the technique that made it, and itself."""

    name: str
    technique: str
    stage: Stage


@dataclass(frozen=True, slots=True)
class Plan:
    """A profile, ready to run.

    Attributes:
        name, description: of the profile.
        limit: hits of a recall that asks for no number; ``None`` = the token budget decides.
        understanders, channels, fuser, refiners, packer: in the order in which they run.
    """

    name: str
    description: str
    limit: int | None
    understanders: tuple[Step[Understander], ...]
    channels: tuple[Step[Channel], ...]
    fuser: Step[Fuser]
    refiners: tuple[Step[Refiner], ...]
    packer: Step[Packer]

    def __post_init__(self) -> None:
        names = [step.name for step in self.channels]
        if len(set(names)) < len(names):
            raise InputError("channels", f"two of {names} share a name; rankings are told apart by it")


def run(
    plan: Plan,
    view: View,
    query: Query,
    tools: Tools,
    *,
    known_at: int,
    timer: Callable[[], float],
    executor: Executor | None = None,
) -> Recall:
    """Answer *query* from what *view* lets see.

    Args:
        plan: the stages.
        view: the only door to the bank; usable from several threads when an *executor* is given.
        query: the caller's words and bounds; a limit of ``None`` becomes the plan's.
        tools: models, counters and the random source.
        known_at: the viewpoint in recorded time, microseconds UTC, for the trace.
        timer: seconds on a clock that never goes back, such as ``time.perf_counter``.
        executor: runs the channels side by side; ``None`` = one after the other.
    """
    began = timer()
    lines: list[StageTrace] = []
    if query.limit is None:
        query = replace(query, limit=plan.limit)

    for understander in plan.understanders:
        start, before = timer(), query
        query = understander.stage.understand(view, query, tools)
        notes = "; ".join(query.notes[len(before.notes) :])
        new_terms = len(query.terms) - len(before.terms)
        lines.append(_line(understander, "understander", timer() - start, new_terms, notes))

    rankings: dict[str, Ranking] = {}
    for channel, (ranking, seconds) in _search(plan.channels, view, query, tools, timer, executor):
        rankings[channel.name] = ranking
        lines.append(_line(channel, "channel", seconds, len(ranking), ranking.reason))

    start = timer()
    pool = plan.fuser.stage.fuse(view, rankings)
    lines.append(_line(plan.fuser, "fuser", timer() - start, len(pool)))

    for refiner in plan.refiners:
        start = timer()
        pool = refiner.stage.refine(view, query, pool, tools)
        lines.append(_line(refiner, "refiner", timer() - start, len(pool)))

    start = timer()
    packed = plan.packer.stage.pack(view, query, pool, tools)
    lines.append(_line(plan.packer, "packer", timer() - start, len(packed.hits)))

    trace = Trace(
        query=query.text,
        profile=plan.name,
        seed=query.seed,
        as_of=query.as_of,
        known_at=known_at,
        sequence=view.snapshot.sequence,
        rows=view.snapshot.rows,
        visible=int(np.count_nonzero(view.visible)),
        eligible=int(np.count_nonzero(view.eligible)),
        stages=tuple(lines),
        milliseconds=(timer() - began) * 1000,
        degraded=tuple(f"{line.name}: {line.reason}" for line in lines if line.reason),
    )
    return Recall(packed.hits, packed.context, packed.omitted, no_match=not pool, trace=trace)


def _search(
    channels: tuple[Step[Channel], ...],
    view: View,
    query: Query,
    tools: Tools,
    timer: Callable[[], float],
    executor: Executor | None,
) -> list[tuple[Step[Channel], tuple[Ranking, float]]]:
    """Each channel with its ranking and the seconds it took, in the order given."""

    def search(channel: Step[Channel]) -> tuple[Ranking, float]:
        start = timer()
        ranking = channel.stage.search(view, query, tools)
        return ranking, timer() - start

    if executor is None or len(channels) == 1:
        return [(channel, search(channel)) for channel in channels]
    running = [executor.submit(search, channel) for channel in channels]
    # All have ended before the first error is raised: the caller may then close what the view reads from.
    wait(running)
    return [(channel, future.result()) for channel, future in zip(channels, running, strict=True)]


def _line(step: Step[Stage], shape: str, seconds: float, count: int, reason: str = "") -> StageTrace:
    return StageTrace(step.name, shape, step.technique, seconds * 1000, count, reason)
