"""One information need, from the caller's words to what the understanders made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.kind import Kind


@dataclass(frozen=True, slots=True)
class Filters:
    """Explicit conditions: only these may exclude a memory. Times in microseconds UTC.

    Attributes:
        kinds: kinds to keep; empty = all.
        project: project to keep; ``None`` = all.
        tags: tags to match by ``tags_match`` (any, any_strict, all, all_strict, exact).
        window: half-open ``(start, end)`` that the memory's occurred range must meet; ``None`` = any time.
        as_of: the viewpoint in the world's time; ``None`` = now.
        known_at: the viewpoint in recorded time; ``None`` = ``as_of``.
        principal: who asks; ``None`` = the owner, who sees all.
    """

    kinds: tuple[Kind, ...] = ()
    project: str | None = None
    tags: tuple[str, ...] = ()
    tags_match: str = "any"
    window: tuple[int, int] | None = None
    as_of: int | None = None
    known_at: int | None = None
    principal: str | None = None


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
        vector: unit query vector, float32, shape (dimension,), or ``None`` without an embedder.
        notes: what understanders want the trace to say.
    """

    text: str
    as_of: int
    limit: int | None
    max_tokens: int | None
    seed: int
    terms: tuple[tuple[str, int], ...] = ()
    vector: NDArray[np.float32] | None = None
    notes: tuple[str, ...] = ()
