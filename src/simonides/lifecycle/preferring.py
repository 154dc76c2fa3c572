"""Lets observations stand for the memories behind them, in one recall (``prefer_observations``).

An observation counts as long as one of its sources can be seen; it takes its seen sources' places among the
results, never in the statistics. Cost: one read of the evidence, linear in its rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.records.state import CONSOLIDATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.index.view import BankView


def prefer_observations(view: BankView, evidence: Mapping[int, Mapping[int, str]]) -> BankView:
    """The view with sources left out where an eligible observation stands for them.

    Args:
        view: looked at with ``Filters.observations``.
        evidence: by observation, source → stance, as recorded by the view's ``known_at``; roots.
    """
    rows = np.flatnonzero(view.visible)
    place = dict(zip(view.snapshot.gather("root", rows).tolist(), rows.tolist(), strict=True))
    marks = view.snapshot.gather("state", rows)
    visible, eligible = view.visible.copy(), view.eligible.copy()
    for row in rows[(marks & CONSOLIDATED) != 0].tolist():
        root = int(view.snapshot.gather("root", np.array([row], np.int64))[0])
        behind = [
            place[source]
            for source, stance in evidence.get(root, {}).items()
            if stance == "for" and source in place
        ]
        if not behind:
            visible[row] = eligible[row] = False
        elif view.eligible[row]:
            eligible[behind] = False
    return replace(view, visible=visible, eligible=eligible)
