"""Builds what one call may see: a view of the index at the viewpoint of the caller."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.view import Ended, build_view
from simonides.lifecycle.briefing import newest_first
from simonides.lifecycle.preferring import prefer_observations, with_stand_ins
from simonides.records.query import Filters
from simonides.records.time_to_live import ERASE, EXPIRE
from simonides.services.view_rows import NameLookup, ViewRows

if TYPE_CHECKING:
    from simonides.index.view import BankView
    from simonides.recall.plan import Plan
    from simonides.records.memory import Memory
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader


@dataclass(frozen=True, slots=True)
class Viewing:
    """Builds views inside read transactions."""

    context: BankContext

    def view(self, reading: Reader, filters: Filters | None = None, now: int | None = None) -> BankView:
        """What *filters* (by default all that who acts may read) let see *now* (by default the clock)."""
        filters = Filters(principal=self.context.principal) if filters is None else filters
        now = self.context.now() if now is None else now
        past = filters.as_of is not None or filters.known_at is not None
        # What is to be erased is gone at every viewpoint once the clock says so.
        clock = self.context.now() if past else now

        def ended(moment: int) -> Ended:
            return Ended(
                reading.roots_due(moment, EXPIRE),
                reading.roots_due(clock, ERASE),
                reading.moments_ended(moment) if past else (),
            )

        return build_view(reading.snapshot, filters, now, self.rows(reading), ended)

    def rows(self, reading: Reader) -> ViewRows:
        """Reads the rows behind a view."""
        principal = self.context.principal
        return ViewRows(reading, NameLookup(reading, None if principal is None else (principal,)))

    def with_observations(
        self, plan: Plan, view: BankView, reading: Reader, filters: Filters
    ) -> tuple[Plan, BankView]:
        """A plan and a view in which observations stand in for their sources, if *filters* prefer them."""
        if not filters.observations:
            return plan, view
        evidence = reading.evidence(view.known_at)
        view, stand_ins = prefer_observations(view, evidence, filters)
        return with_stand_ins(plan, stand_ins), view

    def standing(self, reading: Reader, filters: Filters, now: int) -> list[Memory]:
        """The standing memories of a scope at its viewpoint, newest first."""
        wide = replace(filters, kinds=None, project=None, window=None, archived=False, observations=True)
        view = self.view(reading, wide, now)
        return [
            memory
            for memory in newest_first(view, np.flatnonzero(view.standing))
            if filters.project is None or memory.project in {"", filters.project}
        ]


def verified(reading: Reader, memories: list[Memory]) -> list[Memory]:
    """Check what a view read against its checksums before it is returned.

    ``DamagedError`` where they differ.
    """
    reading.check([memory.ordinal for memory in memories])
    return memories


def visible_memories(reading: Reader, view: BankView) -> list[Memory]:
    """All memories that are visible in a view, verified."""
    return verified(reading, view.memories(np.flatnonzero(view.visible).tolist()))
