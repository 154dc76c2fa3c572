"""How much of a query's words memories hold, weighed by how rare the words are among the visible rows.

coverage(m) = Σ idf(t) over the terms of the query that m holds / Σ idf(t) over all its terms
idf(t)      = ln(1 + (N − df + ½) / (df + ½)), N and df counted over the visible rows

Cost: the postings of the query's terms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.postings import FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.protocols import View
    from simonides.records.query import Query


def held_terms(
    view: View, query: Query, ordinals: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """How many visible rows hold each term of the query, the terms' idf, and which of *ordinals* hold which.

    Returns:
        int64 and float64, shape (terms,), and bool, shape (terms, len(ordinals)).
    """
    terms = [term for term, _ in query.terms]
    frequencies, held = view.snapshot.postings.held(terms, view.visible, ordinals, fields=FIELDS)
    rows = int(np.count_nonzero(view.visible))
    return frequencies, np.log(1.0 + (rows - frequencies + 0.5) / (frequencies + 0.5)), held


def coverage(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """The coverage of each of *ordinals*, in [0, 1], rounded to 1e-9; the query has terms."""
    _, idf, held = held_terms(view, query, ordinals)
    return covered(idf, held)


def covered(idf: NDArray[np.float64], held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of the sum of *idf* that each column of *held* holds, rounded to 1e-9."""
    # Summed exactly, one memory at a time: neither the order of the terms nor the other memories matter.
    total = math.fsum(idf.tolist())
    sums = [math.fsum(idf[held[:, place]].tolist()) for place in range(held.shape[1])]
    return np.array([each / total for each in sums], np.float64).round(9)
