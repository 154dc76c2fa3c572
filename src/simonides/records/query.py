"""One information need, from the caller's words to what the understanders made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.expression import Expression
    from simonides.records.interval import Interval
    from simonides.records.kind import Kind
    from simonides.records.sparse import SparseTerms


@dataclass(frozen=True, slots=True)
class Filters:
    """Explicit conditions: only these may exclude a memory. Times in microseconds UTC.

    Attributes:
        kinds: kinds to keep; ``None`` = all, empty = nothing.
        project: project to keep; ``None`` = all.
        tags: tags to match by ``tags_match`` (any, any_strict, all, all_strict, exact); what an empty tuple
            keeps is said in ``index.view.tags_match``.
        window: half-open ``(start, end)`` that the memory's occurred range must meet; ``None`` = any time.
        as_of: the viewpoint in the world's time; ``None`` = now.
        known_at: the viewpoint in recorded time; ``None`` = ``as_of``.
        principal: who asks; ``None`` = the owner, who sees all.
        archived: whether archived memories are kept, too.
        observations: whether consolidated observations are seen (else as if they were not there), and
            the memories behind them left out.
    """

    kinds: tuple[Kind, ...] | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    tags_match: str = "any"
    window: tuple[int, int] | None = None
    as_of: int | None = None
    known_at: int | None = None
    principal: str | None = None
    archived: bool = False
    observations: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A query on its way through the pipeline; understanders add fields and never remove any.

    Attributes:
        text: the caller's words.
        as_of: the viewpoint that was settled on, microseconds UTC; recency takes it as now.
        limit: how many hits the caller gets at most; ``None`` = the token budget decides.
        max_tokens: budget of the packed context; ``None`` = no budget.
        seed: seed of every random part.
        terms: analysed terms with their frequency in the query, in first-seen order.
        all_terms: whether words find a memory only if it holds all of the terms, which are all stop-words.
        names: words in capitals among the terms that are stop-words in small letters, such as IT, as written.
        vector: unit query vector, float32, shape (dimension,), or ``None`` without an embedder.
        token_vectors: unit vectors of its tokens, float32, shape (tokens, dimension), or ``None``.
        sparse: learned sparse terms of the words, or ``None`` without a sparse encoder.
        notes: what understanders want the trace to say.
        hints: names the caller wants as seeds whatever the words say (ME-04).
        entities: numbers of the entities asked about, hints first.
        time: the time that the words speak of; it raises, it never excludes. ``None`` = none found.
        intent: why, when, who, how or what (EN-01); empty before it was looked for.
        mode: bm25, semantic, hybrid, hybrid-rerank or auto (JB-05).
        question_date: when the question is asked, for relative times in its words, microseconds UTC;
            ``None`` = ``as_of``.
        budget: low, mid or high (HI-12); empty = the profile decides.
        budget_function: fixed or adaptive (HI-13); empty = the profile decides.
        depth: how many memories a channel looks at that goes by the budget; ``None`` before it was settled.
        include_chunks: whether the raw sources are packed, too, within ``max_chunk_tokens`` (HI-15).
        skip: why nothing is looked for, such as ``skipped_by_router`` (HX-03); empty = recall goes on.
        routed_kinds, routed_project: what the words suggest; empty and ``None`` = nothing.
        narrow: whether what was routed excludes all else, in ``helix`` alone; otherwise it may only raise.
        syntax: plain or extended: how the words are read as an expression (JB-01).
        expression: the words, phrases and operators asked for; ``None`` before they were read.
        aliases: other words for a word, as the caller names them, lower case (JB-02).
        spelled: the words with the dates they mean spelled out (JB-13); empty = the words say none.
        rewritten: the words with spelling corrected and short forms written out, for embedders; empty = as
            ``text``.
        precision: one of ``options.PRECISIONS``.
        doubtful: whether the context marks its lines, because it is not likely that any answers.
        min_relevance: the least relevance of a hit, 0 to 1; ``None`` = none.
        fell_back_to_bm25: the mode that was asked for needs vectors, and there are none (JB-05).
        skip_rerank: why no reranker runs, such as ``mode_off``; empty = it may.
        deadline_ms: milliseconds within which the recall should end (DF-03); ``None`` = none.
        variants: what channels search in this one's place, the first most like it (HX-17); empty = this one.
    """

    text: str
    as_of: int
    limit: int | None
    max_tokens: int | None
    seed: int
    terms: tuple[tuple[str, float], ...] = ()
    vector: NDArray[np.float32] | None = None
    token_vectors: NDArray[np.float32] | None = None
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    entities: tuple[int, ...] = ()
    time: Interval | None = None
    intent: str = ""
    mode: str = "auto"
    question_date: int | None = None
    budget: str = ""
    budget_function: str = ""
    depth: int | None = None
    include_chunks: bool = False
    max_chunk_tokens: int = 0
    skip: str = ""
    routed_kinds: tuple[Kind, ...] = ()
    routed_project: str | None = None
    narrow: bool = False
    syntax: Literal["plain", "extended"] = "plain"
    expression: Expression | None = None
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spelled: str = ""
    fell_back_to_bm25: bool = False
    skip_rerank: str = ""
    deadline_ms: float | None = None
    sparse: SparseTerms | None = None
    rewritten: str = ""
    precision: str = "balanced"
    doubtful: bool = False
    min_relevance: float | None = None
    variants: tuple[Query, ...] = ()
    all_terms: bool = False
    names: tuple[str, ...] = ()
