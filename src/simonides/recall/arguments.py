"""What a caller gives to ``recall``, from checked values to what the engine works with.

``simonides.options`` declares and checks each value by itself; here stands what they mean together.
Only these explicit arguments may exclude a memory; what a query's words suggest may only raise one.
A date stands for its first instant wherever one moment is asked for: ``as_of="2026-03"`` is the viewpoint of
2026-03-01T00:00 in the bank's zone, ``window=("2026-03-01", "2026-04-01")`` is all of March.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from simonides.errors import InputError
from simonides.options import KIND_OF_TYPE
from simonides.recall.registry import BUILT_IN, is_registered
from simonides.records.interval import BEGINNING, FOREVER, parse_time
from simonides.records.kind import KIND_CODES, Kind
from simonides.records.query import Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import tzinfo

    from simonides.recall.plan import Plan, Step

ASYNC_ELSEWHERE = "'async' is for recall alone, which names a job whose answer comes later; leave it out here"

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


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """Checked arguments.

    Attributes:
        text: the caller's words, not blank.
        limit: hits at most, ``None`` = the profile decides.
        max_tokens: budget of the context, ``None`` = no budget.
        filters: what may exclude a memory.
        seed: ``None`` = derived from query and clock.
        standing: whether standing memories lead the context.
        search: how to search; none of it excludes a memory.
    """

    text: str
    limit: int | None
    max_tokens: int | None
    filters: Filters
    seed: int | None
    # Not in the text of a request, from which the id of a recall is made: without it ids are as they were.
    standing: bool = field(default=False, repr=False)
    search: SearchOptions = field(default_factory=SearchOptions, repr=False)


def read_recall_arguments(values: Mapping[str, Any], *, principal: str | None, zone: tzinfo) -> RecallRequest:
    """What selects memories, how much of them is returned, and how to search.

    Args:
        values: of ``options.RECALL``, checked.
        principal: who asks; ``None`` = the owner.
        zone: the zone of times that state none.

    Raises:
        InputError: a time is none, an interval has no length, or *kinds* and *types* exclude each other.
    """
    hints = tuple(sorted(set(values["entity_hints"] or ())))
    search = {name: values[name] for name in SearchOptions.__slots__ if values.get(name) is not None}
    search["aliases"] = {word.lower(): tuple(others) for word, others in (values["aliases"] or {}).items()}
    search["question_date"] = _moment(values["question_date"], "question_date", zone)
    return RecallRequest(
        text=values["query"],
        limit=values["limit"],
        max_tokens=values["max_tokens"],
        filters=Filters(
            kinds=_kept(_kinds(values["kinds"], Kind), _kinds(values["types"], KIND_OF_TYPE.__getitem__)),
            project=values["project"],
            tags=tuple(sorted(set(values["tags"] or ()))),
            tags_match=values["tags_match"],
            window=_window(values["window"], zone),
            as_of=_moment(values["as_of"], "as_of", zone),
            known_at=_moment(values["known_at"], "known_at", zone),
            principal=principal,
            archived=values["include_archived"],
            observations=values["prefer_observations"],
        ),
        seed=values["seed"],
        standing=values["standing"],
        search=SearchOptions(**search, hints=hints),
    )


def _kinds(names: str | Iterable[str] | None, kind_of: Callable[[str], Kind]) -> tuple[Kind, ...] | None:
    """In the order of ``Kind``, without repeats; ``None`` = no filter."""
    if names is None:
        return None
    kinds = {kind_of(name) for name in ([names] if isinstance(names, str) else names)}
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
