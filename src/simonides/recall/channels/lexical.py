"""Ranks by the query's terms: BM25 over weighted fields.

score(m) = Σ over fields f, terms t of
           weight_f · n_t · idf_f(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average_f))
with n_t the frequency of t in the query; idf, lengths and averages come from the visible rows at query time.
Cost: proportional to the postings of the query's terms, 2 to 6 ms at 10⁶ rows.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
Weakness: blind to paraphrase and to the order of words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError, UnknownNameError
from simonides.index.postings import FIELDS
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import Tools, View
    from simonides.records.query import Query


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

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:  # noqa: ARG002 - the protocol's shape
        """Eligible memories that hold a term of the query; empty, with the reason, when it has no terms."""
        if self.obeys_mode and query.mode == "semantic":
            return Ranking.empty()
        if not query.terms:
            return Ranking.empty("the query has no terms")
        depth = query.depth if self.budgeted and query.depth is not None else self.depth
        ordinals, scores = view.snapshot.postings.bm25(
            query.terms,
            view.visible,
            view.eligible,
            field_weights=self.fields,
            k1=self.k1,
            b=self.b,
            depth=depth,
        )
        return view.ranking(ordinals, scores, depth)
