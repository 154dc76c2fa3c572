"""The query's terms, by the same analyser that made the terms of the memories.

Fills ``query.terms`` with (term, frequency in the query) in first-seen order. A term that the caller repeats
counts as often as it stands there. Stop-words are left out while another word remains.

Where nothing but stop-words is asked for ("who was it"), ``stop_words = "any"`` searches for memories that
hold any of them, which nearly all do. With "all" a memory must hold every one (``query.all_terms``); and a
word in capitals stays, although it is a stop-word in small letters (IT, US), and is looked for in capitals
(``query.names``).
Cost: linear in the query. Weakness: a name in small letters, or one that is a stop-word with one capital
(Will, May), is told apart from the stop-word only where it stands alone.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from simonides.protocols import Analyser, Tools, View
    from simonides.records.query import Query

_WORD = re.compile(r"\w+")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class AnalysedTerms:
    """Understander.

    Attributes:
        stop_words: which of the words a memory must hold where all of them are stop-words.
    """

    stop_words: Literal["any", "all"] = "any"

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its terms."""
        terms = tools.analyser.query_terms(query.text)
        if self.stop_words == "any":
            return replace(query, terms=tuple(Counter(terms).items()))
        names = _names(query.text, tools.analyser)
        all_terms = tools.analyser.is_filler(query.text)
        if not all_terms:
            terms += [term for name in names for term in tools.analyser.terms(name)]
        return replace(query, terms=tuple(Counter(terms).items()), all_terms=all_terms, names=names)


def _names(text: str, analyser: Analyser) -> tuple[str, ...]:
    """The words in capitals that are stop-words otherwise; none in a text that is all in capitals."""
    words = _WORD.findall(text)
    if len(words) > 1 and text.upper() == text:
        return ()
    found = (word for word in words if len(word) > 1 and word.isupper() and word not in _OPERATORS)
    return tuple(dict.fromkeys(word for word in found if analyser.is_filler(word)))
