"""One recall, top to bottom: understand, search, fuse, refine, pack.

A plan says which stages run; everything they work on is handed in. Channels run side by side when an executor
is given; rankings are gathered by name in the plan's order, so the answer is the same without one. For the
same reason a channel draws nothing from ``tools.random``, which its neighbours share.

A stage that has to do less than asked says so (a note, a ranking's reason), and the trace lists it under
``degraded``. An error is never swallowed: what a stage raises ends the recall, once no channel runs any more.
Under a deadline some stages are left out (``deadline``); when an understander says that nothing needs to be
looked for (``query.skip``), all but the packer are, and the trace says so under ``skipped``. A refiner may
judge that nothing in the pool answers the query (``Refined.no_match``): the hits stay, the context is empty,
and nothing of it counts as degraded. Where it judges that something possibly does (band ``weak``), the
context holds two memories at most, each marked with "possibly". Standing memories that are handed in lead the
context whatever was found (``packing.standing``), and are no hits.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simonides.recall.counting import Meter
from simonides.recall.explaining import PoolAfter
from simonides.recall.helping.running import Work
from simonides.recall.limits import Deadline, deepened, too_shallow
from simonides.recall.packing.packers import SEPARATOR, lead_of, left_for_hits
from simonides.records.candidate import FUSED
from simonides.records.explanation import StageTrace, Trace
from simonides.records.recall import MOST_POSSIBLE, Recall, is_doubtful

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.protocols import Channel, Packed, Tools, View
    from simonides.recall.explaining import Recording
    from simonides.recall.packing.packers import Lead
    from simonides.recall.plan import Plan, Stage, Step
    from simonides.records.candidate import Candidate, Ranking
    from simonides.records.memory import Memory
    from simonides.records.query import Query
    from simonides.records.recall import Judgement, Omitted

NOTHING_FOUND = "nothing was found"
"""Why there is no match where the pool is empty."""


class Submits(Protocol):
    """What runs work beside the caller: ``running.Threads``, or an ``Executor``."""

    def submit(self, work: Callable[[], None], /) -> object:
        """Run *work* in another thread, soon."""
        ...


def run(
    plan: Plan,
    view: View,
    query: Query,
    tools: Tools,
    *,
    known_at: int,
    timer: Callable[[], float],
    executor: Submits | None = None,
    recording: Recording | None = None,
    standing: Sequence[Memory] = (),
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
        recording: filled with every ranking and pool, for ``explain``.
        standing: memories that lead the context, the first to get room first.
    """
    began = timer()
    meter = Meter()
    tools = meter.tools(tools)
    deadline = Deadline(plan, query.deadline_ms, timer, began, side_by_side=executor is not None)
    lines: list[StageTrace] = []
    if query.limit is None:
        query = replace(query, limit=plan.limit)
    plan = deepened(plan, query.limit)
    query, skipper, skipped = _understand(plan, view, query, tools, deadline, lines, timer)
    if query.narrow:
        view = view.narrowed(query.routed_kinds, query.routed_project)
    if recording is not None:
        recording.query, recording.view = query, view
    pool: tuple[Candidate, ...] = ()
    judgement: Judgement | None = None
    if not query.skip:
        pool, judgement = _retrieve(plan, view, query, tools, deadline, lines, timer, executor, recording)

    start = timer()
    reasons = _why_no_match(query, pool, lines)
    lead = lead_of(standing, query.max_tokens, tools.tokens.count, judgement.relevance if judgement else {})
    found = tuple(candidate for candidate in pool if candidate.ordinal not in lead.ordinals)
    packed = _pack_below(lead, plan, view, query, found, tools, judgement, answered=not reasons)
    lines.append(_line(plan.packer, "packer", timer() - start, len(packed.hits)))

    for line in lines:
        if line.shape == "channel" and (line.count or not line.reason):
            meter.add(line.technique)
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
        degraded=tuple(
            f"{line.name}: {line.reason}" for line in lines if line.reason and line.name != skipper
        )
        + too_shallow(plan, query, lines, len(packed.hits) + len(packed.omitted)),
        counters=meter.counts,
        fell_back_to_bm25=query.fell_back_to_bm25,
        token_counter=tools.tokens.name,
        settings=plan.settings,
        skipped=skipped,
    )
    return Recall(
        packed.hits,
        packed.context,
        packed.omitted,
        no_match=bool(reasons) and not lead.hits,
        trace=trace,
        chunks=packed.chunks,
        no_match_reasons=reasons,
        confidence=judgement.confidence if judgement else 0.0 if judges_relevance(plan) else None,
        band="none" if reasons else judgement.band if judgement else "match",
        standing=lead.hits,
    )


def _pack_below(
    lead: Lead,
    plan: Plan,
    view: View,
    query: Query,
    pool: tuple[Candidate, ...],
    tools: Tools,
    judgement: Judgement | None,
    *,
    answered: bool,
) -> Packed:
    """Hits in the room that *lead* leaves, and the context with both."""
    count, most = tools.tokens.count, left_for_hits(lead, query.max_tokens, tools.tokens.count)
    packed = _pack(plan, view, replace(query, max_tokens=most), pool, tools, judgement, answered=answered)
    if not lead.hits:
        return replace(packed, omitted=(*_without(lead.omitted, packed), *packed.omitted))
    context = SEPARATOR.join(filter(None, (lead.text, packed.context)))
    if most is not None and packed.context:
        # For some counters the whole has more tokens than its parts.
        over = count(context) - count(packed.context) - count(lead.text + SEPARATOR)
        if over > 0:
            less = replace(query, max_tokens=max(0, most - over))
            packed = _pack(plan, view, less, pool, tools, judgement, answered=answered)
            context = SEPARATOR.join(filter(None, (lead.text, packed.context)))
    return replace(packed, context=context, omitted=(*_without(lead.omitted, packed), *packed.omitted))


def _without(omitted: Sequence[Omitted], packed: Packed) -> list[Omitted]:
    """Those of *omitted* that a packer neither took nor lists itself."""
    known = {hit.id for hit in packed.hits} | {each.id for each in packed.omitted}
    return [each for each in omitted if each.id not in known]


def _pack(
    plan: Plan,
    view: View,
    query: Query,
    pool: tuple[Candidate, ...],
    tools: Tools,
    judgement: Judgement | None,
    *,
    answered: bool,
) -> Packed:
    """Hits and context, as sure as the judgement is."""
    pack = plan.packer.stage.pack
    if answered and judgement and is_doubtful(judgement.band, query.precision):
        query = replace(query, doubtful=True)
    packed = pack(view, query, pool, tools)
    if not answered:
        # What was found stays to be looked at; nothing of it goes into a prompt by itself.
        packed = replace(packed, context="", chunks=())
    elif query.doubtful and len(packed.hits) > MOST_POSSIBLE:
        few = pack(view, replace(query, limit=MOST_POSSIBLE), pool, tools)
        packed = replace(packed, context=few.context, chunks=few.chunks)
    if judgement is None:
        return packed
    hits = (replace(hit, relevance=judgement.relevance.get(hit.memory.ordinal, 0.0)) for hit in packed.hits)
    return replace(packed, hits=tuple(hits))


def _understand(
    plan: Plan,
    view: View,
    query: Query,
    tools: Tools,
    deadline: Deadline,
    lines: list[StageTrace],
    timer: Callable[[], float],
) -> tuple[Query, str, str]:
    """The query with all that was understood, and the stage that wants no search, with its reason."""
    skipper = skipped = ""
    for understander in plan.understanders:
        if deadline.leaves_out(understander.name):
            lines.append(_line(understander, "understander", 0.0, 0, deadline.reason))
            continue
        start, before = timer(), query
        query = understander.stage.understand(view, query, tools)
        notes = "; ".join(query.notes[len(before.notes) :])
        new_terms = len(query.terms) - len(before.terms)
        lines.append(_line(understander, "understander", timer() - start, new_terms, notes))
        if query.skip and not before.skip:
            skipper, skipped = understander.name, notes or query.skip
    return query, skipper, skipped


def _retrieve(
    plan: Plan,
    view: View,
    query: Query,
    tools: Tools,
    deadline: Deadline,
    lines: list[StageTrace],
    timer: Callable[[], float],
    executor: Submits | None,
    recording: Recording | None,
) -> tuple[tuple[Candidate, ...], Judgement | None]:
    """The pool after channels, fuser and refiners, best first, and its judgement; adds to *lines*."""
    left_out = deadline.leaves_out(*(channel.name for channel in plan.channels))
    lines.extend(_line(c, "channel", 0.0, 0, deadline.reason) for c in plan.channels if c.name in left_out)
    channels = tuple(channel for channel in plan.channels if channel.name not in left_out)
    rankings: dict[str, Ranking] = {}
    for channel, (ranking, seconds) in _search(channels, view, query, tools, timer, executor):
        rankings[channel.name] = ranking
        line = _line(channel, "channel", seconds, len(ranking), ranking.reason)
        lines.append(replace(line, attempts=ranking.attempts))

    deadline.leaves_out(plan.fuser.name)
    start = timer()
    fused = plan.fuser.stage.fuse(view, query, rankings)
    pool = tuple(
        each
        if each.signals.get(FUSED) == each.score
        else each.with_signals(each.score, each.scored_by, {FUSED: each.score})
        for each in fused
    )
    lines.append(_line(plan.fuser, "fuser", timer() - start, len(pool)))
    if recording is not None:
        recording.rankings |= rankings
        recording.add(PoolAfter(plan.fuser.name, pool))

    judgement: Judgement | None = None
    for refiner in plan.refiners:
        if deadline.leaves_out(refiner.name):
            lines.append(_line(refiner, "refiner", 0.0, len(pool), deadline.reason))
            continue
        start = timer()
        refined = refiner.stage.refine(view, query, pool, tools)
        pool, judgement = refined.pool, refined.judgement or judgement
        line = _line(refiner, "refiner", timer() - start, len(pool), refined.reason)
        lines.append(replace(line, no_match=refined.no_match, evidence=refined.evidence))
        if recording is not None:
            recording.add(PoolAfter(refiner.name, pool, refined.dropped, refined.notes))
    return pool, judgement


def judges_relevance(plan: Plan) -> bool:
    """Whether a stage of the plan says how likely hits answer."""
    return any(step.technique == "relevance" for step in plan.refiners)


def _why_no_match(query: Query, pool: tuple[Candidate, ...], lines: list[StageTrace]) -> tuple[str, ...]:
    """Why nothing answers the query; empty = something may."""
    if query.skip:
        return (query.skip,)
    reasons = tuple(reason for line in lines for reason in line.no_match)
    return reasons if pool or reasons else (NOTHING_FOUND,)


def _search(
    channels: tuple[Step[Channel], ...],
    view: View,
    query: Query,
    tools: Tools,
    timer: Callable[[], float],
    threads: Submits | None,
) -> list[tuple[Step[Channel], tuple[Ranking, float]]]:
    """Each channel with its ranking and the seconds it took, in the order given."""

    def search(channel: Step[Channel]) -> tuple[Ranking, float]:
        start = timer()
        ranking = channel.stage.search(view, query, tools)
        return ranking, timer() - start

    if threads is None or len(channels) < 2:
        return [(channel, search(channel)) for channel in channels]
    beside = [Work(partial(search, channel)) for channel in channels]
    try:
        for each in beside:
            threads.submit(each.run)
        # All have ended before the first error is raised: the caller may then close what the view reads from.
        for each in beside:
            each.wait()
    finally:
        for each in beside:
            each.stop()
    return [(channel, each.result()) for channel, each in zip(channels, beside, strict=True)]


def _line(step: Step[Stage], shape: str, seconds: float, count: int, reason: str = "") -> StageTrace:
    return StageTrace(step.name, shape, step.technique, seconds * 1000, count, reason)
