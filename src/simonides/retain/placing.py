"""Settle what an item did not state, how far its source is trusted, and what it may meet.

said at:    the given event time, else the given recorded time, else now; relative words count from there
occurred:   the given event time, or what a relative word in the text makes of it ("yesterday"); without one,
            the first date that the text states
valid_from: the event time if that has passed, else the moment of recording (SPEC, general settlement 1)
kind:       the given one, else what cues say, else semantic; the layer follows it (settlement 5)
salience:   ½ · cues + ¼ · novelty + ¼ · trust, where novelty = 1 − mean cosine of the 5 nearest (HX-10)
trust:      from who retains and in which role, never from a claim; a row of low trust does not close one of
            higher trust (see ``supersession``)

Readers are principals; none at all means everyone in the bank. A new memory is compared only with what all
of its own readers may read, so nobody learns of what is hidden; and it changes only what exactly its readers
read, so nobody else's memories move (SPEC, general settlement 3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision
from simonides.records.kind import TRUST, Kind, Layer
from simonides.records.time_to_live import TimeToLive
from simonides.records.versions import ResolvedFields

if TYPE_CHECKING:
    from collections.abc import Collection

    from simonides.records.draft import Draft, Prepared
    from simonides.records.extraction import Extraction
    from simonides.records.time_to_live import TtlDefaults


def trust_of(role: str) -> float:
    """How far a role is trusted, 0 to 1; an unknown one as little as an import."""
    return TRUST.get(role, TRUST["import"])


_LAYER_OF_KIND = {
    Kind.EPISODIC: Layer.EPISODIC,
    Kind.PROCEDURAL: Layer.PROCEDURAL,
    Kind.CODE: Layer.CODEBASE,
}

_TO_THE_DAY = frozenset({Precision.INSTANT, Precision.HOUR, Precision.DAY})


def place_item(item: Prepared, ingested_at: int, author: str, novelty: float) -> ResolvedFields:
    """Everything about an item's row that is not its content; *author* is the principal, empty = the owner.

    ``InputError``: valid_to does not lie after the valid_from that was settled.
    """
    draft, found = item.draft, item.extraction
    kind = draft.kind or found.kind or Kind.SEMANTIC
    trust = trust_of(draft.role)
    salience = 0.5 * found.salience + 0.25 * novelty + 0.25 * trust
    event = occurred(draft, found)
    valid_from, valid_to = _validity(draft, event, ingested_at)
    return ResolvedFields(
        ingested_at=ingested_at,
        valid_from=valid_from,
        valid_to=valid_to,
        occurred=event,
        kind=kind,
        layer=draft.layer or layer_of(kind),
        salience=round(salience, 6) if draft.salience is None else draft.salience,
        confidence=found.confidence if draft.confidence is None else draft.confidence,
        author=author,
        trust=trust,
        state=draft.state,
    )


def ttl_of(draft: Draft, kind: Kind, defaults: TtlDefaults) -> TimeToLive | None:
    """The time to live that an item states, else that of the bank for its kind; ``None`` = it never ends.

    ``InputError``: it states what becomes of it when it ends, and neither says when.
    """
    ttl = defaults.of(kind) if draft.ttl is None else TimeToLive(draft.ttl)
    if ttl is None or ttl.micros == FOREVER:
        if draft.on_expiry is not None and draft.ttl is None:
            field = f"{draft.place}.on_expiry" if draft.place else "on_expiry"
            raise InputError(field, f"there is no ttl, and the bank has none for the kind {kind}; give a ttl")
        return None
    return ttl if draft.on_expiry is None else TimeToLive(ttl.micros, draft.on_expiry)


def layer_of(kind: Kind) -> Layer:
    """The layer of a new memory of a kind, where none is given."""
    return _LAYER_OF_KIND.get(kind, Layer.SEMANTIC)


def said_at(draft: Draft, now: int) -> int:
    """When an item was said, else *now* (microseconds UTC): relative words in its text count from there."""
    if draft.occurred is not None:
        return draft.occurred.start
    return now if draft.recorded_at is None else draft.recorded_at


def dated(draft: Draft, found: Extraction) -> Extraction:
    """What the text says, without the times that nobody can know: "yesterday", said "in 2019"."""
    known = draft.occurred is None or draft.occurred.precision in _TO_THE_DAY
    return found if known else without_relative_times(found)


def without_relative_times(found: Extraction) -> Extraction:
    """What a text says that nobody said at a known time, such as a sum of several memories."""
    return replace(found, times=tuple(time for time in found.times if time.days is None))


def occurred(draft: Draft, found: Extraction) -> Interval | None:
    """When it happened: what the words say, as far as they count from the given time, else as given.

    A date that the text states in full stands beside the given time, and does not take its place.
    """
    given = draft.occurred
    if given is None:
        return found.times[0].interval if found.times else None
    told = next((time.interval for time in found.times if time.days is not None), None)
    if told is None or told.start <= given.start < told.end or told.start == given.start:
        return given
    return told


def _validity(draft: Draft, event: Interval | None, ingested_at: int) -> tuple[Interval, Interval]:
    if draft.valid_from is not None:
        start = draft.valid_from
    else:
        recorded = Interval(ingested_at, ingested_at, Precision.INSTANT)
        # A plan was known when it was told; a report holds from the event on.
        known = [] if draft.occurred is None or event is None else [event, draft.occurred]
        passed = (time for time in known if BEGINNING < time.start <= ingested_at)
        start = min(passed, key=lambda time: time.start, default=recorded)
    end = draft.valid_to or Interval(FOREVER, FOREVER, Precision.INSTANT)
    if end.start <= start.start:
        raise InputError(
            f"{draft.place}.valid_to" if draft.place else "valid_to",
            "is not after valid_from (by default the event time, else now); state a valid_from before it",
        )
    return start, end


def all_may_read(readers: Collection[str], theirs: Collection[str]) -> bool:
    """Whether each of *readers* (of the new memory) is among *theirs* (of a stored one)."""
    return not theirs or (bool(readers) and set(readers) <= set(theirs))


def same_readers(readers: Collection[str], theirs: Collection[str]) -> bool:
    """Whether exactly the same principals may read both."""
    return set(readers) == set(theirs)
