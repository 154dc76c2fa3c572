"""Whether two channels agree on the head of their rankings, place by place (JB-08)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.records.candidate import Candidate


def agreements(pool: Sequence[Candidate], one: str, other: str, window: int) -> int:
    """At how many of the first *window* places two channels have the same memory.

    Args:
        pool: every candidate, in any order; each knows its ranks.
        one: name of a channel.
        other: name of another.
        window: places that are compared.

    Returns:
        0 as well when either channel has fewer than *window* hits: then there is no head to agree on.
    """
    ranks = [(candidate.ranks.get(one), candidate.ranks.get(other)) for candidate in pool]
    if not any(rank == window for rank, _ in ranks) or not any(rank == window for _, rank in ranks):
        return 0
    return sum(rank is not None and rank == same and rank <= window for rank, same in ranks)
