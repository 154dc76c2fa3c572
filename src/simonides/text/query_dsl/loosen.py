"""Looser forms of a query, for when its words find nothing (JB-06)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from simonides.text.query_dsl.filler import filler_words
from simonides.text.query_dsl.spelling import compose

if TYPE_CHECKING:
    from collections.abc import Callable

SHORTEST = 3
"""Characters of a word that can be a strongest term, at least."""


class _Spaced(dict[int, int | str]):
    """Punctuation and symbols become spaces."""

    def __missing__(self, code: int) -> int | str:
        found = self[code] = " " if unicodedata.category(chr(code))[0] in "PS" else code
        return found


_SPACED = _Spaced()
_SPACES = re.compile(r"\s+")


def sanitise(query: str) -> str:
    """*query* in lower case, punctuation and symbols as spaces, filler words gone."""
    return " ".join(word for word in bare_words(query) if word not in filler_words())


def bare_words(text: str) -> list[str]:
    """The words of *text* in lower case, cut at everything that is no letter, mark or digit."""
    return compose(text).translate(_SPACED).lower().split()


def strongest_term(query: str, commonness: Callable[[str], int]) -> str:
    """The longest word that is not filler; of equally long ones the rarest, then the first.

    Args:
        query: any text.
        commonness: how many memories hold a word.

    Returns:
        the word in lower case; empty when none has three characters or more.
    """
    words = [word for word in bare_words(query) if len(word) >= SHORTEST and word not in filler_words()]
    longest = max(map(len, words), default=0)
    ties = dict.fromkeys(word for word in words if len(word) == longest)
    return min(ties, key=commonness, default="")
