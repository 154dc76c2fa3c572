"""What a caller gives to ``recall``, checked before anything is read.

Only these explicit arguments may exclude a memory; what a query's words suggest may only raise one.
A date stands for its first instant wherever one moment is asked for: ``as_of="2026-03"`` is the viewpoint of
2026-03-01T00:00 in the bank's zone, ``window=("2026-03-01", "2026-04-01")`` is all of March.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.hygiene import (
    MAX_PROJECT_BYTES,
    clean_choice,
    clean_count,
    clean_label,
    clean_labels,
    clean_switch,
    clean_text,
    named_entries,
    shows_nothing,
)
from simonides.records.interval import BEGINNING, FOREVER, parse_time
from simonides.records.kind import KIND_CODES, Kind
from simonides.records.query import Filters

if TYPE_CHECKING:
    from datetime import tzinfo

MAX_QUERY_BYTES = 64 * 1024
MAX_LIMIT = 10_000
MAX_TOKENS = 10_000_000
MAX_SEED = 2**63 - 1
TAGS_MATCHES = ("any", "any_strict", "all", "all_strict", "exact")
_KINDS = tuple(kind.value for kind in Kind)

KIND_OF_TYPE = {"world": Kind.SEMANTIC, "experience": Kind.EPISODIC, "observation": Kind.OBSERVATION}
"""Hindsight's types of memories and the kinds that they are here (HI-14; SPEC, general settlement 5)."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """Checked arguments.

    Attributes:
        text: the caller's words, not blank.
        limit: hits at most, 1 to ``MAX_LIMIT``; ``None`` = the profile decides.
        max_tokens: budget of the context, 0 to ``MAX_TOKENS``; ``None`` = no budget.
        filters: what may exclude a memory.
        seed: 0 to ``MAX_SEED``; ``None`` = derived from query and clock.
        standing: whether standing memories lead the context.
    """

    text: str
    limit: int | None
    max_tokens: int | None
    filters: Filters
    seed: int | None
    # Not in the text of a request, from which the id of a recall is made: without it ids are as they were.
    standing: bool = field(default=False, repr=False)


def clean_query(query: object, field: str) -> str:
    """Check what is asked.

    Raises:
        InputError: no text, too long, or nothing of it can be seen.
    """
    text = clean_text(query, field, MAX_QUERY_BYTES)
    if shows_nothing(text):
        raise InputError(field, "is blank; ask something")
    return text


def read_recall_arguments(
    query: object,
    *,
    limit: object,
    max_tokens: object,
    kinds: object,
    project: object,
    tags: object,
    tags_match: object,
    as_of: object,
    known_at: object,
    window: object,
    seed: object,
    principal: object,
    zone: tzinfo,
    types: object = None,
    include_archived: object = False,
    prefer_observations: object = False,
    standing: object = False,
) -> RecallRequest:
    """Check the arguments of a recall; but for *query* and *tags_match*, ``None`` means "not given".

    Args:
        query: a text that is not blank, at most ``MAX_QUERY_BYTES`` in UTF-8.
        limit: whole number, 1 to ``MAX_LIMIT``.
        max_tokens: whole number, 0 to ``MAX_TOKENS``.
        kinds: one kind or a list of them; an empty list matches nothing.
        project: its name; an empty one = memories of no project.
        tags: list of strings; an empty list, or ``None``, is no filter under ``any`` and ``all``, matches
            nothing under ``any_strict`` and ``all_strict``, and under ``exact`` keeps the untagged.
        tags_match: one of ``TAGS_MATCHES``.
        as_of: viewpoint in the world's time, as ``parse_time`` reads it; a date means its first instant.
        known_at: viewpoint in recorded time, likewise.
        window: a (start, end) pair, end excluded, either side ``None`` = open; or one day, month or year,
            which is that whole interval.
        seed: whole number, 0 to ``MAX_SEED``.
        principal: who asks; ``None`` = the owner.
        zone: the zone of times that state none.
        types: one of ``KIND_OF_TYPE`` or a list of them; an empty list matches nothing; with *kinds*, only
            what is in both is kept.
        include_archived: true or false.
        prefer_observations: true or false.
        standing: true or false.

    Raises:
        UnknownNameError: a kind, type or *tags_match* that does not exist.
        InputError: anything else that is wrong, by field.
    """
    return RecallRequest(
        text=clean_query(query, "query"),
        limit=_count(limit, "limit", 1, MAX_LIMIT),
        max_tokens=_count(max_tokens, "max_tokens", 0, MAX_TOKENS),
        filters=Filters(
            kinds=_kept(_kinds(kinds), _kinds_of_types(types)),
            project=None if project is None else clean_text(project, "project", MAX_PROJECT_BYTES),
            tags=() if tags is None else clean_labels(tags, "tags"),
            tags_match=clean_choice(tags_match, "tags_match", TAGS_MATCHES),
            window=_window(window, zone),
            as_of=_moment(as_of, "as_of", zone),
            known_at=_moment(known_at, "known_at", zone),
            principal=None if principal is None else clean_label(principal, "principal"),
            archived=clean_switch(include_archived, "include_archived"),
            observations=clean_switch(prefer_observations, "prefer_observations"),
        ),
        seed=_count(seed, "seed", 0, MAX_SEED),
        standing=clean_switch(standing, "standing"),
    )


def _count(value: object, field: str, lowest: int, highest: int) -> int | None:
    return None if value is None else clean_count(value, field, lowest, highest)


def _kinds(value: object) -> tuple[Kind, ...] | None:
    """In the order of ``Kind``, without repeats; ``None`` = no filter."""
    if value is None:
        return None
    if isinstance(value, str):
        return (_kind(value, "kinds"),)
    entries = named_entries(value, "kinds", expected="a kind or a list of kinds")
    kinds = {_kind(entry, name) for name, entry in entries}
    return tuple(sorted(kinds, key=KIND_CODES.__getitem__))


def _kinds_of_types(value: object) -> tuple[Kind, ...] | None:
    """In the order of ``Kind``, without repeats; ``None`` = no filter."""
    if value is None:
        return None
    expected = "a type or a list of types"
    named = [("types", value)] if isinstance(value, str) else named_entries(value, "types", expected=expected)
    kinds = {KIND_OF_TYPE[clean_choice(entry, name, tuple(KIND_OF_TYPE))] for name, entry in named}
    return tuple(sorted(kinds, key=KIND_CODES.__getitem__))


def _kept(kinds: tuple[Kind, ...] | None, types: tuple[Kind, ...] | None) -> tuple[Kind, ...] | None:
    if kinds is None or types is None:
        return types if kinds is None else kinds
    both = tuple(kind for kind in kinds if kind in types)
    if kinds and types and not both:
        raise InputError(
            "types",
            f"no memory can be of these types and of kind {' or '.join(kinds)}, too; give one of the two",
        )
    return both


def _kind(value: object, field: str) -> Kind:
    return Kind(clean_choice(value, field, _KINDS))


def _moment(value: object, field: str, zone: tzinfo) -> int | None:
    return None if value is None else parse_time(value, field, zone=zone).start


def _window(value: object, zone: tzinfo) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise InputError("window", f"expected a (start, end) pair, got {len(value)} values")
        start, end = (_moment(side, f"window[{n}]", zone) for n, side in enumerate(value))
        window = (BEGINNING if start is None else start, FOREVER if end is None else end)
        if window[0] >= window[1]:
            raise InputError(
                "window",
                "its end, which is excluded, is not later than its start; for one whole day, month or year "
                "give it alone, such as window='2026-03'",
            )
        return window
    if not isinstance(value, str | date):
        raise InputError("window", f"expected a (start, end) pair or one date, got {type(value).__name__}")
    whole = parse_time(value, "window", zone=zone)
    if isinstance(value, datetime) or whole.start == whole.end:
        raise InputError("window", "one instant has no length; give a (start, end) pair or a date")
    return whole.start, whole.end
