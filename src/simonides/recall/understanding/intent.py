"""What a question asks for: why, when, who or how; anything else is a "what" (EN-01).

Each intent has a list of words and phrases. The intent with the most occurrences in the query wins; of equal
ones the first in the order why, when, who, how. No model.
Cost: one regular expression per intent, linear in the query. Weakness: English only, and "who wrote the
history of the team" counts three words for who and one for when, whatever is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

INTENTS = ("why", "when", "who", "how")
"""In the order of precedence."""

OTHERWISE = "what"


@dataclass(frozen=True, slots=True)
class Intent:
    """Understander.

    Attributes:
        words: for each of ``INTENTS``, the words and phrases that speak for it, in lower case.
    """

    words: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if set(self.words) != set(INTENTS):
            raise InputError("words", f"needs a list for each of {', '.join(INTENTS)}, and no other")
        for intent, words in self.words.items():
            if not words or not all(word.strip() for word in words):
                raise InputError(f"words.{intent}", "is empty or holds a blank; give words or phrases")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its intent."""
        counts = {intent: len(_pattern(self.words[intent]).findall(query.text)) for intent in INTENTS}
        best = max(INTENTS, key=counts.__getitem__)
        return replace(query, intent=best if counts[best] else OTHERWISE)


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # The longest first, so that "how to" is not found as something shorter.
    alternatives = "|".join(
        r"\s+".join(map(re.escape, word.split()))
        for word in sorted(words, key=lambda word: (-len(word), word))
    )
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)
