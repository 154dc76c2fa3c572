"""What a caller gives to ``recall``, checked before anything is read.

Only these explicit arguments may exclude a memory; what a query's words suggest may only raise one.
A date stands for its first instant wherever one moment is asked for: ``as_of="2026-03"`` is the viewpoint of
2026-03-01T00:00 in the bank's zone, ``window=("2026-03-01", "2026-04-01")`` is all of March.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from simonides.errors import InputError
from simonides.recall.registry import BUILT_IN, is_registered
from simonides.records.hygiene import (
    MAX_PROJECT_BYTES,
    clean_choice,
    clean_count,
    clean_label,
    clean_labels,
    clean_switch,
    clean_text,
    named_entries,
    shown,
    shows_nothing,
    to_float,
)
from simonides.records.interval import BEGINNING, FOREVER, parse_time
from simonides.records.kind import KIND_CODES, Kind
from simonides.records.query import PRECISIONS, Filters

if TYPE_CHECKING:
    from datetime import tzinfo

    from simonides.recall.plan import Plan, Step

MAX_QUERY_BYTES = 64 * 1024
MAX_LIMIT = 10_000
MAX_TOKENS = 10_000_000
MAX_SEED = 2**63 - 1
TAGS_MATCHES = ("any", "any_strict", "all", "all_strict", "exact")
_KINDS = tuple(kind.value for kind in Kind)

KIND_OF_TYPE = {"world": Kind.SEMANTIC, "experience": Kind.EPISODIC, "observation": Kind.OBSERVATION}
"""Hindsight's types of memories and the kinds that they are here (HI-14; SPEC, general settlement 5)."""

BUDGETS = ("low", "mid", "high")
BUDGET_FUNCTIONS = ("fixed", "adaptive")
MODES = ("auto", "bm25", "semantic", "hybrid", "hybrid-rerank")
SYNTAXES = ("plain", "extended")
TIERS = ("default", "async")
ASYNC_ELSEWHERE = "'async' is for recall alone, which names a job whose answer comes later; leave it out here"
MOST_CHUNK_TOKENS = 10_000_000
LONGEST_DEADLINE_MS = 600_000
MOST_ALIASES = 1_000

READ_BY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "hints": ("entity_hints", ("entities", "router")),
    "mode": ("mode", ("retrieval_mode",)),
    "question_date": ("question_date", ("time_window", "temporal_expansion")),
    "budget": ("budget", ("budget",)),
    "budget_function": ("budget_function", ("budget",)),
    "include_chunks": ("include_chunks", ("token_budget", "cited_context", "outside_in")),
    "syntax": ("syntax", ("query_dsl",)),
    "aliases": ("aliases", ("aliases", "retrying_lexical")),
    "precision": ("precision", ("relevance",)),
}
"""By field of ``SearchOptions``: the argument's name, and the techniques that read it. An option that no
stage of a profile reads is ignored, and the trace says so (``heeded``); "wide" is what those profiles do."""


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


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Checked options; the names are those of ``records.query.Query``, whose docstring explains them."""

    hints: tuple[str, ...] = ()
    mode: str = "auto"
    question_date: int | None = None
    budget: str = ""
    budget_function: str = ""
    include_chunks: bool = False
    max_chunk_tokens: int = 0
    syntax: Literal["plain", "extended"] = "plain"
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deadline_ms: float | None = None
    precision: str = "balanced"
    min_relevance: float | None = None


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
    query: object, options: Mapping[str, object], *, principal: object, zone: tzinfo
) -> RecallRequest:
    """Check what selects memories and how much of them is returned.

    Args:
        query: a text that is not blank, at most ``MAX_QUERY_BYTES`` in UTF-8.
        options: by name, see ``simonides.options``; every one that has a default must be there.
        principal: who asks; ``None`` = the owner.
        zone: the zone of times that state none.

    Raises:
        UnknownNameError: a kind, type or *tags_match* that does not exist.
        InputError: anything else that is wrong, by field.
    """
    get, project, tags = options.get, options.get("project"), options.get("tags")
    return RecallRequest(
        text=clean_query(query, "query"),
        limit=_count(get("limit"), "limit", 1, MAX_LIMIT),
        max_tokens=_count(options["max_tokens"], "max_tokens", 0, MAX_TOKENS),
        filters=Filters(
            kinds=_kept(_kinds(get("kinds")), _kinds_of_types(get("types"))),
            project=None if project is None else clean_text(project, "project", MAX_PROJECT_BYTES),
            tags=() if tags is None else clean_labels(tags, "tags"),
            tags_match=clean_choice(options["tags_match"], "tags_match", TAGS_MATCHES),
            window=_window(get("window"), zone),
            as_of=_moment(get("as_of"), "as_of", zone),
            known_at=_moment(get("known_at"), "known_at", zone),
            principal=None if principal is None else clean_label(principal, "principal"),
            archived=clean_switch(options["include_archived"], "include_archived"),
            observations=clean_switch(options["prefer_observations"], "prefer_observations"),
        ),
        seed=_count(get("seed"), "seed", 0, MAX_SEED),
        standing=clean_switch(options["standing"], "standing"),
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


def read_search_arguments(options: Mapping[str, object], *, zone: tzinfo) -> SearchOptions:
    """Check what says how to search; none of it excludes a memory. ``None`` = the profile decides.

    Args:
        options: by name, see ``simonides.options``; every one that has a default must be there.
        zone: the zone of times that state none.

    Raises:
        UnknownNameError: a choice that does not exist.
        InputError: anything else that is wrong, by field.
    """
    get, hints = options.get, options.get("entity_hints")
    include_chunks = clean_switch(options["include_chunks"], "include_chunks")
    if clean_choice(options["tier"], "tier", TIERS) == "async":
        raise InputError("tier", ASYNC_ELSEWHERE)
    extended = clean_choice(options["syntax"], "syntax", SYNTAXES) == "extended"
    return SearchOptions(
        hints=() if hints is None else clean_labels(hints, "entity_hints"),
        mode=_choice(get("mode"), "mode", MODES, "auto"),
        question_date=_moment(get("question_date"), "question_date", zone),
        budget=_choice(get("budget"), "budget", BUDGETS, ""),
        budget_function=_choice(get("budget_function"), "budget_function", BUDGET_FUNCTIONS, ""),
        include_chunks=include_chunks,
        max_chunk_tokens=clean_count(options["max_chunk_tokens"], "max_chunk_tokens", 0, MOST_CHUNK_TOKENS),
        syntax="extended" if extended else "plain",
        aliases=_aliases(get("aliases")),
        deadline_ms=_deadline(get("deadline_ms")),
        precision=_choice(get("precision"), "precision", PRECISIONS, "balanced"),
        min_relevance=_share(get("min_relevance"), "min_relevance"),
    )


def _choice(value: object, field: str, names: tuple[str, ...], otherwise: str) -> str:
    return otherwise if value is None else clean_choice(value, field, names)


def heeded(options: SearchOptions, plan: Plan) -> tuple[SearchOptions, tuple[str, ...]]:
    """*options* without those that no stage of the profile reads, and a line about each of these.

    A stage of another package may read any option, so nothing is left out where one runs.
    """
    steps: tuple[Step[Any], ...] = (
        *plan.understanders,
        *plan.channels,
        plan.fuser,
        *plan.refiners,
        plan.packer,
    )
    running = {step.technique for step in steps}
    if any(is_registered(technique) for technique in running - BUILT_IN.keys()):
        return options, ()
    plain = SearchOptions()
    ignored = {
        name: f"{argument}: ignored, no stage of profile {plan.name!r} reads it ({' or '.join(readers)})"
        for name, (argument, readers) in READ_BY.items()
        if getattr(options, name) not in (getattr(plain, name), "wide") and running.isdisjoint(readers)
    }
    if "syntax" in ignored:
        ignored["syntax"] += "; its conditions (tag:, kind:, before:, after:) filter all the same"
    lines = list(ignored.values())
    if options.deadline_ms is not None and not plan.optional:
        lines.append(f"deadline_ms: ignored, profile {plan.name!r} has no optional stage to leave out")
    return replace(options, **{name: getattr(plain, name) for name in ignored}), tuple(lines)


def _aliases(value: object) -> Mapping[str, tuple[str, ...]]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_ALIASES:
        raise InputError(
            "aliases", f"expected a mapping from a word to other words, at most {MOST_ALIASES:,} of them"
        )
    aliases: dict[str, tuple[str, ...]] = {}
    for word, others in value.items():
        key = clean_label(word, "aliases").lower()
        entries = named_entries(others, f"aliases[{key!r}]", expected="a list of words")
        aliases[key] = tuple(clean_label(entry, name) for name, entry in entries)
    return aliases


def _share(value: object, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= to_float(value) <= 1:
        raise InputError(name, f"expected a number from 0 to 1, got {shown(value)}")
    return float(value)


def _deadline(value: object) -> float | None:
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not 0 < to_float(value) <= LONGEST_DEADLINE_MS
    ):
        raise InputError(
            "deadline_ms",
            f"expected milliseconds above 0, at most {LONGEST_DEADLINE_MS:,}, got {shown(value)}",
        )
    return float(value)
