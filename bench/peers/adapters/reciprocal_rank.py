"""Reciprocal rank fusion of other peers: score = sum over peers of 1 / (60 + rank), rank from 1.

Each peer is read to rank 100. Source: Cormack, Clarke & Buettcher 2009, with their constant.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.peers.lines import Peer, Text

CONSTANT = 60
MEMBER_DEPTH = 100


class ReciprocalRank:
    """Two or more peers that keep the same texts, fused with equal weight."""

    def __init__(self, members: Sequence[Peer]) -> None:
        self._members = tuple(members)

    def add(self, texts: Sequence[Text]) -> None:
        """Keep *texts* in every member."""
        for member in self._members:
            member.add(texts)

    def ask(self, question: str, depth: int) -> list[int]:
        """Places by descending fused score, then ascending place."""
        scores: dict[int, float] = defaultdict(float)
        for member in self._members:
            for rank, place in enumerate(member.ask(question, max(depth, MEMBER_DEPTH)), start=1):
                scores[place] += 1 / (CONSTANT + rank)
        return sorted(scores, key=lambda place: (-scores[place], place))[:depth]
