"""Links of a new memory to stored ones, made at the write.

semantic: the nearest by meaning, cosine ≥ 0.7, weight = cosine (HI-03)
causal:   from a stated effect to the memory that tells its cause, weight of the cue (HI-03)
temporal: what happened within 24 hours, weight max(0.3, 1 − hours / 24), the 10 nearest in time
session:  the memory before it in the same conversation, weight 1

Cause and memory meet when the memory holds most of the cause's words, among the nearest by meaning and the
one before it in the conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from simonides.records.extraction import Cause

SEMANTIC_FROM = 0.7
MOST_SEMANTIC = 5
DAY_MICROS = 24 * 3_600 * 1_000_000
MOST_TEMPORAL = 10
_CAUSE_WORDS = 0.5
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Related:
    """A stored memory that a new one may be linked to.

    Attributes:
        node: what its links join.
        terms: of its text.
    """

    node: int
    terms: Collection[str]


def temporal_weight(micros_apart: int) -> float:
    """max(0.3, 1 − hours / 24); 0 beyond a day."""
    if micros_apart > DAY_MICROS:
        return 0.0
    return max(0.3, 1.0 - micros_apart / DAY_MICROS)


def causal_links(
    causes: Sequence[Cause], words: Mapping[tuple[int, int], Collection[str]], related: Sequence[Related]
) -> list[tuple[int, float]]:
    """Which related memory tells a cause: (node, weight), the best one per cause.

    Args:
        causes: found in the new memory.
        words: terms of each cause's span, stop-words left out.
        related: candidates, best first.
    """
    found: dict[int, float] = {}
    for cause in causes:
        wanted = set(words[cause.cause])
        if len(wanted) < _FEWEST_WORDS:
            continue
        shares = [(len(wanted & set(one.terms)) / len(wanted), -place) for place, one in enumerate(related)]
        share, place = max(shares, default=(0.0, 0))
        if share >= _CAUSE_WORDS:
            node = related[-place].node
            found[node] = max(found.get(node, 0.0), cause.weight)
    return sorted(found.items())
