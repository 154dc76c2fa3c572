"""A subject has one value of a single-valued attribute at a time: statements divide the time among them.

At each moment holds what began last, among what is stated of that moment:

    A from January, open      A ──────┐     ┌──────┐
    B in March                        B─────┘      │
    C from June, open                              C ──────

So a bounded statement splits an open one, which holds again after it, and the order of arrival does not
matter. What began at the same moment is corrected by what arrives later; where only one of the two states an
end, it goes before the open one. Old and new must be read by exactly the same principals where the old one
changes, and by all readers of the new one where the new one does; a source ends what is trusted as much or
less. What is closed is kept: it gets a new version whose ``valid_to`` is the newer one's ``valid_from``, and
a move with the rule, by which it is undone. What holds again is a memory of its own in the same words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.interval import FOREVER, Interval
from simonides.retain.placing import all_may_read, same_readers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from simonides.records.draft import Draft
    from simonides.records.extraction import Relation
    from simonides.records.versions import Held, ResolvedFields, RowRef, StoredVersion
    from simonides.storage.writer import WriteTransaction

LONGEST_STATEMENT = 200
"""A text of more characters says more than one thing, so it neither closes nor is closed by a rule."""

CLOSE = "close"
"""The move that ends a memory, for a newer one or by hand."""

BY_HAND = "by hand"
"""The reason of a move that somebody asked for; such a ``CLOSE`` names no memory."""

_NEW = "\0new"
"""Stands for the id of the new memory, which it has only when it is written."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A memory of another value, and the rule that says so.

    Attributes:
        later: it was stored after the statement that meets it now, as after an edit of that one.
    """

    held: Held
    rule: str
    later: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """When a statement holds, microseconds UTC, and which memory ends it; empty = none."""

    start: int
    end: int
    ended_by: str = ""


@dataclass(frozen=True, slots=True)
class Division:
    """How a new statement and those of other values divide the time.

    Attributes:
        mine: spans of the new one, in order; at least one.
        theirs: spans of each rival that changes; none = it is withdrawn.
        closed_by: rule and rival that closes the new one on arrival; ``None`` = it is open.
    """

    mine: tuple[Span, ...]
    theirs: tuple[tuple[Rival, tuple[Span, ...]], ...] = ()
    closed_by: Rival | None = None


def declared(draft: Draft, found: Iterable[Relation]) -> tuple[Relation, ...]:
    """The single-valued relations that a memory is about.

    A relation that the caller states counts always; one found by a cue counts when it is the only one in a
    short text, so that a long turn is not closed for one half-sentence in it.
    """
    if draft.statement is not None:
        return (draft.statement,) if draft.statement.single_valued else ()
    relations = tuple(found)
    if len(relations) != 1 or len(draft.text) > LONGEST_STATEMENT:
        return ()
    return tuple(relation for relation in relations if relation.single_valued)


def divide(draft: Draft, place: ResolvedFields, rivals: Sequence[Rival]) -> Division:
    """Decide what holds when, for the new statement at *place* and the *rivals* of other values.

    Writes nothing.
    """
    start, end = place.valid_from.start, place.valid_to.start
    bounded = draft.valid_to is not None
    mine, theirs, closed_by = [Span(start, end)], [], None
    for rival in sorted(rivals, key=lambda one: (one.held.since, one.held.ordinal)):
        known = rival.held
        if not (known.valid_from < end and start < known.valid_to):
            continue
        # Which of the two had to end the other when it came.
        older, newer = (place.trust, known.trust) if rival.later else (known.trust, place.trust)
        if newer < older:
            continue
        if _leads(known, start, bounded=bounded, later=rival.later):
            if _may_end(known.readers, draft.acl, came_later=rival.later):
                left = _without(mine, known.valid_from, known.valid_to, known.id)
                if left and left != mine:
                    closed_by = closed_by or (rival if left[0].end < mine[0].end else None)
                    mine = left
        elif _may_end(draft.acl, known.readers, came_later=not rival.later):
            whole = [Span(known.valid_from, known.valid_to, known.superseded_by)]
            # What began with it and ends as it does was mistaken, and leaves the record.
            left = _without(whole, start, end, _NEW)
            # A value under a key is one memory: nothing parts it, or takes it from under its key.
            if len(left) == 1 or not known.keyed:
                theirs.append((rival, tuple(left)))
    return Division(tuple(mine), tuple(theirs), closed_by)


def _leads(known: Held, start: int, *, bounded: bool, later: bool) -> bool:
    """Whether *known* holds where a statement from *start* on does too; *later*: *known* was stored later."""
    if known.since != start:
        return known.since > start
    return known.bounded >= bounded if later else known.bounded > bounded


def _may_end(readers: Collection[str], others: Collection[str], *, came_later: bool) -> bool:
    """Whether a memory for *readers* may end one for *others*, which it changes if it came later."""
    return same_readers(readers, others) if came_later else all_may_read(others, readers)


def _without(spans: Sequence[Span], start: int, end: int, by: str) -> list[Span]:
    """What is left of *spans* outside ``[start, end)``."""
    left: list[Span] = []
    for span in spans:
        if end <= span.start or span.end <= start:
            left.append(span)
            continue
        if span.start < start:
            left.append(Span(span.start, start, by))
        if end < span.end:
            left.append(Span(end, span.end, span.ended_by))
    return left


def placed(place: ResolvedFields, division: Division) -> ResolvedFields:
    """The placement of the new row: its first span, where that begins as stated."""
    first = division.mine[0]
    if first.start != place.valid_from.start or first.end == place.valid_to.start:
        return place
    return replace(place, valid_to=Interval(first.end, first.end), superseded_by=first.ended_by)


def write_division(
    transaction: WriteTransaction, place: ResolvedFields, stored: RowRef, division: Division
) -> None:
    """Write what ``divide`` said of the row *stored* with ``placed``."""
    first, *later = division.mine
    if division.closed_by is not None:
        transaction.maintenance.add_move(
            stored.root,
            CLOSE,
            end_text(place.valid_to.start),
            division.closed_by.held.id,
            division.closed_by.rule,
        )
    if first.start != place.valid_from.start:
        transaction.versions.revise(
            stored.ordinal, learned_at=place.ingested_at, valid_from=first.start, valid_to=first.end,
            superseded_by=first.ended_by,
        )  # fmt: skip
    for span in later:
        after = division.closed_by.held.id if division.closed_by else ""
        transaction.maintenance.continue_after(
            stored.ordinal,
            place.trust,
            after,
            valid_from=span.start,
            valid_to=span.end,
            superseded_by=span.ended_by,
        )
    for rival, spans in division.theirs:
        _rewrite(transaction, place, stored, rival, spans)


def _rewrite(
    transaction: WriteTransaction, place: ResolvedFields, stored: RowRef, rival: Rival, spans: Sequence[Span]
) -> None:
    known = rival.held
    was = end_text(known.valid_to)
    transaction.maintenance.add_move(known.root, CLOSE, was, stored.id, rival.rule)
    if not spans:
        transaction.versions.expire(known.ordinal, place.ingested_at)
        return
    first, *later = spans
    by = stored.id if first.ended_by == _NEW else first.ended_by
    changed: dict[str, int | str] = {"valid_from": first.start} if first.start != known.valid_from else {}
    if first.ended_by == _NEW:
        changed |= {"valid_to_precision": place.valid_from.precision.value}
    for span in later:
        transaction.maintenance.continue_after(
            known.ordinal, known.trust, stored.id, valid_from=span.start, valid_to=span.end,
            superseded_by=span.ended_by,
        )  # fmt: skip
    transaction.versions.revise(
        known.ordinal, learned_at=place.ingested_at, valid_to=first.end, superseded_by=by, **changed
    )


def end_text(end: int) -> str:
    """When a memory would have ended, as a move tells it."""
    return "" if end == FOREVER else str(end)


def reopen(transaction: WriteTransaction, memory: str, by: str, was: str) -> bool:
    """Undo that *by* ended *memory* (what held again after *by* is one with it again).

    False if that is so no more. Without *by* it was ended by hand.
    """
    held = transaction.versions.current(memory)
    if held is None:
        return False
    if not by:
        return not held.superseded_by and _reopen_by_hand(transaction, held, int(was) if was else FOREVER)
    going_on = transaction.relations.continued_after(memory, by)
    if held.superseded_by != by and going_on is None:
        return False
    end, after = (int(was) if was else FOREVER), ""
    if going_on is not None:
        version = transaction.versions.read(going_on)
        end, after = version.valid_to, version.superseded_by
        transaction.versions.expire(going_on, transaction.next_instant())
    transaction.versions.revise(held.ordinal, valid_to=end, superseded_by=after)
    return True


def _reopen_by_hand(transaction: WriteTransaction, held: StoredVersion, end: int) -> bool:
    """Give a memory the end back that it had before."""
    versions = transaction.versions
    earlier = map(versions.read, reversed(versions.ordinals_of(held.ordinal)))
    before = next((version for version in earlier if version.valid_to == end), None)
    if before is None:
        return False
    versions.revise(
        held.ordinal,
        valid_to=end,
        valid_to_precision=before.valid_to_precision,
        superseded_by=before.superseded_by,
    )
    return True
