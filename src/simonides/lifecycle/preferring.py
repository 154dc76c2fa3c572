"""Lets observations stand for the memories behind them, in one recall (``prefer_observations``).

The memories are searched and ranked as if there were no observations; then each that has one gives it its
place, and what would come twice comes once, at the best place. So an observation is found wherever one of its
sources is. One whose sources can be seen but not be returned (archived, say) is searched by itself; one whose
sources cannot be seen does not count. Cost: one read of the evidence, linear in its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.protocols import Refined
from simonides.recall.plan import Step
from simonides.recall.why_not import STAND_INS
from simonides.records.kind import CONSOLIDATED, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.index.view import BankView
    from simonides.protocols import Refiner, Tools, View
    from simonides.recall.plan import Plan
    from simonides.records.candidate import Candidate
    from simonides.records.query import Filters, Query


@dataclass(frozen=True, slots=True)
class StandIns:
    """Refiner. *by*: row of a memory → row of the observation that stands for it."""

    by: Mapping[int, int]

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool with observations in the places of their sources."""
        kept: dict[int, Candidate] = {}
        dropped: dict[int, str] = {}
        for candidate in pool:
            row = self.by.get(candidate.ordinal, candidate.ordinal)
            if row != candidate.ordinal:
                dropped[candidate.ordinal] = "is stood for by an observation"
            kept.setdefault(row, replace(candidate, ordinal=row))
        return Refined(tuple(kept.values()), dropped=dropped)


def prefer_observations(
    view: BankView, evidence: Mapping[int, Mapping[int, str]], filters: Filters
) -> tuple[BankView, StandIns]:
    """The view to search by, and what stands for what in the end.

    *evidence*: by observation, source → stance, as recorded by the view's ``known_at``; roots.
    """
    rows = np.flatnonzero(view.visible)
    place = dict(zip(view.snapshot.gather("root", rows).tolist(), rows.tolist(), strict=True))
    marks = view.snapshot.gather("state", rows)
    visible, eligible = view.visible.copy(), view.eligible.copy()
    shown, by = np.zeros_like(visible), dict[int, int]()
    for row in rows[(marks & CONSOLIDATED) != 0].tolist():
        root = int(view.snapshot.gather("root", np.array([row], np.int64))[0])
        behind = [
            place[source]
            for source, stance in evidence.get(root, {}).items()
            if stance == "for" and source in place
        ]
        returnable = [source for source in behind if eligible[source]]
        if not behind:
            visible[row] = eligible[row] = False
        elif view.eligible[row] and returnable:
            shown[row] = True
            by |= {source: row for source in returnable if source not in by}
        if returnable and Kind.OBSERVATION not in (filters.kinds or ()):
            visible[row] = eligible[row] = False
    return replace(view, visible=visible, eligible=eligible, shown=shown), StandIns(by)


def with_stand_ins(plan: Plan, stand_ins: StandIns) -> Plan:
    """The plan with one more refiner at its end."""
    step: Step[Refiner] = Step(STAND_INS, STAND_INS, stand_ins)
    return replace(plan, refiners=(*plan.refiners, step))
