"""What the clauses of an extended query ask for, as filters and hints.

tag:x            the memory has this tag; several: all of them
kind:decision    of this kind; several: any of them
after:2026-03    occurred after March 2026; several: after the latest
before:2026-03   occurred before March 2026; several: before the earliest
entity:"Odalys"  about this entity: a hint, it raises and excludes nothing; several: each

All but ``entity:`` exclude what they do not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError, QuerySyntaxError
from simonides.records.expression import Clause
from simonides.records.interval import BEGINNING, FOREVER, parse_time
from simonides.records.kind import KIND_CODES, Kind

if TYPE_CHECKING:
    from datetime import tzinfo

    from simonides.records.expression import Expression
    from simonides.records.interval import Interval


@dataclass(frozen=True, slots=True)
class Conditions:
    """What clauses add up to.

    Attributes:
        tags: every one must be there.
        kinds: any one; in the order of ``Kind``.
        entities: names.
        window: half-open ``(start, end)`` in microseconds UTC, or ``None``.
    """

    tags: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    entities: tuple[str, ...] = ()
    window: tuple[int, int] | None = None


def read_clauses(expression: Expression, zone: tzinfo) -> Conditions:
    """The conditions of *expression*; dates that state no zone mean *zone*.

    Raises:
        QuerySyntaxError: a kind or a date that is none, or dates that leave no time between them.
    """
    tags: list[str] = []
    kinds: set[Kind] = set()
    entities: list[str] = []
    start, end = BEGINNING, FOREVER
    for clause in expression.tokens:
        if not isinstance(clause, Clause):
            continue
        match clause.name:
            case "tag":
                tags.append(clause.value)
            case "entity":
                entities.append(clause.value)
            case "kind":
                kinds.add(_kind(clause))
            case "after":
                start = max(start, _after(_time(clause, zone)))
            case _:
                end = min(end, _time(clause, zone).start)
        if start >= end:
            raise QuerySyntaxError("query", "after: and before: leave no time between them", clause.position)
    return Conditions(
        tags=tuple(sorted(set(tags))),
        kinds=tuple(sorted(kinds, key=KIND_CODES.__getitem__)),
        entities=tuple(dict.fromkeys(entities)),
        window=None if (start, end) == (BEGINNING, FOREVER) else (start, end),
    )


def _kind(clause: Clause) -> Kind:
    try:
        return Kind(clause.value.lower())
    except ValueError:
        names = ", ".join(kind.value for kind in Kind)
        raise QuerySyntaxError(
            "query", f"there is no kind {clause.value[:20]!r}; use one of {names}", clause.position
        ) from None


def _time(clause: Clause, zone: tzinfo) -> Interval:
    try:
        return parse_time(clause.value, "query", zone=zone)
    except InputError as error:
        raise QuerySyntaxError("query", error.problem, clause.position) from None


def _after(when: Interval) -> int:
    """The first moment after *when*; an instant is a microsecond long here."""
    return when.end if when.end > when.start else when.start + 1
