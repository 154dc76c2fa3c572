"""A packer that lays the best candidates at both ends of the context."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from simonides.errors import InputError
from simonides.recall.packing.packers import OVER_BUDGET, SEPARATOR, LabelPart, TokenBudget, fits
from simonides.recall.refining.pool import by_score
from simonides.records.recall import Chunk, Omitted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from simonides.protocols import Packed, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class OutsideIn:
    """Packs the best candidates and lays them so that the best stand at both ends of the context.

    Language models read the middle of a long context least well. So the hits are chosen best first, like
    ``token_budget`` does, and then laid from the outside in: ranks 1 to 6 stand as 1, 3, 5, 6, 4, 2.
    Candidates are taken by score, whatever order a stage that looked for variety left them in. The hits of
    the answer keep the order of their ranks; only the context is laid, and the number before a memory is its
    rank.
    Cost: as ``token_budget``. Source: Liu et al., Lost in the Middle (2023).
    Weakness: the second best stands last, which a reader who expects the best first finds odd.

    Attributes:
        most: hits at most, from 1, however many the caller asks for.
        count: what the budget counts, the ``"rendered"`` context or each memory's ``"text"``.
        label: what stands before a memory's text: any of date, kind and id.
    """

    most: int
    count: Literal["rendered", "text"]
    label: tuple[LabelPart, ...]

    def __post_init__(self) -> None:
        if self.most < 1:
            raise InputError("most", f"{self.most} is below 1; give how many memories a context may hold")
        TokenBudget(self.count, self.label)  # refuses the same options

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed:
        """The candidates that fit, in rank order, and the context laid from the outside in."""
        limit = self.most if query.limit is None else min(query.limit, self.most)
        if limit != query.limit:
            query = replace(query, limit=limit)
        best_first = by_score(view, pool)
        packed, items = TokenBudget(self.count, self.label).pack_items(view, query, best_first, tools)
        hits, omitted = list(packed.hits), list(packed.omitted)
        while True:
            context = SEPARATOR.join(outside_in(items))
            if not hits or self.count == "text" or fits(tools.tokens, context, query.max_tokens):
                return replace(
                    packed,
                    hits=tuple(hits),
                    context=context,
                    omitted=tuple(omitted),
                    chunks=_behind(packed.chunks, {hit.id for hit in hits}),
                )
            # For some counters another order of the same items has more tokens: then the last one goes.
            last, _ = hits.pop(), items.pop()
            omitted.append(Omitted(last.id, OVER_BUDGET, last.tokens))


def _behind(chunks: tuple[Chunk, ...], hits: AbstractSet[str]) -> tuple[Chunk, ...]:
    """The sources that some of *hits* come from, each with those alone."""
    kept = (replace(c, memories=tuple(id_ for id_ in c.memories if id_ in hits)) for c in chunks)
    return tuple(chunk for chunk in kept if chunk.memories)


def outside_in(best_first: Sequence[Item]) -> list[Item]:
    """Odd places in order, then even places backwards: 1 2 3 4 5 6 → 1 3 5 6 4 2."""
    return [*best_first[::2], *best_first[1::2][::-1]]
