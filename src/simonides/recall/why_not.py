"""Why a memory is not among the hits: the stage that lost it, by how much, what would have kept it (DF-02).

A memory is lost where it was last seen: by the viewpoint, by the caller's filters, by the router, by every
channel, by a refiner, or by the packer. What would have kept it is found by running that one stage again
without its cut, so the number named is exact for this query and this bank.
Cost: one more run of the stage; a channel without its cut ranks the whole bank, seconds at 10⁶ rows.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from simonides.index.view import tags_match
from simonides.recall.explaining import place_in_pool, place_in_ranking, verdicts
from simonides.records.explanation import WhyNot
from simonides.records.interval import HEAD, from_micros
from simonides.records.recall import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.protocols import Channel, Refiner, Tools, View
    from simonides.recall.explaining import Recording
    from simonides.recall.plan import Plan, Step
    from simonides.records.memory import Memory
    from simonides.records.query import Filters, Query
    from simonides.records.recall import Hit, Recall

VISIBLE, ELIGIBLE = "visible", "eligible"
"""Stand for a stage where the view itself left the memory out."""

STAND_INS = "stand_ins"
"""The last stage where observations are preferred."""

_PLACES: Literal["places", "tokens"] = "places"
_TOKENS: Literal["places", "tokens"] = "tokens"
_MICROS_PER_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recall with all that it was made from.

    Attributes:
        plan, view, tools, filters: what ``pipeline.run`` was given, and the filters behind the view.
        recall, recording: what it gave.
    """

    plan: Plan
    view: View
    tools: Tools
    filters: Filters
    recall: Recall
    recording: Recording


def why_not(versions: Sequence[Memory], recalled: Recalled) -> WhyNot:
    """Where the memory was lost.

    Args:
        versions: every version of it that the asker may read, oldest first, at least one.
        recalled: the recall that is asked about, made with a recording.
    """
    if any(hit.id == versions[-1].id for hit in recalled.recall.standing):
        return WhyNot(versions[-1].id, True, "", "it is a standing memory, and leads the context")
    memory = next((version for version in versions if recalled.view.visible[version.ordinal]), None)
    for hit in recalled.recall:
        if hit.id == versions[-1].id and memory is None:
            returned = _returned(hit, recalled.recall)
            return WhyNot(hit.id, True, "", f"{returned}, for a memory behind it")
    if memory is None:
        return _not_visible(versions, recalled)
    if not recalled.view.eligible[memory.ordinal]:
        reason, remedy = _filter_that_left_out(memory, recalled.filters, recalled.recall.trace.as_of)
        return WhyNot(memory.id, False, ELIGIBLE, reason, remedy=remedy)
    for hit in recalled.recall:
        if hit.id == memory.id:
            lost = WhyNot(memory.id, True, "", _returned(hit, recalled.recall))
            break
    else:
        lost = _lost_in_the_pipeline(memory, recalled)
    return replace(lost, verdicts=verdicts(memory.ordinal, recalled.recall, recalled.recording))


def _returned(hit: Hit, recall: Recall) -> str:
    """At which rank, how likely it answers, and whether a reader is given it."""
    relevance = "" if hit.relevance is None else f" with a relevance of {percent(hit.relevance)}"
    unread = ""
    if recall.no_match:
        unread = f"; the context leaves it out: {'; '.join(recall.no_match_reasons)}"
    elif hit.rank > len(recall.told):
        unread = f"; the context leaves it out: it tells {len(recall.told)} where none is likely to answer"
    return f"it was returned, at rank {hit.rank}{relevance}{unread}"


def _lost_in_the_pipeline(memory: Memory, recalled: Recalled) -> WhyNot:
    recording = recalled.recording
    query, view = recording.query, recording.view
    assert query is not None
    assert view is not None
    if query.skip:
        return WhyNot(
            memory.id,
            False,
            query.skip,
            "nothing was looked for",
            remedy="ask in other words, or by another profile",
        )
    if not view.eligible[memory.ordinal]:
        kept = ", ".join(kind.value for kind in query.routed_kinds) or "every kind"
        project = "" if query.routed_project is None else f" of project {query.routed_project!r}"
        return WhyNot(
            memory.id,
            False,
            "router",
            f"the query was taken to ask for {kept}{project}; this is {memory.kind.value}"
            f"{f' of project {memory.project!r}' if memory.project else ''}",
            remedy="let the router of the profile boost instead of filter, or raise its thresholds",
        )
    seen = [n for n, after in enumerate(recording.pools) if place_in_pool(memory.ordinal, after.pool)]
    if not seen:
        return _not_found(memory, recalled, query, view)
    if seen[-1] + 1 < len(recording.pools):
        return _dropped(memory, recalled, seen[-1], query, view)
    return _not_packed(memory, recalled, query, view)


def _not_found(memory: Memory, recalled: Recalled, query: Query, view: View) -> WhyNot:
    """No channel found it: the one in which it came nearest to its cut."""
    nearest: tuple[float, WhyNot] | None = None
    silent: list[str] = []
    for channel in recalled.plan.channels:
        ranking = recalled.recording.rankings.get(channel.name)
        if ranking is None:
            silent.append(f"{channel.name} was left out by the deadline")
            continue
        whole = _without_cut(channel, query, view, recalled.tools)
        place = place_in_ranking(memory.ordinal, whole)
        if place is None:
            silent.append(f"{channel.name}: {whole.reason or 'nothing in it meets the query'}")
            continue
        cut = len(ranking)
        score = float(whole.scores[place - 1])
        last = float(ranking.scores[-1]) if cut else 0.0
        lost = WhyNot(
            memory.id,
            False,
            channel.name,
            f"it is at place {place} there, with a score of {score:.6f}; the channel found {cut}, the last "
            f"with {last:.6f}",
            max(0.0, round(last - score, 9)),
            "score",
            f"a depth of {place} in [stages.{channel.name}]",
        )
        if nearest is None or place / max(1, cut) < nearest[0]:
            nearest = (place / max(1, cut), lost)
    if nearest is not None:
        return nearest[1]
    return WhyNot(
        memory.id,
        False,
        "channels",
        f"no channel can find it ({'; '.join(silent)})",
        remedy="ask in words that the memory holds, or that are nearer to its meaning",
    )


def _without_cut(channel: Step[Channel], query: Query, view: View, tools: Tools) -> Any:
    everything = view.snapshot.rows or 1
    stage = _changed(channel.stage, depth=everything, rescore=everything)
    return stage.search(view, replace(query, depth=everything), tools)


def _dropped(memory: Memory, recalled: Recalled, last: int, query: Query, view: View) -> WhyNot:
    before, after = recalled.recording.pools[last], recalled.recording.pools[last + 1]
    place = place_in_pool(memory.ordinal, before.pool)
    assert place is not None
    score = before.pool[place - 1].score
    left = {candidate.ordinal for candidate in after.pool}
    kept = [candidate.score for candidate in before.pool if candidate.ordinal in left]
    told = after.dropped.get(memory.ordinal, "")
    if after.stage == STAND_INS:
        reason = "an observation stands for it"
        return WhyNot(memory.id, False, STAND_INS, reason, remedy="prefer_observations left out")
    were = f"{len(kept)} {'was' if len(kept) == 1 else 'were'}"
    reason = (
        f"it stood at place {place} of {len(before.pool)} with a score of {score:.6f}, {were} kept"
        f"{f', the lowest with {min(kept):.6f}' if kept else ''}{f'; it {told}' if told else ''}"
    )
    short = round(min(kept) - score, 9) if kept and min(kept) > score else None
    step = next(step for step in recalled.plan.refiners if step.name == after.stage)
    return WhyNot(
        memory.id,
        False,
        after.stage,
        reason,
        short,
        "" if short is None else "score",
        _kept_by(step, memory, before.pool, query, view, recalled.tools),
    )


def _kept_by(step: Step[Refiner], memory: Memory, pool: Any, query: Query, view: View, tools: Tools) -> str:
    """The option of the recall, or of a refiner, that would have kept a memory of *pool*."""
    if step.technique == "relevance":
        for change in (
            {"min_relevance": None},
            {"precision": "wide"},
            {"min_relevance": None, "precision": "wide"},
        ):
            whole = step.stage.refine(view, replace(query, **change), pool, tools)
            if place_in_pool(memory.ordinal, whole.pool) is not None:
                needed = {"min_relevance": "no min_relevance", "precision": "precision wide"}
                return ", and ".join(needed[name] for name in change)
    if "most" in _options(step.stage):
        whole = _changed(step.stage, most=len(pool)).refine(view, query, pool, tools)
        place = place_in_pool(memory.ordinal, whole.pool)
        if place is not None:
            return f"most = {place} in [stages.{step.name}]"
    options = ", ".join(f"{name} = {getattr(step.stage, name)}" for name in _options(step.stage))
    return f"other options in [stages.{step.name}]" + (f", which has {options}" if options else "")


def _not_packed(memory: Memory, recalled: Recalled, query: Query, view: View) -> WhyNot:
    packer, recall = recalled.plan.packer, recalled.recall
    pool = recalled.recording.pools[-1].pool
    stage = _changed(packer.stage, most=max(1, len(pool)))
    whole = stage.pack(view, replace(query, limit=None, max_tokens=None), pool, recalled.tools)
    place = next((hit.rank for hit in whole.hits if hit.id == memory.id), len(pool))
    omitted = next((each for each in recall.omitted if each.id == memory.id), None)
    short, unit, budgets = place - len(recall), _PLACES, list[int | None]()
    reason = f"it is at place {place}, and {len(recall)} were returned"
    if omitted is not None and query.max_tokens is not None:
        used = sum(hit.tokens for hit in recall)
        short, unit, budgets = used + omitted.tokens - query.max_tokens, _TOKENS, [used + omitted.tokens]
        reason = (
            f"{omitted.reason}: it takes {omitted.tokens} tokens, and {max(0, query.max_tokens - used)} of "
            f"{query.max_tokens} were left"
        )
    # More room may go to others before it: then there must be room for all down to its place.
    budgets.append(sum(hit.tokens for hit in whole.hits if hit.rank <= place))
    remedy = _room(memory, recalled, query, view, place, budgets)
    return WhyNot(memory.id, False, packer.name, reason, float(short), unit, remedy)


def _room(
    memory: Memory, recalled: Recalled, query: Query, view: View, place: int, budgets: Sequence[int | None]
) -> str:
    """The first of the budgets, limits and caps to be tried with which the packer keeps the memory."""
    packer, pool = recalled.plan.packer, recalled.recording.pools[-1].pool
    most = getattr(packer.stage, "most", None)
    limits = dict.fromkeys((query.limit, None if query.limit is None else max(place, query.limit)))
    caps = dict.fromkeys((most, None if most is None else max(place, most)))
    for cap, limit, budget in itertools.product(caps, limits, dict.fromkeys((query.max_tokens, *budgets))):
        stage = packer.stage if cap == most else _changed(packer.stage, most=cap)
        packed = stage.pack(view, replace(query, limit=limit, max_tokens=budget), pool, recalled.tools)
        if any(hit.id == memory.id for hit in packed.hits):
            needed = (
                "" if budget == query.max_tokens else f"max_tokens of {budget}",
                "" if limit == query.limit else f"a limit of {limit}",
                "" if cap == most else f"most = {cap} in [stages.{packer.name}]",
            )
            return ", and ".join(filter(None, needed))
    return f"max_tokens above {budgets[-1]}"


def _options(stage: object) -> list[str]:
    return [field.name for field in dataclasses.fields(stage)] if dataclasses.is_dataclass(stage) else []


def _changed(stage: Any, **options: int) -> Any:
    """The same stage with those of *options* that it has."""
    return replace(stage, **{name: value for name, value in options.items() if name in _options(stage)})


def _not_visible(versions: Sequence[Memory], recalled: Recalled) -> WhyNot:
    """Seen from that moment it did not hold, or nobody knew of it yet."""
    as_of, known_at = recalled.recall.trace.as_of, recalled.recall.trace.known_at
    memory = versions[-1]
    if recalled.filters.as_of is None and recalled.filters.known_at is None:
        known_at = HEAD
    known = [v for v in versions if v.ingested_at_micros <= known_at < v.expired_at_micros]
    if not known:
        first = versions[0]
        if known_at < first.ingested_at_micros:
            reason = (
                f"it was recorded at {_shown(first.ingested_at_micros)}, after known_at, {_shown(known_at)}"
            )
            short, remedy = (
                first.ingested_at_micros - known_at,
                f"known_at={_shown(first.ingested_at_micros)}",
            )
        else:
            reason = f"it was no longer recorded from {_shown(memory.expired_at_micros)} on"
            short = known_at - memory.expired_at_micros
            remedy = f"known_at before {_shown(memory.expired_at_micros)}"
        return _late(memory, reason, short, remedy)
    memory = known[-1]
    if memory.consolidated and memory.valid_from_micros <= as_of < memory.valid_to_micros:
        if recalled.filters.observations:
            reason = "none of the memories behind it can be seen, or was found"
            return WhyNot(memory.id, False, VISIBLE, reason, remedy="ask in words that one of them holds")
        reason = "it is an observation that maintenance made, and those were not asked for"
        return WhyNot(memory.id, False, VISIBLE, reason, remedy="prefer_observations, or its kind in kinds")
    if as_of < memory.valid_from_micros:
        start = memory.valid_from_micros
        reason = f"it holds from {_shown(start)} on, after as_of, {_shown(as_of)}"
        return _late(memory, reason, start - as_of, f"as_of={_shown(start)}")
    end = memory.valid_to_micros
    reason = f"it held until {_shown(end)}, and as_of is {_shown(as_of)}"
    return _late(memory, reason, as_of - end, f"as_of before {_shown(end)}")


def _late(memory: Memory, reason: str, micros: int, remedy: str) -> WhyNot:
    return WhyNot(memory.id, False, VISIBLE, reason, micros / _MICROS_PER_SECOND, "seconds", remedy)


def _shown(micros: int) -> str:
    moment = from_micros(micros)
    return moment.isoformat() if moment else "an open end"


def _filter_that_left_out(memory: Memory, filters: Filters, as_of: int) -> tuple[str, str]:
    """Which explicit filter, or time to live, excludes it, and what would not."""
    if filters.kinds is not None and memory.kind not in filters.kinds:
        wanted = ", ".join(kind.value for kind in filters.kinds) or "none (an empty list)"
        return f"it is {memory.kind.value}, and kinds asks for {wanted}", f"kinds with {memory.kind.value!r}"
    if filters.project is not None and memory.project != filters.project:
        return (
            f"its project is {memory.project!r}, and project asks for {filters.project!r}",
            f"project={memory.project!r}",
        )
    if not tags_match(frozenset(memory.tags), frozenset(filters.tags), filters.tags_match):
        wanted = f"{filters.tags_match} of {list(filters.tags)}"
        return (
            f"its tags are {list(memory.tags)}, and tags asks for {wanted}",
            "other tags, or another tags_match",
        )
    if memory.archived and not filters.archived:
        return "maintenance has put it away", "include_archived, or used, which brings it back"
    if not filters.archived and (memory.expires_micros <= as_of or filters.window is None):
        return (
            "its time to live has ended",
            "include_archived, an earlier as_of, or used, which brings it back",
        )
    start, end = filters.window or (0, 0)
    happened = "undated" if memory.occurred is None else f"from {_shown(memory.occurred.start)}"
    return (
        f"it is {happened}, and window asks for {_shown(start)} to {_shown(end)}",
        "another window, or none",
    )
