"""What a caller may say about how to search, checked; all of it optional, none of it excludes a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from simonides.errors import InputError
from simonides.recall.registry import BUILT_IN, is_registered
from simonides.records.hygiene import (
    clean_choice,
    clean_count,
    clean_label,
    clean_labels,
    clean_switch,
    named_entries,
    shown,
    to_float,
)
from simonides.records.interval import parse_time
from simonides.records.query import PRECISIONS

if TYPE_CHECKING:
    from datetime import tzinfo

    from simonides.recall.pipeline import Plan, Step

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


def read_search_arguments(
    *,
    entity_hints: object,
    mode: object,
    question_date: object,
    budget: object,
    budget_function: object,
    include_chunks: object,
    max_chunk_tokens: object,
    syntax: object,
    aliases: object,
    deadline_ms: object,
    tier: object,
    zone: tzinfo,
    precision: object = None,
    min_relevance: object = None,
) -> SearchOptions:
    """Check the options of a recall; ``None`` means "the profile decides".

    Args:
        entity_hints: list of names.
        mode: one of ``MODES``.
        question_date: as ``parse_time`` reads it; a date means its first instant.
        budget: one of ``BUDGETS``.
        budget_function: one of ``BUDGET_FUNCTIONS``.
        include_chunks: true or false.
        max_chunk_tokens: whole number, 0 to ``MOST_CHUNK_TOKENS``.
        syntax: one of ``SYNTAXES``.
        aliases: word → list of other words or phrases.
        deadline_ms: above 0, at most ``LONGEST_DEADLINE_MS``.
        tier: one of ``TIERS``; only ``"default"`` is answered at once.
        zone: the zone of times that state none.
        precision: one of ``PRECISIONS``.
        min_relevance: a number from 0 to 1.

    Raises:
        UnknownNameError: a choice that does not exist.
        InputError: anything else that is wrong, by field.
    """
    include_chunks = clean_switch(include_chunks, "include_chunks")
    if clean_choice(tier, "tier", TIERS) == "async":
        raise InputError(
            "tier",
            ASYNC_ELSEWHERE,
        )
    extended = clean_choice(syntax, "syntax", SYNTAXES) == "extended"
    return SearchOptions(
        hints=() if entity_hints is None else clean_labels(entity_hints, "entity_hints"),
        mode="auto" if mode is None else clean_choice(mode, "mode", MODES),
        question_date=(
            None if question_date is None else parse_time(question_date, "question_date", zone=zone).start
        ),
        budget="" if budget is None else clean_choice(budget, "budget", BUDGETS),
        budget_function=(
            ""
            if budget_function is None
            else clean_choice(budget_function, "budget_function", BUDGET_FUNCTIONS)
        ),
        include_chunks=include_chunks,
        max_chunk_tokens=clean_count(max_chunk_tokens, "max_chunk_tokens", 0, MOST_CHUNK_TOKENS),
        syntax="extended" if extended else "plain",
        aliases=_aliases(aliases),
        deadline_ms=_deadline(deadline_ms),
        precision="balanced" if precision is None else clean_choice(precision, "precision", PRECISIONS),
        min_relevance=_share(min_relevance, "min_relevance"),
    )


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
