"""Ranks by the query's terms: BM25 over weighted fields.

score(m) = Σ over fields f, terms t of
           weight_f · n_t · idf_f(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average_f))
with n_t the frequency of t in the query; idf, lengths and averages come from the visible rows at query time.
Of a query of stop-words alone (``query.all_terms``) only memories that hold all of them are ranked, or those
that hold a name. A name in capitals that is a stop-word otherwise (``query.names``) finds no memory by itself
that does not hold it in capitals; the texts of the best ``NAME_CHECKS`` that hold the word are read for that.
Cost: proportional to the postings of the query's terms, 2 to 6 ms at 10⁶ rows.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
Weakness: blind to paraphrase and to the order of words.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, UnknownNameError
from simonides.index.postings import FIELDS
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

NAME_CHECKS = 300
"""Memories that are read at most to find a name in capitals."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """Channel.

    Attributes:
        depth: hits at most, from 1.
        k1: how slowly repeats of a term saturate, from 0 (a term counts once).
        b: how much long fields pay, 0 to 1.
        fields: weight per field (text, context, relation, expansion), from 0; a field at 0 or left out is not
            searched, and at least one is.
        budgeted: whether the query's depth takes the place of *depth*.
        obeys_mode: whether who asks for meaning alone gets no words (HX-04: not in ``helix``).
    """

    depth: int
    k1: float
    b: float
    fields: Mapping[str, float]
    budgeted: bool = False
    obeys_mode: bool = True

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many memories are wanted")
        if not 0 <= self.k1 < math.inf:
            raise InputError("k1", f"{self.k1} is not a number from 0; 1.2 is usual")
        if not 0 <= self.b <= 1:
            raise InputError("b", f"{self.b} is not between 0 and 1; 0.75 is usual")
        for field, weight in self.fields.items():
            if field not in FIELDS:
                raise UnknownNameError(f"fields.{field}", field, FIELDS)
            if not 0 <= weight < math.inf:
                raise InputError(f"fields.{field}", f"{weight} is not a number from 0")
        if not any(self.fields.values()):
            raise InputError("fields", "none has a weight above 0; give one to at least one field")

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        """Eligible memories that hold a term of the query; empty, with the reason, when it has no terms."""
        if self.obeys_mode and query.mode == "semantic":
            return Ranking.empty()
        if not query.terms:
            return Ranking.empty("the query has no terms")
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        among = self._named(view, query, tools) if query.names else None
        if among is None:
            among = view.eligible
            for term in query.terms if query.all_terms else ():
                among = self._holding(view, [term], among)
        if query.all_terms and not among.any():
            words = ", ".join(term for term, _ in query.terms)
            return Ranking.empty(f"the query has only stop-words, and no memory holds all of {words}")
        ordinals, scores = self._bm25(view, query.terms, among, depth)
        return view.ranking(ordinals, scores, depth)

    def _bm25(
        self, view: View, terms: Sequence[tuple[str, float]], among: NDArray[np.bool_], depth: int | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return view.snapshot.postings.bm25(
            terms, view.visible, among, field_weights=self.fields, k1=self.k1, b=self.b, depth=depth
        )

    def _holding(
        self, view: View, terms: Sequence[tuple[str, float]], among: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which rows of *among* hold any of *terms*."""
        found = np.zeros_like(among)
        if terms and among.any():
            found[self._bm25(view, terms, among, None)[0]] = True
        return found

    def _named(self, view: View, query: Query, tools: Tools) -> NDArray[np.bool_] | None:
        """Eligible rows that hold a name as it is written, or a term that belongs to no name.

        ``None`` where a query of stop-words alone finds no name so written: then it is a stop-word, too.
        """
        own = {term for name in query.names for term in tools.analyser.terms(name)}
        holders = self._bm25(view, [(term, 1) for term in sorted(own)], view.eligible, None)
        best = view.ranking(*holders, NAME_CHECKS).ordinals.tolist()
        written = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, query.names))})(?!\w)")
        fields = [field for field in FIELDS if self.fields.get(field)]
        found = np.zeros_like(view.eligible)
        for memory in view.memories(best):
            if any(written.search(str(getattr(memory, field))) for field in fields):
                found[memory.ordinal] = True
        if query.all_terms:
            return found if found.any() else None
        others = [term for term in query.terms if term[0] not in own]
        return found | self._holding(view, others, view.eligible)
