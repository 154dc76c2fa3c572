"""Packs the best candidates that fit a budget of tokens.

Candidates are tried in the order of the pool. One that does not fit is left out, listed as omitted, and the
next is tried, so a single long memory never empties the answer. Packing ends at ``query.limit`` hits or with
the pool. With ``count="rendered"`` the context as rendered, labels and line breaks included, never exceeds
``query.max_tokens`` by the counter handed in; with ``count="text"`` only the memories' own text counts and
labels come on top (HI-11). Raw sources, where asked for, have a budget of their own (``chunks``).
Cost: one count per candidate tried, and one of the whole where the counter does not count by line.
Weakness: greedy; a shorter memory further down may have been worth more than the one that took its room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError
from simonides.protocols import LineCounter, Packed
from simonides.recall.packing.chunks import pack_chunks
from simonides.recall.packing.render import SEPARATOR, LabelPart, render_item
from simonides.records.recall import EARLIER, Hit, Omitted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.protocols import TokenCounter, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query

OVER_BUDGET = "over budget"

_FETCHED_AT_ONCE = 32
"""Records come in runs, since most of a pool is usually not needed."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Packer.

    Attributes:
        count: what the budget counts, the ``"rendered"`` context or each memory's ``"text"``.
        label: what stands before a memory's text: any of date, kind and id. All of it counts as rendered.
    """

    count: Literal["rendered", "text"]
    label: tuple[LabelPart, ...]

    def __post_init__(self) -> None:
        if len(set(self.label)) < len(self.label):
            raise InputError("label", f"{list(self.label)} names a part twice")

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed:
        """The candidates that fit; ``tokens`` of each is what it took, or would have taken, of the budget."""
        return self.pack_items(view, query, pool, tools)[0]

    def pack_items(
        self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools
    ) -> tuple[Packed, list[str]]:
        """The same, and each hit as rendered: for a packer that lays them otherwise."""
        packed, items = self._fill(view, query, pool, tools, whole=False)
        if self.count == "rendered" and not fits(tools.tokens, packed.context, query.max_tokens):
            # For some counters the whole has more tokens than its parts: then count the whole at each step.
            packed, items = self._fill(view, query, pool, tools, whole=True)
        if not query.include_chunks:
            return packed, items
        chunks, without = pack_chunks(view, query, packed.hits, tools)
        return replace(packed, chunks=chunks, omitted=(*packed.omitted, *without)), items

    def _fill(
        self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools, *, whole: bool
    ) -> tuple[Packed, list[str]]:
        hits: list[Hit] = []
        items: list[str] = []
        omitted: list[Omitted] = []
        context, used = "", 0
        for candidate, memory in _records(view, pool, query.limit):
            item = render_item(
                memory,
                len(hits) + 1,
                self.label,
                doubtful=query.doubtful,
                earlier=EARLIER in candidate.signals,
            )
            addition = SEPARATOR + item if hits else item
            # Nothing is free: a budget of 0 holds no memory, however the counter sees it.
            tokens = max(1, tools.tokens.count(memory.text if self.count == "text" else addition))
            total = tools.tokens.count(context + addition) if whole else used + tokens
            if query.max_tokens is not None and max(tokens, total) > query.max_tokens:
                omitted.append(Omitted(memory.id, OVER_BUDGET, tokens))
                continue
            hits.append(packed_hit(candidate, memory, len(hits) + 1, tokens))
            items.append(item)
            context, used = context + addition, used + tokens
            if len(hits) == query.limit:
                break  # before the next run is fetched
        return Packed(tuple(hits), context, tuple(omitted)), items


def fits(tokens: TokenCounter, context: str, most: int | None) -> bool:
    """Whether items that were counted one by one, and fit so, have *most* tokens at most as one context."""
    if most is None or (isinstance(tokens, LineCounter) and tokens.counts_by_line):
        return True
    return tokens.count(context) <= most


def _records(
    view: View, pool: tuple[Candidate, ...], limit: int | None
) -> Iterator[tuple[Candidate, Memory]]:
    if limit == 0:
        return
    at_once = _FETCHED_AT_ONCE if limit is None else min(limit, _FETCHED_AT_ONCE)
    for start in range(0, len(pool), at_once):
        some = pool[start : start + at_once]
        yield from zip(some, view.memories([candidate.ordinal for candidate in some]), strict=True)


def packed_hit(candidate: Candidate, memory: Memory, rank: int, tokens: int) -> Hit:
    """A hit with all the evidence that its candidate gathered."""
    return Hit(
        memory=memory,
        score=candidate.score,
        rank=rank,
        scored_by=candidate.scored_by,
        tokens=tokens,
        ranks=candidate.ranks,
        channel_scores=candidate.channel_scores,
        signals=candidate.signals,
    )
