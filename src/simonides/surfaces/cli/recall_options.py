"""Every option of a recall, declared once: `recall` and `why-not` take the same."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.options import (
    ContextTokensOption,
    FromOption,
    KindsOption,
    PrecisionOption,
    ProfileOption,
    ProjectOption,
    TagsMatchOption,
    TagsOption,
    ToOption,
    TypesOption,
    given,
)


def _asked(
    *,
    profile: ProfileOption = "default",
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="Maximum number of hits.", show_default="the profile's"),
    ] = None,
    max_tokens: ContextTokensOption = None,
    kind: KindsOption = None,
    types: TypesOption = None,
    project: ProjectOption = None,
    tag: TagsOption = None,
    tags_match: TagsMatchOption = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="Answer as of this time.", show_default="now"),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at", metavar="TIME", help="Use only what was stored until then.", show_default="--as-of"
        ),
    ] = None,
    start: FromOption = None,
    end: ToOption = None,
    question_date: Annotated[
        str | None,
        typer.Option(
            "--question-date",
            metavar="TIME",
            help='When the question is asked, for "last week" in its words.',
            show_default="--as-of",
        ),
    ] = None,
    entity_hint: Annotated[
        list[str] | None,
        typer.Option(
            "--entity-hint",
            metavar="NAME",
            help="A name that the question is about (repeatable).",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="In jeffs_brain: auto, bm25, semantic, hybrid, hybrid-rerank.",
            show_default="auto",
        ),
    ] = None,
    syntax: Annotated[
        str | None,
        typer.Option(
            "--syntax",
            metavar="SYNTAX",
            help="In jeffs_brain: plain, or extended with fields and groups.",
            show_default="plain",
        ),
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option(
            "--alias",
            metavar="WORD=OTHER",
            help="In jeffs_brain: another word for a word of the query (repeatable).",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LEVEL",
            help="Search depth of the profile hindsight: low, mid, high.",
            show_default="the profile's",
        ),
    ] = None,
    budget_function: Annotated[
        str | None,
        typer.Option(
            "--budget-function",
            metavar="NAME",
            help="Depth of a level: fixed, or adaptive by --max-tokens.",
            show_default="the profile's",
        ),
    ] = None,
    include_chunks: Annotated[
        bool, typer.Option("--include-chunks", help="Also return the original texts behind the memories.")
    ] = False,
    max_chunk_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-chunk-tokens", metavar="N", help="Token budget of these texts.", show_default="8192"
        ),
    ] = None,
    include_archived: Annotated[
        bool, typer.Option("--include-archived", help="Also find archived memories.")
    ] = False,
    prefer_observations: Annotated[
        bool,
        typer.Option(
            "--prefer-observations", help="Return observations in place of the memories behind them."
        ),
    ] = False,
    standing: Annotated[
        bool | None,
        typer.Option(
            "--standing/--no-standing",
            help="Let standing memories lead the context, whatever is asked.",
            show_default="on in reflect",
        ),
    ] = None,
    deadline_ms: Annotated[
        float | None,
        typer.Option(
            "--deadline-ms",
            metavar="MS",
            help="Skip optional stages that would exceed this time.",
            show_default="none",
        ),
    ] = None,
    precision: PrecisionOption = None,
    min_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-relevance", metavar="P", help="Minimum relevance of a hit, 0 to 1.", show_default="none"
        ),
    ] = None,
    tier: Annotated[
        str | None,
        typer.Option(
            "--tier",
            metavar="TIER",
            help="default, or async for recall: a better answer, which takes longer.",
            show_default="default",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            help="Seed of random parts.",
            show_default="from the query and the viewpoint",
        ),
    ] = None,
) -> dict[str, Any]:
    """The arguments of ``Bank.recall`` and ``Bank.why_not`` that the caller gave, by name."""
    return given(
        profile=profile,
        limit=limit,
        max_tokens=max_tokens,
        kinds=kind,
        types=types,
        project=project,
        tags=tag,
        tags_match=tags_match,
        as_of=as_of,
        known_at=known_at,
        window=(start, end) if start is not None or end is not None else None,
        question_date=question_date,
        entity_hints=entity_hint,
        mode=mode,
        syntax=syntax,
        aliases=_aliases(alias or []),
        budget=budget,
        budget_function=budget_function,
        include_chunks=include_chunks or None,
        max_chunk_tokens=max_chunk_tokens,
        include_archived=include_archived or None,
        prefer_observations=prefer_observations or None,
        standing=standing,
        deadline_ms=deadline_ms,
        precision=precision,
        min_relevance=min_relevance,
        tier=tier,
        seed=seed,
    )


def takes_recall_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command that also takes every option of a recall; it gets those given as ``asked``."""
    options = inspect.signature(_asked).parameters
    own = [each for each in inspect.signature(command).parameters.values() if each.name != "asked"]
    first = [each for each in own if each.default is each.empty]
    last = [each for each in own if each.default is not each.empty]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        asked = {name: values.pop(name) for name in options}
        command(**values, asked=_asked(**asked))

    parameters = [*first, *options.values(), *last]
    # What Typer reads a command's options from.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _aliases(pairs: list[str]) -> dict[str, list[str]] | None:
    """``word=other`` to what ``Bank.recall`` takes; ``None`` for none."""
    aliases: dict[str, list[str]] = {}
    for pair in pairs:
        word, sign, other = pair.partition("=")
        if not (sign and word.strip() and other.strip()):
            raise InputError("--alias", f"expected WORD=OTHER, such as db=database, got {pair!r}")
        aliases.setdefault(word.strip(), []).append(other.strip())
    return aliases or None
