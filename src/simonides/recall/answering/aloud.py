"""What a model says without what it thinks before it, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_THINKING, _THOUGHT = "<think>", "</think>"
_MOST_THINKING = 1_000_000


def aloud(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces of an answer without what a model thinks before it."""
    begun, thinking = "", True
    for piece in pieces:
        if not thinking:
            yield piece
            continue
        begun += piece
        start = begun.lstrip()
        if _THINKING.startswith(start[: len(_THINKING)]) and len(begun) < _MOST_THINKING:
            if _THOUGHT not in start:
                continue
            begun = start.partition(_THOUGHT)[2]
        thinking = False
        yield begun.lstrip()
    if thinking and not begun.lstrip().startswith(_THINKING):
        yield begun
