"""The days that a question means ("2 weeks ago", "last Friday"), added to its words (JB-13).

Fills ``query.spelled`` with the question and each day it means, written 2026/04/04 and 2026-04-04, counted
from the question's date in the caller's zone. Without a question's date, or days, it stays empty: no clock is
read. Cost: linear in the query. Weakness: English only, and days only; ``time_window`` understands far more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.interval import local_time
from simonides.text.query_dsl.relative_days import spell_days

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query


@dataclass(frozen=True, slots=True)
class TemporalExpansion:
    """Understander without options."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its days spelled out, if it means any."""
        asked_at = None if query.question_date is None else local_time(query.question_date, tools.zone)
        if asked_at is None:
            return query
        spelled = spell_days(query.text, asked_at.date())
        return replace(query, spelled=spelled.searched) if spelled.days else query
