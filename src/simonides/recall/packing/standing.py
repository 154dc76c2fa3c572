"""Puts standing memories before what was found: they hold whatever is asked.

    (standing) I am allergic to shellfish; even traces make my throat swell.
    [1] (2026-03-02) The market by the canal is open on Thursdays.

They may use ``SHARE`` of the budget, in the order given; one that does not fit is left out, listed as
omitted, and the next is tried. What they leave is for what was found. No line of a memory but its first
begins at the margin, so none can open an item of its own.
Cost: one count of the lead per standing memory. Weakness: nothing tells which of them matter for the
question, so many of them cost tokens in every context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.recall.packing.render import SEPARATOR, indented
from simonides.recall.packing.token_budget import OVER_BUDGET
from simonides.records.recall import STANDING, Hit, Omitted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simonides.records.memory import Memory

SHARE = 0.5
"""Of the budget of a context, which its standing memories may use."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What stands before the hits.

    Attributes:
        hits: the standing memories in it, in order; their ``rank`` is 0, since nothing ranked them.
        text: of the context, without a line break at its end.
        tokens: of *text*.
        omitted: those that found no room.
    """

    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    omitted: tuple[Omitted, ...] = ()

    @property
    def ordinals(self) -> frozenset[int]:
        """Rows of the memories in it."""
        return frozenset(hit.memory.ordinal for hit in self.hits)


def lead_of(
    memories: Sequence[Memory],
    max_tokens: int | None,
    count: Callable[[str], int],
    relevance: Mapping[int, float],
) -> Lead:
    """The lead of a context.

    Args:
        memories: standing ones, the first to get room first.
        max_tokens: budget of the whole context; ``None`` = none, and all of them lead.
        count: tokens of a text.
        relevance: by row, as far as it was judged.
    """
    room = None if max_tokens is None else int(max_tokens * SHARE)
    hits: list[Hit] = []
    omitted: list[Omitted] = []
    text, used = "", 0
    for memory in memories:
        item = f"({STANDING}) {indented(memory.text)}"
        longer = f"{text}{SEPARATOR}{item}" if text else item
        total = max(1, count(longer))
        if room is not None and total > room:
            omitted.append(Omitted(memory.id, OVER_BUDGET, count(item)))
            continue
        hits.append(Hit(memory, 0.0, 0, STANDING, total - used, relevance=relevance.get(memory.ordinal)))
        text, used = longer, total
    return Lead(tuple(hits), text, used, tuple(omitted))


def left_for_hits(lead: Lead, max_tokens: int | None, count: Callable[[str], int]) -> int | None:
    """Tokens that a lead leaves of a budget; ``None`` = there is none."""
    if max_tokens is None or not lead.hits:
        return max_tokens
    return max(0, max_tokens - count(lead.text + SEPARATOR))
