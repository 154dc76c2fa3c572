"""The part of a long text that a reranker reads, where it reads no more than so many characters.

windows overlap by half; chosen is the first one that holds most different words of the query

A model that cuts off what is too long for it would judge a long memory by its beginning. Cost: linear in the
text, and one pair for the model, as for a short text. Weakness: where the answer shares no word with the
query, the beginning is read.
Source: MaxP over passages (Dai and Callan 2019), with the passage chosen by words, so that one is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.text.tokenise import tokenise

if TYPE_CHECKING:
    from collections.abc import Collection


def best_passage(text: str, words: Collection[str], longest: int) -> str:
    """The window of *text* that holds most of *words*.

    Args:
        text: of a memory.
        words: of the query, as ``tokenise`` gives them.
        longest: characters of a window, from 2; a text that is not longer is its own best passage.
    """
    if len(text) <= longest:
        return text
    wanted = frozenset(words)
    half = longest // 2
    starts = range(0, len(text) - half, half)
    # max gives the first of equals.
    return max(
        (text[start : start + longest] for start in starts),
        key=lambda window: len(wanted.intersection(tokenise(window))),
    )
